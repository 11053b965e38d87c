"""
Places of a note that its excerpt shows besides the fragment that was found.

An excerpt shows the entry of the day that the question names, the line of the section that holds the kind of value that
is asked for, and a later update of what was found. Places are character offsets of the body, from start up to end.
"""

import re
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import NamedTuple

from clawmem.domain.documents.title import PlacedHeading, placed_headings
from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.domain.text.dates import TimeRange, temporal_range
from clawmem.domain.text.vocabulary import STOP_WORDS

Place = tuple[int, int]

_YEAR = Pattern(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = Pattern(r"\d+(?:[.,:]\d+)*")
_NAME = Pattern(r"\b[A-ZÀ-Þ][\w'’-]*[a-zà-ÿ]\b")
_UPDATE = AnyCase(
    r"\b(?:updated?|correction|corrected|now|since|changed|new|korrektur|korrigiert|jetzt|neu|seit|geändert|maintenant|nouveau"
    r"|ahora|nuevo|agora|novo|(?:from|as of|ab|desde) (?:next|jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|20\d\d)\w*)\b"
)
# At the beginning, or after words of asking: "customers who book" asks for no person.
_WHO = AnyCase(
    r"(?:\A\W*|\b(?:me|know|remember|recall|and|by|with|from|to|for) )(?:who|whom|whose|wer|wem|wen|qui|quién|quem|chi)\b",
    "wh|we|qui|qu|chi",
)
_STEP = Pattern(r"(?<![ \t])[ \t]*\d{1,3}[.)][ \t]")
_OPENING = (
    40  # characters at the beginning of a line that announce an update, or the words just before its subject
)
_MARKUP = 6  # characters of a list item and of emphasis before the first word of a line
LOWEST_LEVEL = 6
MOST_HEADINGS = 500  # headings whose dates are read


class Section(NamedTuple):
    """The text below one heading, with its subsections."""

    heading: PlacedHeading
    start: int
    end: int


def sections(body: str) -> list[Section]:
    """Return the sections of *body* in order; their texts begin after the line of the heading."""
    lines = body.split("\n")
    starts, end = _starts(lines), len(body)
    made: list[Section] = []
    ends: dict[int, int] = {}  # by level: the beginning of the next heading of that level or a higher one
    for heading in reversed([*placed_headings(lines)]):
        after = ends.get(heading.level, end)
        made.append(Section(heading, min(starts[heading.line + 1], end), after))
        ends.update(dict.fromkeys(range(heading.level, LOWEST_LEVEL + 1), starts[heading.line]))
    return made[::-1]


def heading_above(body: str, line: int) -> str:
    """Return the headings above the line with index *line*, joined with " › "; empty if there is none."""
    path: list[PlacedHeading] = []
    for heading in placed_headings(body.split("\n")):
        if heading.line > line:
            break
        path = [*(one for one in path if one.level < heading.level), heading]
    return " › ".join(one.text for one in path)


def entry_of(body: str, named: TimeRange, *, now_ms: int, zone: tzinfo) -> Place | None:
    """Return the first section of *body* whose heading has a date, with its year, in the *named* time."""
    if _YEAR.compiled.search(body) is None:
        return None
    for section in sections(body)[:MOST_HEADINGS]:
        if _YEAR.compiled.search(section.heading.text) and body[section.start : section.end].strip():
            dated = temporal_range(section.heading.text, now_ms=now_ms, zone=zone)
            if dated and _is_part(dated, named):
                return section.start, section.end
    return None


def _is_part(dated: TimeRange, named: TimeRange) -> bool:
    if dated.authored_from is None or dated.authored_until is None:
        return False
    begins = named.authored_from is None or named.authored_from <= dated.authored_from
    return begins and (named.authored_until is None or dated.authored_until <= named.authored_until)


def section_around(body: str, offset: int) -> Place:
    """Return the smallest section of *body* that contains the character at *offset*; the whole body without one."""
    around = [one for one in sections(body) if one.start <= offset < one.end]
    return (around[-1].start, around[-1].end) if around else (0, len(body))


def line_with_value(
    body: str, section: Place, words: Sequence[str], is_filled: Callable[[str], bool]
) -> Place | None:
    """Return the line of *section* with most of *words* among those that hold one and the value by *is_filled*."""
    found = []
    for start, end in _lines_in(body, section):
        line = body[start:end].lower()
        held = sum(word in line for word in words)
        if held and is_filled(body[start:end]):
            found.append((held, (start, end)))
    return max(found, key=lambda one: one[0])[1] if found else None  # the first of equal lines


def numbered_list(body: str, offset: int) -> Place | None:
    """Return the numbered list with the item that begins at *offset*; ``None`` if no item begins there."""
    if not _STEP.compiled.match(body, offset):
        return None
    block = (body.rfind("\n\n", 0, offset) + 1, len(body) if (end := body.find("\n\n", offset)) < 0 else end)
    steps = [line for line in _lines_in(body, block) if _STEP.compiled.match(body, line[0])]
    return steps[0][0], block[1]


def numbers_in(line: str) -> frozenset[str]:
    """Return the numbers of *line*."""
    return frozenset(_NUMBER.compiled.findall(line))


def names_in(line: str) -> frozenset[str]:
    """Return the words of *line* that are written like names; at the start of a sentence only before another one."""
    found = [one for one in _NAME.compiled.finditer(line) if one[0].lower() not in STOP_WORDS]
    return frozenset(one[0] for one in found if not _UPDATE.search(one[0]) and _is_name(line, one))


def _is_name(line: str, word: re.Match[str]) -> bool:
    is_inside = line[: word.start()].rstrip()[-1:] not in ("", *".!?|*-")
    return is_inside or _NAME.compiled.match(line, word.end() + 1) is not None


def later_update(
    body: str,
    shown: Place,
    words: Sequence[str],
    values_in: Callable[[str], frozenset[str]] = numbers_in,
) -> Place | None:
    """
    Return the last line after *shown* that announces another value for its subject; ``None`` without one.

    The subject is the words of the question in the line that begins at *shown*. An update holds all of them, a word
    such as "now" or "update" near them, and a value that the shown line does not have. If the line has none of these
    words, they are in a heading, and an update begins with such a word; it needs no value if the line has none. Below a
    heading that begins so, a line with another name for one that is shown is an update.

    Args:
        values_in: Returns the values of a line: numbers, or names if the question asks for a person.
    """
    line = body[shown[0] : shown[1]].partition("\n")[0]
    subject = [word for word in words if word in line.lower()]
    known = values_in(line)
    if subject and not known:
        return None
    updates = _updates_in(body) if known and values_in is names_in else []
    for start, end in reversed(_lines_in(body, (shown[1], len(body)))):
        later = body[start:end]
        is_told = any(one.start <= start < one.end for one in updates) and not later.startswith("#")
        is_another = not known or bool(values_in(later) - known)
        if is_another and (is_told or _announces(later.lower(), subject)):
            return start, end
    return None


def asks_for_person(question: str) -> bool:
    """Whether *question* asks who."""
    return _WHO.search(question) is not None


def _updates_in(body: str) -> list[Section]:
    """Return the sections whose heading begins with a word such as "update"."""
    return [
        one
        for one in sections(body)[:MOST_HEADINGS]
        if (found := _UPDATE.search(one.heading.text)) and found.start() <= _MARKUP
    ]


def _announces(line: str, subject: Sequence[str]) -> bool:
    """Whether *line* says that *subject* changed; of an empty subject, whether it begins so."""
    if not all(word in line for word in subject):
        return False
    at, reach = (min(map(line.find, subject)), _OPENING) if subject else (0, _MARKUP)
    return any(abs(match.start() - at) <= reach for match in _UPDATE.compiled.finditer(line))


def _lines_in(body: str, place: Place) -> list[Place]:
    """Return the places of the lines that begin in *place*."""
    inside = re.finditer(r"[^\n]+", body[place[0] : place[1]])
    return [(place[0] + one.start(), place[0] + one.end()) for one in inside]


def _starts(lines: Sequence[str]) -> list[int]:
    """Return the offset at which each line begins, and one past the last."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts
