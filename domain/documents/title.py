"""Title and headings of a document."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

UNTITLED = "Untitled"  # only for a path without any name

HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t])")
FENCE = re.compile(r"\A {0,3}(?P<mark>`{3,}+(?!.*`)|~{3,})")
EXTENSION = re.compile(r"\.(?:md|txt)\Z", re.IGNORECASE)


class PlacedHeading(NamedTuple):
    """ATX heading: the index of its line, its level from 1, and its text."""

    line: int
    level: int
    text: str


def title(declared: str | None, body: str, path: str) -> str:
    """
    Return the title of a document: *declared*, else its first heading, else its file name without .md or .txt.

    Empty and blank sources are skipped. The result is one line, trimmed, and never empty: a file called ``.md``
    keeps that name, and a path without a name gives ``Untitled``.
    """
    lines = map(_one_line, _candidates(declared, body, path))
    return next(filter(None, lines), UNTITLED)


def headings(body: str) -> Iterator[str]:
    """
    Return the texts of the ATX headings of *body* from top to bottom, without their ``#`` marks or empty ones.

    As in CommonMark: one to six ``#`` and a blank, indented by at most three spaces. A fenced code block contains no
    headings, and an unclosed fence extends to the end.
    """
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return (heading.text for heading in placed_headings(lines))


def placed_headings(lines: Iterable[str]) -> Iterator[PlacedHeading]:
    """Yield the headings of *lines* with their places; see `headings`."""
    fence = ""
    for index, line in enumerate(lines):
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif opening := FENCE.match(line):
            fence = opening["mark"]
        elif text := _heading(line):
            yield PlacedHeading(index, len(line.split(maxsplit=1)[0]), text)


def _candidates(declared: str | None, body: str, path: str) -> Iterator[str]:
    yield declared or ""
    yield next(headings(body), "")
    name = path.rstrip("/").rpartition("/")[2]
    yield EXTENSION.sub("", name)
    yield name


def _one_line(text: str) -> str:
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def _closes(line: str, fence: str) -> bool:
    mark = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent <= 3 and len(mark) >= len(fence) and not mark.strip(fence[0])


def _heading(line: str) -> str:
    marks = HEADING.match(line)
    if marks is None:
        return ""
    text = line[marks.end() :].strip()
    bare = text.rstrip("#")
    return bare.strip() if not bare or bare[-1].isspace() else text
