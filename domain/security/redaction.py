"""Detection and redaction of secrets in whole texts and in parts of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from clawmem.domain.security.card_numbers import cards
from clawmem.domain.security.disguise import lower_case, plain
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_commands import cookies, placed
from clawmem.domain.security.secret_labels import SecretLabel, labels_in
from clawmem.domain.security.secret_layout import in_rows, in_tables, line_start, next_lines
from clawmem.domain.security.secret_model import likely
from clawmem.domain.security.secret_places import assigned
from clawmem.domain.security.secret_prose import in_prose, logins
from clawmem.domain.security.secret_repeats import repeats
from clawmem.domain.security.secret_rules import STRUCTURED
from clawmem.domain.security.secret_values import is_random
from clawmem.domain.security.wrapped_tokens import unwrapped

_KINDS = {"pin": "password"}
_PARTS_SEPARATOR = "\n\n"
_CONTEXT = 6_000  # characters around a part that are searched for labels of its secrets
_LONGEST_ROW = 1_000
_LONGEST_CONTEXT = 60_000  # characters of a table or a key above the part
_MARKER = Pattern(r"\[redacted: [a-z ]{1,40}\]")


class SecretSpan(NamedTuple):
    """Detected secret of *kind* at the offsets from ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    kind: str


class Redacted(NamedTuple):
    """Redacted text, and the findings with their offsets in the original, in order and without overlaps."""

    text: str
    findings: list[SecretSpan]


def redact(text: str) -> Redacted:
    """
    Replace every secret in *text* by ``[redacted: kind]``.

    A secret has the form of a known credential, or follows a label in an assignment, a sentence, a table cell or the
    next paragraph. Repetitions of a secret elsewhere in the text are replaced as well. Placeholders, expressions,
    commit hashes, checksums and identifiers are kept. Redaction is idempotent.
    """
    findings = find_secrets(text)
    return Redacted(_replaced(text, 0, len(text), findings), findings)


def redact_part(text: str, start: int, end: int) -> str:
    """
    Return *text* from *start* to *end* without secrets, using the surrounding text to detect them.

    The label of a secret may be in a line, paragraph or table cell before the part.
    """
    first = _context_start(text, start)
    around = text[first : end + _CONTEXT]
    return _replaced(around, start - first, end - first, _found_in(around))


def _context_start(text: str, start: int) -> int:
    """Return the offset where detection starts: some lines above *start*, or the beginning of its table or key."""
    earliest = max(0, start - _LONGEST_CONTEXT)
    first = max(0, start - _CONTEXT)
    key = text.rfind("-----BEGIN", earliest, start)
    if key >= 0 and text.find("-----END", key, start) < 0:
        first = min(first, key)
    row = start + 1
    while row > earliest:
        row = text.rfind("\n", 0, row - 1) + 1
        if "|" not in text[row : row + _LONGEST_ROW].partition("\n")[0]:
            break
        first = min(first, row)
    return text.rfind("\n", 0, first) + 1


@lru_cache(16)  # passages of a short note share the same context
def _found_in(text: str) -> tuple[SecretSpan, ...]:
    return tuple(find_secrets(text))


def redact_parts(parts: Sequence[str]) -> list[str]:
    """Return *parts* of one text, such as the messages of a conversation, without the secrets of the whole text."""
    whole = _PARTS_SEPARATOR.join(parts)
    findings = find_secrets(whole)
    redacted, at = [], 0
    for part in parts:
        end = at + len(part)
        redacted.append(_replaced(whole, at, end, findings) if findings else part)
        at = end + len(_PARTS_SEPARATOR)
    return redacted


def _replaced(text: str, start: int, end: int, findings: Iterable[SecretSpan]) -> str:
    parts: list[str] = []
    done = start
    for found in findings:
        if found.end <= start or found.start >= end:
            continue
        parts += (text[done : max(done, found.start)], f"[redacted: {found.kind}]")
        done = min(end, found.end)
    return "".join([*parts, text[done:end]])


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the secrets in *text*, in order; of overlapping ones, the one that begins first, then the longer one."""
    seen = unwrapped(plain(text))
    known = _without_overlaps(list(_ruled(seen.text)), likely(*_unmarked(seen.text, lower_case(seen.text))))
    again = repeats(seen.text, [(one.start, one.end) for one in known])
    found = known + [SecretSpan(*span, known[number].kind) for span, number in again]
    found.sort(key=lambda finding: (finding.start, -finding.end))
    markers = (
        [match.span() for match in _MARKER.compiled.finditer(seen.text)] if "[redacted" in seen.text else []
    )
    apart: list[SecretSpan] = []
    for finding in found:
        if markers and _touches(markers, finding):
            continue
        start, end = seen.span(finding.start, finding.end)
        if start < end and (not apart or start >= apart[-1].end):
            apart.append(SecretSpan(start, end, finding.kind))
    return apart


def _touches(spans: Sequence[tuple[int, int]], finding: SecretSpan) -> bool:
    at = bisect_left(spans, (finding.end, 0)) - 1
    return at >= 0 and spans[at][1] > finding.start


def _without_overlaps(ruled: list[SecretSpan], spans: Iterable[tuple[int, int]]) -> list[SecretSpan]:
    """Return *ruled* with the *spans* that touch none of them. A rule knows where a value begins."""
    taken = sorted(finding[:2] for finding in ruled)
    ends = list(accumulate((end for _, end in taken), max))
    free = []
    for start, end in spans:
        before = bisect_left(taken, (end,))
        if not before or ends[before - 1] <= start:
            free.append(SecretSpan(start, end, "password"))
    return ruled + free


def _ruled(text: str) -> Iterator[SecretSpan]:
    lower = lower_case(text)
    yield from _structured(text)
    yield from (SecretSpan(*found) for found in placed(text))
    yield from (SecretSpan(*span, "secret") for span in cookies(text, lower))
    yield from _labelled(text, lower)
    yield from (SecretSpan(*span, "password") for span in logins(text, lower))
    yield from (SecretSpan(*span, "card number") for span in cards(text))


def _unmarked(text: str, lower: str) -> tuple[str, str]:
    """Return *text* and *lower* with digits in the place of markers, as if the secrets were still there."""
    if "[redacted" not in text:
        return text, lower
    text = _MARKER.compiled.sub(lambda marker: "0" * len(marker[0]), text)
    return text, _MARKER.compiled.sub(lambda marker: "0" * len(marker[0]), lower)


def _structured(text: str) -> Iterator[SecretSpan]:
    for rule in STRUCTURED:
        if rule.may_match(text):
            for match in rule.compiled.finditer(text):
                group = "secret" if "secret" in match.re.groupindex else 0
                if not rule.random or is_random(match[group]):
                    yield SecretSpan(*match.span(group), rule.kind)


def _labelled(text: str, lower: str) -> Iterator[SecretSpan]:
    rows_end = 0
    labels = list(labels_in(text, lower))
    for label in labels:
        kind = _KINDS.get(label.kind, label.kind)
        for span in _of_label(text, lower, label):
            yield SecretSpan(*span, kind)
        start = line_start(text, label.start)
        if start >= rows_end:
            spans, rows_end = in_rows(text, lower, start)
            rows_end = max(rows_end, label.end)
            yield from (SecretSpan(*span, kind) for span in spans)
    if labels:
        yield from (SecretSpan(*span, "password") for span in in_tables(text, lower))


def _of_label(text: str, lower: str, label: SecretLabel) -> list[tuple[int, int]]:
    return (
        list(assigned(text, label))
        or list(in_prose(text, lower, label))
        or list(next_lines(text, lower, label))
    )
