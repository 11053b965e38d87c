"""Header of the Markdown table around a line, for texts that show one row."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.documents.markdown import column_names

_DELIMITERS = frozenset(" \t|:-")
MOST_ROWS = 2000  # lines above a row that are searched for its header


def is_delimiter(line: str) -> bool:
    """Whether *line* is the delimiter row between the header and the rows of a table."""
    return "|" in line and "-" in line and _DELIMITERS.issuperset(line)


def header_of(lines: Sequence[str], row: int) -> tuple[str, str] | None:
    """
    Return the two header lines of the table that contains the row at index *row*.

    None if that line is no table row. Every line between a row and its header contains a ``|``.
    """
    for index in range(row, max(0, row - MOST_ROWS), -1):
        if "|" not in lines[index]:
            return None
        if is_delimiter(lines[index]):
            return (lines[index - 1], lines[index]) if index < row and "|" in lines[index - 1] else None
    return None


def header_at(body: str, offset: int) -> tuple[str, str] | None:
    """Return the header of the table row that begins at character *offset* of *body*; None if none does."""
    row = body[offset:].partition("\n")[0]
    if "|" not in row:
        return None
    above = body[:offset].split("\n")[-MOST_ROWS:]
    return header_of([*above[:-1], above[-1] + row], len(above) - 1)


def with_columns(body: str, start: int, end: int) -> str:
    """Return the characters from *start* to *end* of *body*, preceded by the column names if they are a table row."""
    text = body[start:end]
    header = header_at(body, start) if "\n" not in text else None
    return f"{column_names(header[0])}\n{text}" if header else text
