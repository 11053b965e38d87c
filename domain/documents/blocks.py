"""Markdown as a sequence of blocks: paragraphs, list items, chat turns, tables, code and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from clawmem.domain.documents.tables import column_names, rows_from

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_FENCE = re.compile(r"\A {0,3}(`{3,}+(?!.*`)|~{3,})[ \t]*([^`\s]*)")  # ```x``` is code inside a paragraph
_ITEM = re.compile(r"\A[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_OWN_LINE = re.compile(
    r"\[\^[^\]\s]{1,100}\]:|[^\W\d_][\w -]{0,40}::(?=\s|\Z)"
)  # a footnote, a field of Dataview
_TURN = re.compile(
    r"\*\*([^*:\n]{1,40}):\*\*|\*\*([^*\n]{1,40})\*\*:|(user|assistant|human|system):(?=\s|\Z)", re.IGNORECASE
)


class BlockKind(Enum):
    """Kind of a block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TURN = "turn"
    CODE = "code"
    TABLE = "table"  # the header
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Block:
    """
    A run of lines between blank lines, or a line that starts a block on its own, such as a heading.

    ``start`` and ``end`` are character offsets in the body, without the final line break. Lines count from
    ``first_line``. ``label`` is a heading's text, a code block's language, a turn's speaker, or the column names
    of a table row. ``level`` is 1–6 for headings, else 0.
    """

    kind: BlockKind
    start_line: int
    end_line: int
    start: int
    end: int
    label: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    start: int
    text: str

    @property
    def end(self) -> int:
        """Offset after the last character, without the line break."""
        return self.start + len(self.text)


def blocks(body: str, first_line: int = 1) -> list[Block]:
    """
    Return the blocks of *body* in order; blank lines belong to none, every other line to exactly one.

    An unclosed code fence extends to the end. A speaker is recognised at the beginning of a line, as
    ``**Name:**``, ``**Name**:`` or one of the usual roles followed by a colon.
    """
    found: list[Block] = []
    lines = _lines(body, first_line)
    for line in lines:
        fence = _FENCE.match(line.text)
        if fence:
            found.append(_code(line, fence, lines))
        elif line.text.strip():
            _add(found, line)
    return [part for block in found for part in _with_rows(body, block)]


def _with_rows(body: str, block: Block) -> Iterator[Block]:
    """Yield the text above a table, its header, its rows, and the text below; yield any other block unchanged."""
    if block.kind is not BlockKind.PARAGRAPH:
        yield block
        return
    lines = list(_lines(body[block.start : block.end], block.start_line))
    texts = [line.text for line in lines]
    first = rows_from(texts)
    if first is None:
        yield block
        return
    last = next((n for n in range(first, len(texts)) if "|" not in texts[n]), len(texts))
    columns = column_names(texts[first - 2])
    parts = [
        (BlockKind.PARAGRAPH, lines[: first - 2], ""),
        (BlockKind.TABLE, lines[first - 2 : first], ""),
        *((BlockKind.ROW, [line], columns) for line in lines[first:last]),
    ]
    for kind, some, label in parts:
        if some:
            yield _run(kind, some, block.start, label)
    if last < len(texts):
        yield from _with_rows(body, _run(BlockKind.PARAGRAPH, lines[last:], block.start))


def _run(kind: BlockKind, lines: Sequence[_Line], offset: int, label: str = "") -> Block:
    first, last = lines[0], lines[-1]
    return Block(kind, first.number, last.number, offset + first.start, offset + last.end, label)


def _lines(body: str, first_line: int) -> Iterator[_Line]:
    start = 0
    for number, text in enumerate(body.split("\n"), first_line):
        yield _Line(number, start, text)
        start += len(text) + 1


def _code(opening: _Line, fence: re.Match[str], rest: Iterator[_Line]) -> Block:
    mark, last = fence[1], opening
    for line in rest:
        last = line
        if _closes(line.text, mark):
            break
    return Block(BlockKind.CODE, opening.number, last.number, opening.start, last.end, fence[2])


def _closes(text: str, mark: str) -> bool:
    stripped = text.strip()
    is_code = text.startswith("    ")  # indented deeper than a fence can be, so it is part of the code
    return not is_code and len(stripped) >= len(mark) and stripped == mark[0] * len(stripped)


def _add(found: list[Block], line: _Line) -> None:
    fresh = _beginning(line)
    if fresh is None and found and _continues(found[-1], line):
        before = found.pop()
        fresh = Block(
            before.kind, before.start_line, line.number, before.start, line.end, before.label, before.level
        )
    found.append(fresh or _block(BlockKind.PARAGRAPH, line))


def _beginning(line: _Line) -> Block | None:
    if heading := _HEADING.match(line.text):
        return _block(BlockKind.HEADING, line, _label(line.text[heading.end() :]), len(heading[1]))
    if turn := _TURN.match(line.text):
        return _block(BlockKind.TURN, line, (turn[1] or turn[2] or turn[3]).strip())
    if _ITEM.match(line.text):
        return _block(BlockKind.ITEM, line)
    if _OWN_LINE.match(line.text):
        return _block(BlockKind.PARAGRAPH, line)
    return None


def _label(text: str) -> str:
    """Return a heading's text without the closing run of ``#`` that Markdown allows."""
    label = text.strip()
    bare = label.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else label


def _block(kind: BlockKind, line: _Line, label: str = "", level: int = 0) -> Block:
    return Block(kind, line.number, line.number, line.start, line.end, label, level)


def _continues(block: Block, line: _Line) -> bool:
    # The line directly below continues a paragraph, an item or a turn, but not a heading or a fenced block.
    return block.end_line + 1 == line.number and block.kind not in (BlockKind.HEADING, BlockKind.CODE)
