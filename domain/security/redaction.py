"""Detection and redaction of secrets in whole texts and in parts of them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from clawmem.domain.security.disguise import Unmasked, lower_case, plain
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_announced import announced, replaced, unlabelled
from clawmem.domain.security.secret_commands import cookies, placed
from clawmem.domain.security.secret_labels import SecretLabel, labels_in
from clawmem.domain.security.secret_layout import in_rows, in_tables, line_start, next_lines
from clawmem.domain.security.secret_model import likely
from clawmem.domain.security.secret_phrases import answers, dials, phrases, typed_phrases
from clawmem.domain.security.secret_places import assigned
from clawmem.domain.security.secret_prose import in_prose, logins
from clawmem.domain.security.secret_rules import STRUCTURED
from clawmem.domain.security.secret_values import Span, is_random, mixes_kinds

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
    known += [
        SecretSpan(*span, one.kind) for one in known for span in siblings(seen.text, one.start, one.end)
    ]
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


_NEXT = Pattern(
    r"\s?(?:[,;/]|\s(?:and|or|und|oder|et|ou|y|e)\s)\s?(?:(?:and|or|und|et|y)\s)?(?P<value>[^\s,;/.]{4,40})"
)
_ALPHANUMERIC = Pattern(r"[^\W_]")
_MOST_SIBLINGS = 20


def siblings(text: str, start: int, end: int) -> Iterator[Span]:
    """Find the codes that follow the secret from *start* to *end* in a list and have its form: ``A1B2-C3D4, E5F6-G7H8``."""
    first = text[start:end]
    if first.isalpha() or " " in first:
        return
    for _ in range(_MOST_SIBLINGS):
        match = _NEXT.compiled.match(text, end)
        if match is None or _form(match["value"]) != _form(first) or match["value"].isalpha():
            return
        yield match.span("value")
        end = match.end("value")


def _form(value: str) -> str:
    return _ALPHANUMERIC.compiled.sub("x", value)


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
    yield from (
        SecretSpan(*span, "password") for find in (logins, unlabelled, answers) for span in find(text, lower)
    )
    yield from (SecretSpan(*span, "password") for find in (dials, typed_phrases) for span in find(lower))
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
    if labels or " code" in lower:
        yield from (SecretSpan(*span, "password") for span in in_tables(text, lower))


def _of_label(text: str, lower: str, label: SecretLabel) -> list[tuple[int, int]]:
    found = (
        list(assigned(text, label))
        or list(in_prose(text, lower, label))
        or list(next_lines(text, lower, label))
        or list(announced(text, lower, label))
        or list(phrases(lower, label))
    )
    return [*found, *replaced(text, lower, label)]


_LONG = 12
_SHORTEST = 6
_WORD = Pattern(r"[^\s\"'`<>|,;=()\[\]{}«»„“”]{6,300}")
_AROUND = ".,:;*_…()[]{}<>\"'`«»„“”"


def repeats(text: str, found: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """
    Find the other words of *text* that equal a secret of *found*; with each the index of that secret.

    A short word of letters alone is not searched for: elsewhere it is an ordinary word.
    """
    values = {text[start:end].strip(_AROUND): number for number, (start, end) in enumerate(found)}
    telling = {value: number for value, number in values.items() if _is_telling(value)}
    if not telling:
        return
    for match in _WORD.compiled.finditer(text):
        word = match[0].strip(_AROUND)
        value = word if word in telling else word.rstrip("!?")
        if value in telling:
            start = match.start() + match[0].index(value)
            yield (start, start + len(value)), telling[value]


def _is_telling(value: str) -> bool:
    return len(value) >= _LONG or (len(value) >= _SHORTEST and mixes_kinds(value))


_CARD_LENGTHS = range(13, 20)
_CARD = Pattern(
    r"(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}([ -]?)\d{6}\2\d{5}|3[068]\d{2}([ -]?)\d{6}\3\d{4})(?![\w-]|\.\d)"
)
_IN_FOURS = Pattern(r"\d{4}[ -]?\d{4}")
_CARD_BEGINNING = Pattern(r"4|5[1-5]|2[2-7]|6(?:011|4|5)|3[47]|3[068]")
_RARER_BEGINNING = Pattern(r"35|62|50|5[678]|63|67")  # JCB, UnionPay, Maestro: only next to a word for cards
_CARD_WORDS = ("card", "visa", "amex", "mastercard", "karte", "tarjeta", "carte", "cc", "pan")


def cards(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of card numbers in *text*: valid check digit, and digit groups or a card word nearby."""
    if not _IN_FOURS.compiled.search(text):
        return
    for match in _CARD.compiled.finditer(text):
        if _is_card(match, text):
            yield match.span()


def _is_card(match: re.Match[str], text: str) -> bool:
    digits = re.sub(r"\D", "", match[0])
    spoken_of = set(re.findall(r"[a-z]+", text[max(0, match.start() - 40) : match.end() + 20].lower()))
    if digits == match[0] and not spoken_of.intersection(_CARD_WORDS):
        return False
    beginning = _CARD_BEGINNING.compiled.match(digits) or (
        spoken_of.intersection(_CARD_WORDS) and _RARER_BEGINNING.compiled.match(digits)
    )
    return len(digits) in _CARD_LENGTHS and bool(beginning) and len(set(digits)) > 2 and luhn(digits)


def luhn(digits: str) -> bool:
    """Whether the last of *digits* is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0


_CONTINUED = Pattern(
    r"\n(?:[ \t>]{0,12}\r?\n){0,2}[ \t>\"'+]{0,12}(?P<tail>[A-Za-z0-9_+/.-]{4,4000}+={0,2})"
    r"(?=[\"',;)]{0,3}(?:[ \t]{1,4}(?P<more>\S)|\s|$))"
)
_HEAD = Pattern(r"[A-Za-z0-9_+/=.~-]{12,300}\Z")
_KEY_BEGINNING = Pattern(  # of a provider's key, which says that the next line goes on with it
    r"(?<![A-Za-z0-9])(?:A[KS]IA|AIza|gh[opsur]_|github_pat_|glpat-|npm_|pypi-|dop_v1_|whsec_|xox[abeprs]-|sk[-_]|[rp]k_|hvs\.|SG\.|shp\w{2}_|hf_|\d{8,10}:)[A-Za-z0-9_.-]{0,200}\Z"
)
_END_OF_LINE = "\"' \t\\\r"
_LONGEST_HEAD = 300
_LONG_TAIL = 8
_HEX = Pattern(r"^[0-9a-f]+$")


def unwrapped(seen: Unmasked) -> Unmasked:
    """Return *seen* with wrapped generated values joined; offsets still refer to the original text."""
    text = seen.text
    joints = list(_joints(text)) if "\n" in text else []
    if not joints:
        return seen
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for start, end in joints:
        parts.append(text[done:start])
        places += seen.places[done:start]
        done = end
    parts.append(text[done:])
    places += seen.places[done:]
    return Unmasked("".join(parts), places)


def _joints(text: str) -> Iterator[tuple[int, int]]:
    """Yield the gaps between the parts of wrapped values: from the end of one part to the start of the next."""
    begun = -1  # where a part of a key ends that begins as a provider's keys do
    for match in _CONTINUED.compiled.finditer(text):
        tail = match["tail"]
        line_end = match.start()
        while line_end and text[line_end - 1] in _END_OF_LINE:
            line_end -= 1
        is_long = len(tail) >= _LONG_TAIL
        if line_end == begun or _KEY_BEGINNING.compiled.search(
            text, max(0, line_end - _LONGEST_HEAD), line_end
        ):
            if any(map(str.isdigit, tail)) and (is_long or not match["more"]):
                begun = match.end("tail")
                yield line_end, match.start("tail")
            continue
        if not is_long or not _is_generated(tail) or (match["more"] and not _has_three_kinds(tail)):
            continue
        head = _HEAD.compiled.search(text[max(0, line_end - _LONGEST_HEAD) : line_end])
        if head and _is_generated(head[0]) and not (_is_hex(head[0]) and _is_hex(tail)):
            yield line_end, match.start("tail")


def _is_generated(token: str) -> bool:
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token) and "." not in token[:3]


def _has_three_kinds(token: str) -> bool:
    return (
        any(c.isdigit() for c in token)
        and any(c.isupper() for c in token)
        and any(c.islower() for c in token)
    )


def _is_hex(token: str) -> bool:
    return _HEX.compiled.search(token) is not None
