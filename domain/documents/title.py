"""Title and headings of a document."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from clawmem.domain.documents.markdown import Markdown

UNTITLED = "Untitled"  # only for a path without any name

HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t])")
EXTENSION = re.compile(r"\.(?:md|txt)\Z", re.IGNORECASE)


class PlacedHeading(NamedTuple):
    """ATX heading: the index of its line, its level from 1, and its text."""

    line: int
    level: int
    text: str


def title(declared: str | None, note: Markdown, path: str) -> str:
    """
    Return the title of a document: *declared*, else its first heading, else its file name without .md or .txt.

    Empty and blank sources are skipped. The result is one line, trimmed, and never empty: a file called ``.md``
    keeps that name, and a path without a name gives ``Untitled``.
    """
    name = path.rstrip("/").rpartition("/")[2]
    heading = note.headings[0].label if note.headings else ""
    titles = (" ".join(text.split()) for text in (declared or "", heading, EXTENSION.sub("", name), name))
    return next(filter(None, titles), UNTITLED)


def placed_headings(lines: Iterable[str]) -> list[PlacedHeading]:
    """Return the headings of *lines* with their places."""
    headings = Markdown("\n".join(lines), first_line=0).headings
    return [PlacedHeading(heading.start_line, heading.level, heading.label) for heading in headings]
