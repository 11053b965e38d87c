"""Snippets: the few lines of a document that show why it matched, with their line numbers in the file."""

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.documents.markdown import HEADING, header_of

MAX_LENGTH = 300
LINES_AFTER = 2  # shown after the best line
ELLIPSIS = "..."
LEAD = 60  # characters shown before a match that is far inside a long line
_ROOM_TO_MOVE = 3 * LEAD  # a shorter snippet always starts at the beginning of the line

# Integer weights, so that equal scores compare as equal: a query term counts 1, an intent term 0.3, any text 0.01.
_TERM, _INTENT_TERM, _SOME_TEXT = 100, 30, 1


class Snippet(NamedTuple):
    """
    Lines of a file. ``start_line`` is 1-based; ``before`` and ``after`` count the other lines of the file.

    ``line_count`` counts the lines shown, including a cut one. If ``text`` is a row of a table, it begins with the
    header of the table, which is not counted.
    """

    text: str
    start_line: int
    line_count: int
    before: int
    after: int

    @property
    def end_line(self) -> int:
        """The last line shown."""
        return self.start_line + self.line_count - 1

    @property
    def header(self) -> str:
        """Position of the lines, like the head of a diff hunk: ``@@ -12,4 @@ (11 before, 30 after)``."""
        return f"@@ -{self.start_line},{self.line_count} @@ ({self.before} before, {self.after} after)"


def snippet(
    body: str,
    terms: Sequence[str],
    *,
    intent_terms: Sequence[str] = (),
    around: tuple[int, int] | None = None,
    max_length: int = MAX_LENGTH,
    first_line: int = 1,
    clipped: bool = False,
) -> Snippet:
    """
    Return the line with the most terms, and up to two lines after it.

    A line scores 1 for each distinct query term and 0.3 for each distinct intent term in it (as a substring, ignoring
    case); of equal lines the first wins. A heading or a line of tags is the best line only if the body has no other;
    half of its score counts for the next line of text. Lines end at a line feed. The snippet begins with the best line, so its
    position is that of the match. Below text it ends before a heading, and blank lines at its end are left out. A row of a table is shown alone, below the two
    header lines of the table if these take at most half of *max_length*; its position is that of the row.

    Args:
        around: Character offsets (start, end) of the matching fragment. Only its lines are searched; if none contains
            a term, its first line with text is the best. The whole body is searched only if the fragment has no text.
            Offsets are clamped to the length of the body.
        max_length: In characters. A longer text is cut to ``max_length - 3`` and ``...`` is added. If the best line's
            first match is beyond that cut, and *max_length* is at least 180, the text begins with ``...`` up to 60
            characters before the match.
        first_line: Line of the file on which the body begins, > 1 after front matter.
        clipped: Whether lines after the fragment are left out.

    Raises:
        ValueError: *max_length* below 4, *first_line* below 1, or an *around* that is no range.
    """
    _check(around, max_length, first_line)
    lines = body.removesuffix("\n").split("\n")
    wanted, intended = _distinct(terms), _distinct(intent_terms)
    own = _lines_between(body, *around, len(lines)) if around else range(len(lines))
    best = _best_line(lines, own, wanted, intended)
    header = _header(lines, best, max_length // 2)
    end = best + 1 if header else _end(lines, best, max(own.stop, best + 1) if clipped else len(lines))
    text = "\n".join(lines[best:end]).rstrip("\n")
    matches = map(lines[best].lower().find, wanted | intended)
    text = _cut(text, max_length - len(header), min((at for at in matches if at >= 0), default=0))
    shown, at = text.count("\n") + 1, first_line + best
    return Snippet(header + text, at, shown, before=at - 1, after=len(lines) - best - shown)


def _end(lines: Sequence[str], best: int, last: int) -> int:
    """Return the end of the snippet that begins with the line *best*: after `LINES_AFTER`, or below text at the next heading."""
    end = min(best + 1 + LINES_AFTER, last)
    if HEADING.match(lines[best]):
        return end
    return next((at for at in range(best + 1, end) if HEADING.match(lines[at])), end)


def _header(lines: Sequence[str], row: int, most: int) -> str:
    """Return the header lines of the table that contains *row*, if they have at most *most* characters."""
    header = "".join(f"{line}\n" for line in header_of(lines, row) or ())
    return header if len(header) <= most else ""


def single_line(text: str, terms: Sequence[str], *, max_length: int, first_line: int) -> Snippet:
    """Return the line of *text* with the most terms, without further lines; see `snippet`."""
    found = snippet(text, terms, max_length=max_length, first_line=first_line)
    lines = text.removesuffix("\n").split("\n")
    place = found.start_line - first_line
    alone = snippet(lines[place], terms, max_length=max_length, first_line=found.start_line)
    return alone._replace(after=len(lines) - place - 1)


def whole_lines(body: str, place: tuple[int, int], first_line: int) -> Snippet:
    """Return the lines of *body* with the characters of *place*, uncut; *first_line* as in `snippet`."""
    lines = body.removesuffix("\n").split("\n")
    own = _lines_between(body, *place, len(lines))
    text = "\n".join(lines[own.start : own.stop])
    before = first_line + own.start - 1
    return Snippet(text, before + 1, len(own), before=before, after=len(lines) - own.stop)


def holds_any(text: str, terms: Sequence[str]) -> bool:
    """Whether *text* contains one of *terms* by the rules of `snippet`."""
    lower = text.lower()
    return any(term in lower for term in _distinct(terms))


def _check(around: tuple[int, int] | None, max_length: int, first_line: int) -> None:
    if max_length <= len(ELLIPSIS):
        raise ValueError(f"max_length must be at least {len(ELLIPSIS) + 1}, not {max_length}")
    if first_line < 1:
        raise ValueError(f"first_line counts from 1, not {first_line}")
    if around is not None and not 0 <= around[0] <= around[1]:
        raise ValueError(f"around must be (start, end) with 0 <= start <= end, not {around}")


def _distinct(terms: Sequence[str]) -> set[str]:
    return {term.lower() for term in terms if term.strip()}


def _worths(lines: Sequence[str], terms: set[str], intent_terms: set[str]) -> list[int]:
    """Return the scores of *lines*, in which headings and tags pass half of theirs on to the next line of text."""
    lowered = [line.lower() for line in lines]
    worths = [_SOME_TEXT if line.strip() else 0 for line in lines]
    for worth, looked_for in (_TERM, terms), (_INTENT_TERM, intent_terms):
        for term in looked_for:
            for place, line in enumerate(lowered):
                if term in line:
                    worths[place] += worth
    passed = 0
    for place, line in enumerate(lines):
        if _is_bare(line):
            passed, worths[place] = max(passed, worths[place] // 2), 0
        elif line.strip():
            worths[place] += passed
            passed = 0
    return worths


def _is_bare(line: str) -> bool:
    """Whether *line* is a heading, or contains only tags."""
    if "#" not in line:
        return False
    parts = line.replace(",", " ").split()
    return HEADING.match(line) is not None or all(part[0] == "#" and len(part) > 1 for part in parts)


def _best_line(lines: Sequence[str], own: range, terms: set[str], intent_terms: set[str]) -> int:
    # Scores only the regions that are needed: a body may have a hundred thousand lines.
    for region in own, range(len(lines)):
        worths = _worths(lines[region.start : region.stop], terms, intent_terms)
        if most := max(worths):
            return region.start + worths.index(most)  # the first of equal lines
    return next((place for place, line in enumerate(lines) if line.strip()), 0)


def _lines_between(body: str, start: int, end: int, count: int) -> range:
    """Return the indexes of the lines that contain the characters from *start* up to, but not including, *end*."""
    first = body.count("\n", 0, max(0, start))
    last = body.count("\n", 0, max(start, end - 1, 0))
    return range(min(first, count - 1), min(last, count - 1) + 1)


def _cut(text: str, max_length: int, match: int) -> str:
    """Return at most *max_length* characters; of a line with a late match, the part around the match."""
    room = max_length - len(ELLIPSIS)
    if len(text) <= max_length:
        return text
    if match < room - LEAD or max_length < _ROOM_TO_MOVE:
        return text[:room] + ELLIPSIS
    begin = text.find(" ", match - LEAD, match) + 1 or match
    rest = ELLIPSIS + text[begin:]
    return rest if len(rest) <= max_length else rest[:room] + ELLIPSIS
