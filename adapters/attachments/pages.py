"""Markdown of extracted text: headings of pages, and lines that Markdown would take for marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

BAR = r"\|"
MAX_CHARACTERS = 20_000_000  # of one file; longer text is no document that a person has read
_MARK = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:\s|$)|`{3}|~{3}|%%|<!--|\$\$|---\s*$))", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?:…]['\")\]»”]*$")
_SHORT = 0.75  # of the longest line; a shorter line that ends a sentence ends its paragraph


class DamagedFile(Exception):
    """A file whose text cannot be read; the message is the reason, with the next step."""


def plain(text: str) -> str:
    """Return *text* with a backslash before marks at the start of a line, which are words and no Markdown."""
    return _MARK.sub(r"\\", text)


def paragraphs(text: str) -> str:
    """Return *text* with a blank line after each short line that ends a sentence, since pages have none."""
    lines = [line.rstrip() for line in text.splitlines()]
    width = _SHORT * max(map(len, lines), default=0)
    return "\n".join(
        f"{line}\n" if len(line) < width and _SENTENCE_END.search(line) else line for line in lines
    )


def paged(pages: Iterable[str]) -> str:
    """Return the text of *pages* with a heading for each page that has any."""
    texts = ((number, plain(paragraphs(text)).strip()) for number, text in enumerate(pages, start=1))
    return "\n\n".join(f"# Page {number}\n\n{text}" for number, text in texts if text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first row contains the names of the columns; one column becomes paragraphs."""
    filled = [row for row in rows if any(row)]
    width = max(map(len, filled), default=0)
    if width < 2:
        return "\n\n".join(plain(cell) for row in filled for cell in row)
    lines = [f"| {' | '.join(cell.replace('|', BAR) for cell in row)} |" for row in filled]
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])
