"""The text of a result for people and agents: lines, tables, and texts that are written unchanged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from clawmem.app.services.documents.records import with_successor
from clawmem.domain.retrieval.relevance import likelihood_of
from clawmem.domain.security.quoting import title_to_read
from clawmem.ports.records import one_line

# Characters that move a cursor, change a terminal or reorder text; line ends and tabs are allowed.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
STYLE = re.compile(r"\x1b\[[\d;]*m")  # an escape of `Styled`


class Table(NamedTuple):
    """A table with named columns; its cells contain no terminal escapes."""

    columns: list[str]
    rows: list[list[str]]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table, with columns aligned by blanks."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        for row in (self.columns, *self.rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  ".join(cells).rstrip()


class Styled(str):
    """A line with the escapes of its own styles, which are left out where there is no terminal."""

    __slots__ = ()


class Verbatim(NamedTuple):
    """A text that is written unchanged to a pipe; on a terminal its control characters are replaced."""

    text: str


Part = str | Table | Verbatim
"""One element of the output: a line of text, perhaps styled but without other terminal escapes, or one of the others."""

Text = str | Iterable[Part]


def printable(text: str) -> str:
    """Return *text* with control characters and unencodable characters replaced."""
    return encodable(_CONTROL.sub("\ufffd", text))


def encodable(text: str) -> str:
    """Return *text* with characters replaced that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table of the cells as text; line ends in a cell, for example in a file name, are replaced."""
    return Table(list(columns), [[one_line(str(cell)) for cell in row] for row in rows])


def parts_of(text: Text) -> list[Part]:
    """Return *text* as parts without terminal escapes."""
    parts = filter(None, [text]) if isinstance(text, str) else text
    return [part if isinstance(part, Styled | Table | Verbatim) else printable(part) for part in parts]


def as_lines(text: Text) -> str:
    """Return *text* as lines without styles, the columns of tables aligned with blanks."""
    lines: list[str] = []
    for part in parts_of(text):
        lines += part.lines() if isinstance(part, Table) else [part if isinstance(part, str) else part.text]
    return STYLE.sub("", "\n".join(lines))


def confidence_text(confidence: float | None) -> str:
    """Return a confidence and its word, such as ``0.82 likely``; an empty string if the result was not judged."""
    if confidence is None:
        return ""
    return f"{math.floor(confidence * 100) / 100:.2f} {likelihood_of(confidence)}"  # never above what the word means


def records_table(records: Sequence[object], columns: str) -> list[Table]:
    """
    Return a table with a row for each of *records*, without the columns that have no value; none without records.

    *columns* are names of attributes, separated by blanks; ``name=heading`` has another heading, with ``_`` for a blank.
    Two attributes of one column are joined by a dot, as in ``document.title``. A title or reason of others is quoted,
    and followed by the document's successor.
    """
    used: dict[str, list[str]] = {}
    for column in columns.split():
        name, _, heading = column.partition("=")
        *above, last = name.split(".")
        cells = []
        for record in records:
            for attribute in above:
                record = getattr(record, attribute)
            value = record.get(last) if isinstance(record, Mapping) else getattr(record, last, None)
            if last in ("title", "reasoning") and value and hasattr(record, "origin"):
                value = title_to_read(" ".join(str(value).split()), record.origin)
                cells.append(with_successor(value, getattr(record, "superseded_by", None)))
            else:
                cells.append(value_text(last, value))
        if any(cells):
            used[(heading or last.removesuffix("_at")).replace("_", " ")] = cells
    return [table([*used], zip(*used.values(), strict=True))] if used else []


def value_text(name: str, value: Any) -> str:
    """Return the *value* of an attribute as people read it; the name tells bytes, milliseconds and shares."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        parts = ((key, part if isinstance(part, list) else [part]) for key, part in value.items())
        return ", ".join(" ".join(map(str, (key, *part))) for key, part in parts)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _TIME.fullmatch(str(value)):
        text = str(value)
        if text[11:16] != "00:00":  # midnight UTC is a day without a time
            text = datetime.fromisoformat(text).astimezone().isoformat()
        return text[:16].replace("T", " ")
    if "bytes" in name:
        return size(value)
    if name.endswith("_ms"):
        return f"{value:.1f}"
    if name.startswith("share"):
        return f"{value:.0%}"
    if isinstance(value, float):
        return f"{value:.2f}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else " ".join(str(value).split())


def fields_text(record: Mapping[str, object]) -> Iterator[str]:
    """Yield a line with name and value for each field of *record* that has a value."""
    for name, value in record.items():
        if isinstance(value, Mapping):
            value = [f"{key} {part}" for key, part in value.items() if part]
        if value not in (None, "", [], {}) and name != "remarks":  # interfaces show those at the end
            yield f"{name.replace('_', ' ')}: {value_text(name, value)}"


def counts_text(record: Any) -> Iterator[str]:
    """Yield a line as `fields_text` for each field of *record*, a dataclass or a mapping, that is not 0 either."""
    fields = record if isinstance(record, Mapping) else asdict(record)
    return fields_text({name: value for name, value in fields.items() if value})


def size(count: int) -> str:
    """Return a number of bytes, such as ``1.5 MB``."""
    for unit, length in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count} B"


def plural(count: int, noun: str) -> str:
    """Return the count and the noun, such as ``1 file`` or ``2,000 files``."""
    return f"{count:,} {noun}{'s' if count != 1 else ''}"
