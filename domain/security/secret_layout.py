"""Secrets with their label in another line or cell: the next paragraph, a column of a table, a row of CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.security import secret_values
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel, labels_in
from clawmem.domain.security.secret_phrases import are_words
from clawmem.domain.security.secret_talk import is_talk, is_word_password
from clawmem.domain.security.secret_values import Span
from clawmem.domain.security.secret_words import class_of

_INTRODUCES = Pattern(
    r"[\"'`*_)]{0,3}(?P<about>(?: (?:for|of|on|in|to|from|fur|vom|von|zum|zur|im|am|der|des|du|de|pour|sur|del|para|is|are|lautet|ist|est|es)\b"
    r"[^\n:|=<>]{0,60}?| (?:no\. ?|#)?\d{1,2}(?: (?:of|von|de) \d{1,2})?)?(?: \([^()\n]{1,20}\))?)(?P<end>[ \t]{0,3}[*_]{0,2}:?[*_]{0,2}[ \t]{0,3}\\?\r?)(?:\n|$)"
)
_LINE = Pattern(r"[ \t>*+-]{0,12}(?:\d{1,2}[.)] )?[\"'`*_]{0,3}(?P<value>[^\n]{4,400})")
_WORDS_OF_PLACE = (
    "below",
    "follow",
    "here",
    "unten",
    "folgend",
    "abajo",
    "dessous",
    "suivant",
    "siguiente",
    "next line",
    "nachste",
    "seguente",
    "sotto",
)
_MOST_LINES = 12
_CELL_SEPARATOR = Pattern(r"^[\s|:+=-]{3,}$")
_SEED_WORDS = 11
_PHRASE_WORDS = 4
_CODE_OF_LOCK = Pattern(r"(?<![^\W\d_])(?P<thing>[^\W\d_]{2,20})[ -](?:codes?|pins?|combination)\Z")
_NO_HEADER = Pattern(r"[|(){}\[\]=<>]")
_SEPARATORS = (",", ";", "\t")  # before a label they make its line the header of rows
_DELIMITERS = ("\t", ";", ",")
_LONGEST_HEADER = 300
_LONGEST_NAME = 30
_LONGEST_LINE = 500


def next_lines(text: str, lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find the secrets in the lines below *label*, where its own line ends with it or says that they follow."""
    match = _INTRODUCES.compiled.match(lower, label.end)
    if not match or not label.is_bare or lower[max(0, label.start - 1) : label.start] in _SEPARATORS:
        return
    begin = line_start(lower, label.start)
    line = lower[begin : match.end()]
    is_explicit = ":" in match["end"] or line.lstrip(" >*-").startswith("#") or len(line.split()) <= 4
    is_explicit = is_explicit or line.rstrip().endswith((" is", " lautet", " est", " es", " ist"))
    is_explicit = is_explicit or any(word in line for word in _WORDS_OF_PLACE)
    if match["about"].rstrip().endswith(".") and not any(word in line for word in _WORDS_OF_PLACE):
        return
    at, seen = match.end(), 0
    while at < len(text) and seen < _MOST_LINES:
        stop = text.find("\n", at, at + _LONGEST_LINE)
        stop = min(len(text), at + _LONGEST_LINE) if stop < 0 else stop
        if text[at:stop].strip(" \t\r>`~=-"):
            span = _only_value(text, at, stop)
            value = text[slice(*span)] if span else ""
            is_word = (
                seen == 0
                and is_explicit
                and label.kind == "password"
                and is_word_password(value.replace("-", ""))
            )
            if not span or not (is_word or _is_value_below(label, value, line, is_explicit=is_explicit)):
                return
            yield span
            seen += 1
        at = stop + 1


def _only_value(text: str, at: int, stop: int) -> Span | None:
    match = _LINE.compiled.match(text, at, stop)
    if match is None:
        return None
    start, end = match.span("value")
    while end > start and text[end - 1] in " \t\r\"'`*_.,;":
        end -= 1
    return (start, end) if end - start >= 4 else None


def _is_value_below(label: SecretLabel, value: str, line: str, *, is_explicit: bool) -> bool:
    if secret_values.is_placeholder(value.strip("()")):
        return False
    if " " in value:
        words = len(value.split())
        least = _PHRASE_WORDS if "phrase" in label.name.lower() else _SEED_WORDS
        is_phrase = secret_values.is_passphrase(value) or (least == _PHRASE_WORDS and are_words(value))
        return is_explicit and words >= least and is_phrase
    if label.kind == "pin":
        return is_explicit and (secret_values.is_pin(value) or secret_values.is_code_group(value))
    if label.kind == "secret":
        if (
            secret_values.is_uuid(value)
            or "commit" in line
            or "hash" in line
            or "sha" in line
            or ("/" in value[:-2] and "-" in value)
        ):
            return secret_values.is_uuid(value) and "api" in label.name.lower()
        return secret_values.is_key(value, 16)
    return secret_values.is_password(value) and (is_explicit or secret_values.is_key(value, 16))


def line_start(text: str, at: int) -> int:
    """Return where the line around *at* begins, or the last characters of a very long line."""
    earliest = max(0, at - _LONGEST_LINE)
    return max(text.rfind("\n", earliest, at) + 1, earliest)


def in_tables(text: str, lower: str) -> Iterator[Span]:
    """Find the cells of Markdown tables below or next to a cell that is a label."""
    if "|" not in text:
        return
    columns: dict[int, SecretLabel] = {}
    rows: list[tuple[Span, ...]] = []
    for start, end in _lines(text):
        line = text[start:end]
        if line.count("|") < 2 and not (rows and "|" in line):
            columns, rows = {}, []
            continue
        cells = _cells(text, start, end)
        if _CELL_SEPARATOR.compiled.match(line):
            columns = _labelled(text, lower, rows[-1]) if rows else {}
            continue
        found = list(_in_columns(text, cells, columns))
        yield from found
        if not found:
            yield from _beside(text, lower, cells, is_pair=len(cells) - (line.rstrip()[-1:] == "|") == 2)
        rows = [cells]


def in_rows(text: str, lower: str, start: int) -> tuple[list[Span], int]:
    """
    Find the fields of CSV or TSV below the header line that begins at *start*.

    Returns them with the offset of the end of the rows; none and *start* where the line is no header.
    """
    end = text.find("\n", start, start + _LONGEST_HEADER)
    if end < 0 or _NO_HEADER.compiled.search(text, start, end):
        return [], start
    for delimiter in _DELIMITERS:
        if delimiter not in text[start:end]:
            continue
        header = _fields(text, start, end, delimiter)
        if any(last - first > _LONGEST_NAME for first, last in header):
            continue
        columns = _labelled(text, lower, header)
        if columns:
            return _below(text, end + 1, delimiter, len(header), columns)
    return [], start


def _below(
    text: str, at: int, delimiter: str, count: int, columns: dict[int, SecretLabel]
) -> tuple[list[Span], int]:
    found: list[Span] = []
    for start, end in _lines(text, at):
        fields = _fields(text, start, end, delimiter)
        if len(fields) != count:
            return found, start
        found += _in_columns(text, fields, columns)
    return found, len(text)


def _lines(text: str, at: int = 0) -> Iterator[Span]:
    while at <= len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        yield at, stop
        at = stop + 1


def _cells(text: str, start: int, end: int) -> tuple[Span, ...]:
    line = text[start:end]
    first = line.find("|")
    begin = start + first + 1 if not line[:first].strip() else start
    return tuple(_fields(text, begin, end, "|"))


def _fields(text: str, start: int, end: int, delimiter: str) -> list[Span]:
    spans, at = [], start
    while at <= end:
        stop = text.find(delimiter, at, end)
        stop = end if stop < 0 else stop
        left, right = at, stop
        while left < right and text[left] in " \t`*\"'":
            left += 1
        while right > left and text[right - 1] in " \t\r`*\"'":
            right -= 1
        spans.append((left, right))
        at = stop + 1
    return spans


def _labelled(text: str, lower: str, cells: Sequence[Span]) -> dict[int, SecretLabel]:
    """The cells of a header that end with a label, such as "root pw" but not "password policy"."""
    found = {}
    for number, (start, end) in enumerate(cells):
        for label in labels_in(text[start:end], lower[start:end]):
            if label.is_bare and label.end == end - start and end - start <= 40:
                found[number] = label
        code = _CODE_OF_LOCK.compiled.search(lower, start, end)
        if code and number not in found and class_of(code["thing"]) == "lock":
            found[number] = SecretLabel(0, end - start, text[start:end], "pin", is_bare=True)
    return found


def _in_columns(text: str, cells: Sequence[Span], columns: dict[int, SecretLabel]) -> Iterator[Span]:
    for number, label in columns.items():
        if number < len(cells) and _is_cell_secret(label, text[slice(*cells[number])], may_be_word=True):
            yield cells[number]


def _beside(text: str, lower: str, cells: Sequence[Span], *, is_pair: bool) -> Iterator[Span]:
    for number, label in _labelled(text, lower, cells[:-1]).items():
        words = text[slice(*cells[number])].split()
        may_be_word = (
            is_pair and len(words) > 1 and not is_talk(words[0])
        )  # "Wi-Fi password", no name of a field
        if _is_cell_secret(label, text[slice(*cells[number + 1])], may_be_word=may_be_word):
            yield cells[number + 1]


def _is_cell_secret(label: SecretLabel, value: str, *, may_be_word: bool) -> bool:
    if label.kind == "pin":
        return secret_values.is_pin(value)
    if secret_values.is_placeholder(value.strip("()")):
        return False
    if label.kind == "secret":
        return secret_values.is_key(value, 16) or (
            secret_values.is_uuid(value) and "api" in label.name.lower()
        )
    if "phrase" in label.name.lower() and secret_values.is_passphrase(value):
        return True
    if may_be_word and (secret_values.is_pin(value) or is_word_password(value.replace("-", ""))):
        return True
    return secret_values.is_password(value)
