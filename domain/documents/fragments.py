"""
Fragments of a document: the parts that are indexed, embedded and cited separately, and their lexical entries.

Besides the kinds of the published system (document, sections, lists, code, front matter) there are passages and
lines, so that every line of a document can be found.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from clawmem.domain.documents.markdown import Block, BlockKind, Markdown
from clawmem.domain.documents.names import searchable_names, with_names
from clawmem.domain.text.words import index_text
from clawmem.ports.records import Document, Fragment, FragmentKey, FragmentKind, Grain, LexicalEntry

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

# Sections have no weight in any answer (`clawmem.domain.retrieval.grains`), so their words are not indexed.
GRAIN_OF = {
    FragmentKind.LINE: Grain.LINE,
    FragmentKind.PASSAGE: Grain.PASSAGE,
    FragmentKind.DOCUMENT: Grain.DOCUMENT,
}

_NOT_FRAGMENTS = frozenset({"content_type", "tags", "title"})
_SENTENCE_END = re.compile(r"(?:[.!?…]['\")\]]*\s|[。！？]|\n)")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of a body that becomes a fragment; ``heading`` is the headings above, joined with " › "."""

    kind: FragmentKind
    start: int
    end: int
    heading: str = ""
    label: str = ""
    columns: str = ""  # column names of a table row


def fragment(
    note: Markdown,
    *,
    title: str,
    date: str = "",
    front_matter: Iterable[tuple[str, str]] = (),
    about: str = "",
) -> list[Fragment]:
    """
    Split a note into fragments, numbered from 0; number 0 is always the whole document.

    Every line of the body is in a passage. Line fragments are numbered consecutively in reading order. No text is
    dropped: long text is split into overlapping pieces. Section fragments exist only if there are at least two
    sections, so that no text is indexed twice under two names.

    Args:
        title: Title of the document, for the retrieval context.
        date: Day of the document, ``YYYY-MM-DD``, for the retrieval context; empty if unknown.
        about: Description of the folders above the document, for the retrieval context.
        front_matter: Printable pairs; each becomes a fragment unless it is structural or shorter than 10 characters.
    """
    body, outline = note.body, _outline(note.blocks)
    fragments: list[Fragment] = []

    def add(part: _Part) -> None:
        if part.kind is FragmentKind.LINE:
            context = part.columns
        else:
            above = [title, *(heading for heading in part.heading.split(" › ") if heading != title)]
            context = " › ".join(filter(None, above)) + (f" ({date})" if date else "")
            context = f"{about[:MAX_ABOUT]}\n{context}".strip() if about else context
        fragments.append(
            Fragment(
                seq=len(fragments),
                kind=part.kind,
                start_line=note.line_at(part.start),
                end_line=note.line_at(max(part.start, part.end - 1)),
                start=part.start,
                end=part.end,
                text=body[part.start : part.end],
                label=part.label,
                heading=part.heading,
                context=context,
            )
        )

    add(_Part(FragmentKind.DOCUMENT, 0, len(body)))
    for part in (*_passages(body, outline), *_structures(body, outline)):
        add(part)
    for key, value in front_matter:
        text = f"{key}: {value}"
        if key not in _NOT_FRAGMENTS and len(text) >= MIN_FRONT_MATTER:
            context = title + (f" ({date})" if date else "")
            fragments.append(
                Fragment(len(fragments), FragmentKind.FRONT_MATTER, 1, 1, 0, 0, text, key, context=context)
            )
    for part in _lines(body, outline):
        add(part)
    return fragments


def lexical_entries(document: Document, fragments: Sequence[Fragment]) -> Iterator[LexicalEntry]:
    """
    Yield an entry for each line and passage, and one for the whole document, which includes its front matter.

    The title field of an entry contains the title of the document, the headings above the text, and the words that
    the file name, the aliases and the folders add. That of a table row also contains the column names. A question
    that names the subject therefore finds lines that do not repeat it.
    """
    head = "\n".join([*document.tags, *(p.text for p in fragments if p.kind is FragmentKind.FRONT_MATTER)])
    names, titles = searchable_names(document), dict[str, str]()
    for part in fragments:
        if part.heading not in titles:  # a first heading equal to the title counts once
            above = (
                "" if part.heading == document.title else part.heading.removeprefix(f"{document.title} › ")
            )
            titles[part.heading] = index_text(with_names(f"{document.title} {above}".rstrip(), names))
        if part.kind in GRAIN_OF:
            columns = (
                f" {index_text(part.context)}" if part.kind is FragmentKind.LINE and part.context else ""
            )
            yield LexicalEntry(
                FragmentKey(document.id, part.seq),
                GRAIN_OF[part.kind],
                document.collection,
                titles[part.heading] + columns,
                index_text(f"{part.text}\n{head}" if part.kind is FragmentKind.DOCUMENT else part.text),
                document.authored_at,
            )


def _outline(blocks: Sequence[Block]) -> list[tuple[Block, str]]:
    """Return each block with the headings above it, joined with " › "."""
    path: list[Block] = []
    outline = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            path = [heading for heading in path if heading.level < block.level]
        outline.append((block, " › ".join(heading.label for heading in path if heading.label)))
        if block.kind is BlockKind.HEADING:
            path.append(block)
    return outline


def _lines(body: str, outline: Sequence[tuple[Block, str]]) -> Iterator[_Part]:
    # A heading is part of the title of the lines below it; one without a text or a heading below it is a line itself.
    rows = outline
    if any(block.kind is not BlockKind.HEADING for block, _ in outline):
        rows = [
            (block, above)
            for at, (block, above) in enumerate(outline)
            if block.kind is not BlockKind.HEADING or (block.label and _is_bare(block, outline[at + 1 :][:1]))
        ]
    for block, heading in rows:
        label = block.label if block.kind is BlockKind.TURN else ""
        columns = block.label if block.kind is BlockKind.ROW else ""
        for start, end in _pieces(body, block.start, block.end, MAX_LINE):
            yield _Part(FragmentKind.LINE, start, end, heading, label, columns)


def _is_bare(heading: Block, following: Sequence[tuple[Block, str]]) -> bool:
    """Whether neither a text nor a deeper heading follows *heading*."""
    return all(block.kind is BlockKind.HEADING and block.level <= heading.level for block, _ in following)


def _passages(body: str, outline: Sequence[tuple[Block, str]]) -> Iterator[_Part]:
    """Yield passages: neighbouring blocks up to `MAX_PASSAGE`, including the blank lines before the next passage."""
    pieces = [
        (start, end, heading)
        for block, heading in outline
        for start, end in _pieces(body, block.start, block.end, MAX_PASSAGE)
    ]
    if not pieces:
        yield _Part(FragmentKind.PASSAGE, 0, len(body))
    first = 0
    while first < len(pieces):
        last = first + 1
        while last < len(pieces) and pieces[last][1] - pieces[first][0] <= MAX_PASSAGE:
            last += 1
        start = pieces[first][0] if first else 0
        end = len(body) if last == len(pieces) else max(pieces[last][0], pieces[last - 1][1])
        yield _Part(FragmentKind.PASSAGE, start, end, pieces[first][2])
        if last == len(pieces):
            return
        # A short last block is repeated if the next one fits after it: a passage of repeated text is redundant.
        start, end, _ = pieces[last - 1]
        is_repeated = (
            last - 1 > first and end - start <= MAX_OVERLAP and pieces[last][1] - start <= MAX_PASSAGE
        )
        first = last - 1 if is_repeated else last


def _structures(body: str, outline: Sequence[tuple[Block, str]]) -> list[_Part]:
    """Return the sections, lists and code blocks that have a fragment of their own."""
    if len(body) < MIN_SPLIT:
        return []
    heads = [
        (block, above)
        for block, above in outline
        if block.kind is BlockKind.HEADING and block.level <= SECTION_LEVEL
    ]
    ends = [*(block.start for block, _ in heads[1:]), len(body)]
    parts = [
        _Part(FragmentKind.SECTION, block.start, end, above, block.label)
        for (block, above), end in zip(heads, ends, strict=False)
        if len(heads) > 1
    ]
    for is_item, run in groupby(outline, key=lambda placed: placed[0].kind is BlockKind.ITEM):
        items = list(run)
        if is_item and len(items) > 1:
            parts.append(_Part(FragmentKind.LIST, items[0][0].start, items[-1][0].end, items[0][1]))
    parts += [
        _Part(FragmentKind.CODE, block.start, block.end, above, block.label)
        for block, above in outline
        if block.kind is BlockKind.CODE
    ]
    return [
        replace(part, start=start, end=end)
        for part in [part for part in parts if part.end - part.start >= MIN_FRAGMENT][:MAX_STRUCTURES]
        for start, end in _pieces(body, part.start, part.end, MAX_STRUCTURE)
    ]


def _pieces(body: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Split *start*–*end* into overlapping pieces of at most *limit* characters, cut at a sentence end or a blank."""
    while end - start > limit:
        low, high = start + limit // 2, start + limit
        ends = [[match.end() for match in mark.finditer(body, low, high)] for mark in (_SENTENCE_END, _SPACE)]
        cut = next((places[-1] for places in ends if places), high)
        yield start, cut
        blank = _SPACE.search(body, cut - PIECE_OVERLAP, cut)
        start = max(blank.end() if blank else cut - PIECE_OVERLAP, start + 1)
    yield start, end
