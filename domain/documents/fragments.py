"""
Fragments of a document: the parts that are indexed, embedded and cited separately, and their lexical entries.

Besides the kinds of the published system (document, sections, lists, code, front matter) there are passages and
lines, so that every line of a document can be found.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

from clawmem.domain.documents.markdown import BlockKind, Markdown, is_machine_text
from clawmem.domain.documents.names import searchable_names
from clawmem.domain.documents.properties import TECHNICAL_PROPERTIES
from clawmem.domain.text.words import FULL_STOPS, index_text, words
from clawmem.ports.records import Document, Fragment, FragmentKey, FragmentKind, Grain, LexicalEntry

MAX_PASSAGE = 1600  # characters, 400 tokens
MAX_STRUCTURE = 2000  # characters of a section, list or code fragment; longer ones are split
MAX_LINE = 8000  # keeps any chat turn whole; longer text is a file without line breaks
MAX_OVERLAP = 400  # a block up to this size is repeated at the start of the next passage
PIECE_OVERLAP = 200  # characters shared by two pieces of a block that had to be split
MIN_SPLIT, MIN_FRAGMENT = 200, 50  # characters of a body with sections, lists and code, and of one of these
MAX_STRUCTURES = 500  # sections, lists and code blocks of one document with a fragment of their own

_SENTENCE_END = re.compile(rf"(?:[.!?…]['\")\]]*\s|[{FULL_STOPS}]|\n)")
_SPACE = re.compile(r"\s")

Part = tuple[FragmentKind, int, int, str, str]  # with start and end in the body, headings above, and a label


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
        front_matter: Printable pairs; each one of 10 characters that is not structural is a fragment at the first text.
    """
    body, fragments, dated = note.body, list[Fragment](), f" ({date})" if date else ""

    def add(kind: FragmentKind, start: int, end: int, heading: str, label: str, context: str = "") -> None:
        if kind is not FragmentKind.LINE:
            above = [title, *(name for name in heading.split(" › ") if name != title)]
            context = " › ".join(filter(None, above)) + dated
            # A longer description would outweigh the text of a short passage.
            context = f"{about[:300]}\n{context}".strip() if about else context
        lines = note.line_at(start), note.line_at(max(start, end - 1))
        text = label if kind is FragmentKind.FRONT_MATTER else body[start:end]
        fragments.append(Fragment(len(fragments), kind, *lines, start, end, text, label, heading, context))

    add(FragmentKind.DOCUMENT, 0, len(body), "", "")
    for part in (*_passages(note), *_structures(note)):
        add(*part)
    opening = next((block for block in note.blocks if block.kind is not BlockKind.HEADING), None)
    first, last = (opening.start, opening.end) if opening else (0, 0)
    for key, value in front_matter:
        if key not in ("content_type", "tags", "title") and len(text := f"{key}: {value}") >= 10:
            add(FragmentKind.FRONT_MATTER, first, last, "", text)
    for block, below in zip(note.blocks, [*note.blocks[1:], None], strict=False):
        # A heading is part of the title of the lines below it. It is a line itself without a text or heading below it.
        if opening and block.kind is BlockKind.HEADING:
            is_bare = not below or (below.kind is BlockKind.HEADING and below.level <= block.level)
            if not block.label or not is_bare:
                continue
        if is_machine_text(body[block.start : block.end]):
            continue
        label = block.label if block.kind is BlockKind.TURN else ""
        columns = block.label if block.kind is BlockKind.ROW else ""
        for start, end in _pieces(body, block.start, block.end, MAX_LINE):
            add(FragmentKind.LINE, start, end, block.above, label, columns)
    return fragments


def grain_of(part: Fragment) -> Grain | None:
    """Return the grain at which the words of a fragment are indexed; sections have no weight in any answer."""
    if part.kind is FragmentKind.FRONT_MATTER:
        is_technical = part.text.partition(":")[0].casefold() in TECHNICAL_PROPERTIES
        return None if is_technical else Grain.LINE
    return Grain(part.kind.value) if part.kind.value in [*Grain] else None


def lexical_entries(document: Document, fragments: Sequence[Fragment]) -> Iterator[LexicalEntry]:
    """
    Yield an entry for each line, passage and telling property, and one for the whole document with its front matter.

    The title field of an entry contains the title of the document, the headings above the text, and the words that
    the file name, the aliases and the folders add. That of a table row also contains the column names. A question
    that names the subject therefore finds lines that do not repeat it.
    """
    head = "\n".join([*document.tags, *(p.text for p in fragments if p.kind is FragmentKind.FRONT_MATTER)])
    names, titles, indexed = searchable_names(document), dict[str, str](), cache(index_text)
    for part in fragments:
        if part.heading not in titles:  # a first heading equal to the title counts once
            above = f"{part.heading} › ".removeprefix(f"{document.title} › ").removesuffix(" › ")
            texts = [f"{document.title} {above}".rstrip()]
            known = {*words(texts[0])}
            for name in names:  # one without a new word is left out: repeated words would count twice
                texts += [] if known.issuperset(words(name)) else [name]
                known.update(words(name))
            titles[part.heading] = index_text(" ".join(filter(None, texts)))
        if grain := grain_of(part):
            columns = index_text(part.context) if part.kind is FragmentKind.LINE else ""
            title = f"{titles[part.heading]} {columns}".rstrip()
            text = f"{part.text}\n{head}" if part.kind is FragmentKind.DOCUMENT else part.text
            text = "\n".join(map(indexed, text.split("\n")))  # each line is in three entries
            key = FragmentKey(document.id, part.seq)
            yield LexicalEntry(key, grain, document.collection, title, text, document.authored_at)


def _passages(note: Markdown) -> Iterator[Part]:
    """Yield passages: neighbouring blocks up to `MAX_PASSAGE`, including the blank lines before the next passage."""
    body = note.body
    pieces = [
        (start, end, block.above)
        for block in note.blocks
        for start, end in _pieces(body, block.start, block.end, MAX_PASSAGE)
    ]
    if not pieces:
        yield FragmentKind.PASSAGE, 0, len(body), "", ""
    first = 0
    while first < len(pieces):
        last = first + 1
        while last < len(pieces) and pieces[last][1] - pieces[first][0] <= MAX_PASSAGE:
            last += 1
        start = pieces[first][0] if first else 0
        end = len(body) if last == len(pieces) else max(pieces[last][0], pieces[last - 1][1])
        yield FragmentKind.PASSAGE, start, end, pieces[first][2], ""
        if last == len(pieces):
            return
        # A short last block is repeated if the next one fits after it: a passage of repeated text is redundant.
        start, end, _ = pieces[last - 1]
        fits = end - start <= MAX_OVERLAP and pieces[last][1] - start <= MAX_PASSAGE
        first = last - 1 if fits and last - 1 > first else last


def _structures(note: Markdown) -> Iterator[Part]:
    """Yield the sections down to level 3, the lists and the code blocks that have a fragment of their own."""
    body, blocks = note.body, note.blocks
    heads = [block for block in blocks if block.kind is BlockKind.HEADING and block.level <= 3]
    ends = [*(head.start for head in heads[1:]), len(body)]
    parts = [
        (FragmentKind.SECTION, head.start, end, head.above, head.label)
        for head, end in zip(heads, ends, strict=False)
        if len(heads) > 1
    ]
    for is_item, run in groupby(blocks, key=lambda block: block.kind is BlockKind.ITEM):
        items = list(run)
        if is_item and len(items) > 1:
            parts.append((FragmentKind.LIST, items[0].start, items[-1].end, items[0].above, ""))
    codes = (block for block in blocks if block.kind is BlockKind.CODE)
    parts += [(FragmentKind.CODE, code.start, code.end, code.above, code.label) for code in codes]
    parts = [part for part in parts if len(body) >= MIN_SPLIT and part[2] - part[1] >= MIN_FRAGMENT]
    for kind, first, last, above, label in parts[:MAX_STRUCTURES]:
        for start, end in _pieces(body, first, last, MAX_STRUCTURE):
            yield kind, start, end, above, label


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
