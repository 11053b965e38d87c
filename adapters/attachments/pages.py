"""Markdown of extracted text: lines that Markdown would take for marks, and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

BAR = r"\|"
_MARK = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:\s|$)|`{3}|~{3}|%%|<!--|\$\$|---\s*$))", re.MULTILINE)


class DamagedFile(Exception):
    """A file whose text cannot be read; the message is the reason, with the next step."""


def plain(text: str) -> str:
    """Return *text* with a backslash before marks at the start of a line, which are words and no Markdown."""
    return _MARK.sub(r"\\", text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first row contains the names of the columns; one column becomes paragraphs."""
    filled = [row for row in rows if any(row)]
    width = max(map(len, filled), default=0)
    if width < 2:
        return "\n\n".join(plain(cell) for row in filled for cell in row)
    lines = [f"| {' | '.join(cell.replace('|', BAR) for cell in row)} |" for row in filled]
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])
