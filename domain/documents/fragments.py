"""
Fragments of a document: the parts that are indexed, embedded and cited separately.

Besides the kinds of the published system (document, sections, lists, code, front matter) there are passages and
lines, so that every line of a document can be found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from clawmem.domain.documents.blocks import Block, BlockKind, blocks
from clawmem.ports.records import NEVER_EMBEDDED, Fragment, FragmentKind

MAX_PASSAGE = 1600  # characters, 400 tokens
MAX_STRUCTURE = 2000  # characters of a section, list or code fragment; longer ones are split
MAX_LINE = 8000  # keeps any chat turn whole; longer text is a file without line breaks
MAX_OVERLAP = 400  # a block up to this size is repeated at the start of the next passage
PIECE_OVERLAP = 200  # characters shared by two pieces of a block that had to be split
MIN_FRAGMENT = 50  # characters; a shorter list or section gets no fragment of its own
MIN_FRONT_MATTER = 10
MAX_ABOUT = 300  # characters; a longer description would outweigh the text of a short passage
MIN_SPLIT = 200  # characters; a shorter body gets no section, list or code fragments
MAX_STRUCTURES = 500  # sections, lists and code blocks of one document with a fragment of their own
SECTION_LEVEL = 3

_NOT_FRAGMENTS = frozenset({"content_type", "tags", "title"})
_SENTENCE_END = re.compile(r"(?:[.!?…]['\")\]]*\s|[。！？]|\n)")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class _FragmentDraft:
    """Fragment without its number, line numbers and context."""

    kind: FragmentKind
    start: int
    end: int
    label: str = ""
    heading: str = ""
    columns: str = ""  # column names of a table row
    text: str | None = None  # None: the body from start to end


def fragment(
    body: str,
    *,
    title: str,
    date: str = "",
    first_line: int = 1,
    front_matter: Iterable[tuple[str, str]] = (),
    about: str = "",
) -> list[Fragment]:
    """
    Split *body* into fragments, numbered from 0; number 0 is always the whole document.

    Every line of the body is in a passage. Line fragments are numbered consecutively in reading order. No text is
    dropped: long text is split into overlapping pieces. Section fragments exist only if there are at least two
    sections, so that no text is indexed twice under two names.

    Args:
        body: The text without front matter.
        title: Title of the document, for the retrieval context.
        date: Day of the document, ``YYYY-MM-DD``, for the retrieval context; empty if unknown.
        first_line: Line of the file on which *body* begins.
        about: Description of the folders above the document, for the retrieval context.
        front_matter: Printable pairs; each becomes a fragment unless it is structural or shorter than 10 characters.
    """
    outline = _outline(blocks(body))
    stretches = [
        _FragmentDraft(FragmentKind.DOCUMENT, 0, len(body)),
        *_passages(body, outline),
        *_structures(body, outline),
        *_front_matter(front_matter),
        *_lines(body, outline),
    ]
    places = _LineNumbers(body, first_line)
    numbered = [_number(seq, stretch, body, places, title, date) for seq, stretch in enumerate(stretches)]
    return [_described(part, about) for part in numbered] if about else numbered


@dataclass(frozen=True, slots=True)
class _OutlinedBlock:
    block: Block
    heading: str  # the headings above, joined with " › "


def _outline(row: Sequence[Block]) -> list[_OutlinedBlock]:
    path: list[tuple[int, str]] = []
    placed = []
    for block in row:
        if block.kind is BlockKind.HEADING:
            path = [(level, label) for level, label in path if level < block.level]
        placed.append(_OutlinedBlock(block, " › ".join(label for _, label in path if label)))
        if block.kind is BlockKind.HEADING:
            path.append((block.level, block.label))
    return placed


def _lines(body: str, outline: Sequence[_OutlinedBlock]) -> Iterator[_FragmentDraft]:
    # A heading is part of the title of the lines below it. It is only a line fragment if there are no others.
    rows = [p for p in outline if p.block.kind is not BlockKind.HEADING] or list(outline)
    for place in rows:
        block = place.block
        label = block.label if block.kind is BlockKind.TURN else ""
        for start, end in _pieces(body, block.start, block.end, MAX_LINE):
            columns = block.label if block.kind is BlockKind.ROW else ""
            yield _FragmentDraft(FragmentKind.LINE, start, end, label, place.heading, columns)


def _passages(body: str, outline: Sequence[_OutlinedBlock]) -> Iterator[_FragmentDraft]:
    """Yield passages: neighbouring blocks up to `MAX_PASSAGE`, including the blank lines before the next passage."""
    pieces = [
        (start, end, place.heading)
        for place in outline
        for start, end in _pieces(body, place.block.start, place.block.end, MAX_PASSAGE)
    ]
    first = 0
    while first < len(pieces):
        last = _pack(pieces, first)
        start = 0 if first == 0 else pieces[first][0]
        end = len(body) if last == len(pieces) else max(pieces[last][0], pieces[last - 1][1])
        yield _FragmentDraft(FragmentKind.PASSAGE, start, end, heading=pieces[first][2])
        if last == len(pieces):
            return
        first = _step_back(pieces, first, last)
    if not pieces:
        yield _FragmentDraft(FragmentKind.PASSAGE, 0, len(body))


def _pack(pieces: Sequence[tuple[int, int, str]], first: int) -> int:
    last = first + 1
    while last < len(pieces) and pieces[last][1] - pieces[first][0] <= MAX_PASSAGE:
        last += 1
    return last


def _step_back(pieces: Sequence[tuple[int, int, str]], first: int, last: int) -> int:
    # The next block must fit after the repeated one; a passage of repeated text only would be redundant.
    start, end, _ = pieces[last - 1]
    repeated = last - 1 > first and end - start <= MAX_OVERLAP and pieces[last][1] - start <= MAX_PASSAGE
    return last - 1 if repeated else last


def _structures(body: str, outline: Sequence[_OutlinedBlock]) -> list[_FragmentDraft]:
    if len(body) < MIN_SPLIT:
        return []
    whole = [*_sections(body, outline), *_lists(outline), *_code(outline)]
    long_enough = [s for s in whole if s.end - s.start >= MIN_FRAGMENT][:MAX_STRUCTURES]
    return [
        replace(stretch, start=start, end=end)
        for stretch in long_enough
        for start, end in _pieces(body, stretch.start, stretch.end, MAX_STRUCTURE)
    ]


def _sections(body: str, outline: Sequence[_OutlinedBlock]) -> list[_FragmentDraft]:
    heads = [p for p in outline if p.block.kind is BlockKind.HEADING and p.block.level <= SECTION_LEVEL]
    if len(heads) < 2:
        return []
    ends = [p.block.start for p in heads[1:]] + [len(body)]
    return [
        _FragmentDraft(FragmentKind.SECTION, p.block.start, end, p.block.label, p.heading)
        for p, end in zip(heads, ends, strict=True)
    ]


def _lists(outline: Sequence[_OutlinedBlock]) -> Iterator[_FragmentDraft]:
    for is_item, run in groupby(outline, key=lambda place: place.block.kind is BlockKind.ITEM):
        row = list(run)
        if is_item and len(row) > 1:
            yield _FragmentDraft(
                FragmentKind.LIST, row[0].block.start, row[-1].block.end, heading=row[0].heading
            )


def _code(outline: Sequence[_OutlinedBlock]) -> Iterator[_FragmentDraft]:
    for place in outline:
        block = place.block
        if block.kind is BlockKind.CODE:
            yield _FragmentDraft(FragmentKind.CODE, block.start, block.end, block.label, place.heading)


def _front_matter(pairs: Iterable[tuple[str, str]]) -> Iterator[_FragmentDraft]:
    for key, value in pairs:
        text = f"{key}: {value}"
        if key not in _NOT_FRAGMENTS and len(text) >= MIN_FRONT_MATTER:
            yield _FragmentDraft(FragmentKind.FRONT_MATTER, 0, 0, key, text=text)


def _pieces(body: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Split *start*–*end* into overlapping pieces of at most *limit* characters, cut at a sentence end or a blank."""
    while end - start > limit:
        cut = _cut(body, start + limit // 2, start + limit)
        yield start, cut
        start = max(_after_space(body, cut - PIECE_OVERLAP, cut), start + 1)
    yield start, end


def _cut(body: str, low: int, high: int) -> int:
    for boundary in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in boundary.finditer(body, low, high)]
        if ends:
            return ends[-1]
    return high


def _after_space(body: str, low: int, high: int) -> int:
    match = _SPACE.search(body, low, high)
    return match.end() if match else low


class _LineNumbers:
    """Map of character offsets to line numbers, by bisection."""

    def __init__(self, body: str, first_line: int) -> None:
        self._breaks = [match.start() for match in re.finditer("\n", body)]
        self._first = first_line

    def at(self, offset: int) -> int:
        """Return the line of the file that contains the character at *offset*."""
        return self._first + bisect_left(self._breaks, offset)


def _number(
    seq: int, stretch: _FragmentDraft, body: str, places: _LineNumbers, title: str, date: str
) -> Fragment:
    own = stretch.text is not None
    return Fragment(
        seq=seq,
        kind=stretch.kind,
        start_line=1 if own else places.at(stretch.start),
        end_line=1 if own else places.at(max(stretch.start, stretch.end - 1)),
        start=stretch.start,
        end=stretch.end,
        text=body[stretch.start : stretch.end] if stretch.text is None else stretch.text,
        label=stretch.label,
        heading=stretch.heading,
        context=stretch.columns
        if stretch.kind is FragmentKind.LINE
        else _context(title, date, stretch.heading),
    )


def _described(part: Fragment, about: str) -> Fragment:
    if part.kind in NEVER_EMBEDDED:
        return part
    return part._replace(context=f"{about[:MAX_ABOUT]}\n{part.context}".strip())


def _context(title: str, date: str, heading: str) -> str:
    above = [title, *(part for part in heading.split(" › ") if part and part != title)]
    return " › ".join(part for part in above if part) + (f" ({date})" if date else "")
