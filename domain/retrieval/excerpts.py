"""
Sections of a note, and the one that its excerpt shows for the time that a question names.

Places are character offsets of the body, from start up to end.
"""

import re
from datetime import tzinfo
from itertools import accumulate
from typing import NamedTuple

from clawmem.domain.documents.markdown import Block, Markdown
from clawmem.domain.text.dates import TimeRange, temporal_range

Place = tuple[int, int]

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
LOWEST_LEVEL = 6
MOST_HEADINGS = 500  # headings whose dates are read


class Section(NamedTuple):
    """The text below one heading, with its subsections."""

    heading: Block
    start: int
    end: int


def sections(body: str) -> list[Section]:
    """Return the sections of *body* in order; their texts begin after the line of the heading."""
    lines = body.split("\n")
    starts, end = [0, *accumulate(len(line) + 1 for line in lines)], len(body)
    made: list[Section] = []
    ends: dict[int, int] = {}  # by level: the beginning of the next heading of that level or a higher one
    for heading in reversed(Markdown(body, first_line=0).headings):
        after = ends.get(heading.level, end)
        made.append(Section(heading, min(starts[heading.start_line + 1], end), after))
        ends.update(dict.fromkeys(range(heading.level, LOWEST_LEVEL + 1), starts[heading.start_line]))
    return made[::-1]


def heading_above(body: str, line: int) -> str:
    """Return the headings above the line with index *line*, joined with " › "; empty if there is none."""
    path: list[Block] = []
    for heading in Markdown(body, first_line=0).headings:
        if heading.start_line > line:
            break
        path = [*(above for above in path if above.level < heading.level), heading]
    return " › ".join(heading.label for heading in path)


def entry_of(body: str, named: TimeRange, *, now_ms: int, zone: tzinfo) -> Place | None:
    """Return the first section of *body* whose heading has a date, with its year, in the *named* time."""
    if _YEAR.search(body) is None:
        return None
    for section in sections(body)[:MOST_HEADINGS]:
        if _YEAR.search(section.heading.label) and body[section.start : section.end].strip():
            dated = temporal_range(section.heading.label, now_ms=now_ms, zone=zone)
            if dated is None or dated.authored_from is None or dated.authored_until is None:
                continue
            begins = named.authored_from is None or named.authored_from <= dated.authored_from
            if begins and (named.authored_until is None or dated.authored_until <= named.authored_until):
                return section.start, section.end
    return None
