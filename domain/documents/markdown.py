"""Markdown of a note, parsed once: blocks, headings, headers of tables, and the parts that are not prose."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache, cached_property
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t])")
# A chat turn, and a line of a paragraph that is a block of its own: a footnote or a field of Dataview.
_TURN = re.compile(
    r"\*\*([^*:\n]{1,40}):\*\*|\*\*([^*\n]{1,40})\*\*:|(user|assistant|human|system):(?=\s|\Z)", re.IGNORECASE
)
_OWN_LINE = re.compile(r"\[\^[^\]\s]{1,100}\]:|[^\W\d_][^:\n]{0,40}::(?=\s|\Z)")
LOGSEQ_OWN = "(?:id|collapsed)"  # names of fields
# A link to a day, week, month or year, and what stands around it in a line that leads to other days.
_DAY_LINK = (
    r"(?:\[\[|\[[^\[\]\n]{0,99}\]\()[^\[\]()\n]{0,99}"
    r"(?:\d{4}\W?W?\d|\d[^\d\[\]]{0,4}\d{4}|(?<=\[)\d{4}(?=[|\]]))[^\[\]()\n]*[\])]{1,2}"
)
_SIGNS = r"(?:(?![\[\]()])[\W\d])*"
# Lines that Logseq and Excalidraw write, links and names of blocks of Obsidian that show another note, or nothing; and
# lines that only lead to other days, with an arrow outside, a bar or other texts for the days, but no table row.
_MACHINE_LINE = re.compile(
    rf"\A(?:{LOGSEQ_OWN}::.*|\^[\w-]+|(?:SCHEDULED|DEADLINE): *<[^>\n]*>|:(?:LOGBOOK|END):|CLOCK:.*"
    r"|\{\{(?:embed|renderer|function|namespace)\b.*\}\}|(?:!\[\[[^\[\]\n]+\]\] *)+|Excalidraw Data"
    rf"|(?!\|)(?=[\W\d]*\[)(?=.*(?:[<«‹❮←⬅◀|·•(]|[>»›❯→➡▶]\W{{0,9}}\Z))(?:{_SIGNS}{_DAY_LINK})+{_SIGNS})"
)
_DRAWING = "==⚠  Switch to EXCALIDRAW VIEW"  # begins the first line of a drawing of Excalidraw
_OPENING = re.compile(rf"`+|<!--|%%|\$\$|\{{\{{query\b|#\+BEGIN_QUERY\b|{_DRAWING}")
# Comments, queries of Logseq and the banner of a drawing; fences whose code is a query of Obsidian, Dataview or Tasks.
_NO_TEXT = {"<!--": "-->", "%%": "%%", "{{query": "}}", "#+BEGIN_QUERY": "#+END_QUERY", _DRAWING: "\n"}
_QUERY_FENCES = frozenset({"dataview", "dataviewjs", "tasks", "query"})
_BLANK_LINE = re.compile(r"\n[ \t]*(?:\n|\Z)")


class BlockKind(Enum):
    """Kind of a block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TURN = "turn"
    CODE = "code"
    TABLE = "table"  # the header
    ROW = "row"


_LEAVES = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "thead_open": BlockKind.TABLE,
    "tr_open": BlockKind.ROW,
}


class Block(NamedTuple):
    """
    A heading, a paragraph, the first paragraph of a list item, a chat turn, a code block, or the rows of a table.

    ``start`` and ``end`` are character offsets in the body, without the final line break. ``label`` is a heading's
    text, a code block's language, a turn's speaker, or the column names of a table row. ``level`` is 1–6 for headings,
    else 0. ``above`` are the headings above, joined with " › ".
    """

    kind: BlockKind
    start_line: int
    end_line: int
    start: int
    end: int
    label: str = ""
    level: int = 0
    above: str = ""


class Markdown:
    """
    The text of a note and its structure.

    Args:
        body: The text, without front matter.
        first_line: Line of the file on which *body* begins.
    """

    def __init__(self, body: str, first_line: int = 1) -> None:
        self.body = body
        self.first_line = first_line
        self._lines = body.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]

    def line_at(self, offset: int) -> int:
        """Return the line of the file that contains the character at *offset*."""
        return self.first_line + bisect_right(self._starts, offset, hi=len(self._lines)) - 1

    def block_lines(self, line: int) -> tuple[int, int]:
        """
        Return the first and the last line of the block on *line*, of the items below a list item, or of a section.

        A paragraph ends on *line*. If the block is only a ``^name``, they are those of the paragraph, list or table above it.
        """
        inside = (block for block in self.blocks if block.start_line <= line <= block.end_line)
        if (block := next(inside, None)) is None:  # nested too deeply
            return line, line
        first, end = block.start_line - self.first_line, block.end_line - self.first_line + 1
        if self.body[block.start : block.end].lstrip().startswith("^"):
            above = ((rows[0], rows[1]) for token in self._tokens if (rows := token.map) and rows[1] <= first)
            first, end = max(above, key=lambda rows: (rows[1], -rows[0]), default=(first, end))
        elif block.kind is BlockKind.ITEM:
            items = (token.map for token in self._tokens if token.type == "list_item_open")
            end = [rows[1] for rows in items if rows and rows[0] <= first < rows[1]][-1]
        elif block.kind is BlockKind.HEADING:
            following = (h for h in self.headings if h.start_line > line and h.level <= block.level)
            end = next((h.start_line - self.first_line for h in following), len(self._lines))
        elif block.kind is BlockKind.PARAGRAPH:
            end = line - self.first_line + 1
        while not self._lines[end - 1].strip():
            end -= 1
        return first + self.first_line, end - 1 + self.first_line

    @cached_property
    def _tokens(self) -> Sequence[Token]:
        return _parser().parse(self.body)

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks in order, as in CommonMark with the tables of GitHub; what is nested too deeply is in none."""
        blocks: list[Block] = []
        path: list[tuple[int, str]] = []  # levels and texts of the headings above
        columns, covered = "", 0
        for at, token in enumerate(self._tokens):
            kind = _LEAVES.get(token.type)
            if kind is None or token.map is None or token.map[0] < covered:  # a header is also a row
                continue
            first, end = token.map
            label, level = "", 0
            if kind is BlockKind.HEADING:
                label, level = self._tokens[at + 1].content, int(token.tag[1])
                label = re.sub(r"\{:?\s*[#.][^{}]*\}\Z|\\(?=[^\w\s])", "", label).rstrip()
                label = re.sub(r"\A\*\*([^*]+)\*\*\Z", r"\1", label)  # Google Docs writes all so
                path = [heading for heading in path if heading[0] < level]
            elif kind is BlockKind.CODE:
                label = token.info.partition(" ")[0]
            elif kind is BlockKind.TABLE:
                columns, end = column_names(self._lines[first]), first + 2
            elif kind is BlockKind.ROW:
                label = columns
            elif at and self._tokens[at - 1].type == "list_item_open":
                kind = BlockKind.ITEM
            parts, above = [(kind, first, label)], " › ".join(text for _, text in path if text)
            # A turn of a conversation, a footnote and a field within a paragraph are blocks of their own.
            for line in range(first, end) if kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) else ():
                turn = _TURN.match(self._lines[line])
                if turn or _OWN_LINE.match(self._lines[line]):
                    parts = parts if line > first else []
                    speaker = (turn[1] or turn[2] or turn[3]).strip() if turn else ""
                    parts.append((BlockKind.TURN if turn else BlockKind.PARAGRAPH, line, speaker))
            covered = end
            ends = [*(start for _, start, _ in parts[1:]), end]
            for (part_kind, start, name), stop in zip(parts, ends, strict=True):
                while stop - 1 > start and not self._lines[stop - 1].strip():
                    stop -= 1
                lines = start + self.first_line, stop - 1 + self.first_line
                places = self._starts[start], self._starts[stop] - 1
                blocks.append(Block(part_kind, *lines, *places, name, level, above))
            path += [(level, label)] if kind is BlockKind.HEADING else []
        return blocks

    @cached_property
    def headings(self) -> list[Block]:
        """The headings that have a text, in order."""
        return [block for block in self.blocks if block.kind is BlockKind.HEADING and block.label]

    @cached_property
    def prose(self) -> str:
        """The body with code, formulas and comments replaced by blanks; lengths and line numbers do not change."""
        text = self._without_code
        return _blanked(text, [(start, end) for _, start, end in _inline_spans(text)])

    @cached_property
    def text(self) -> str:
        """
        The body without comments, queries, templates of Logseq and the data of pictures; line numbers do not change.

        An unclosed comment is text. A template is a list item with the property ``template::``, and all below it.
        """
        codes = (block for block in self.blocks if block.kind is BlockKind.CODE)
        spans = [(code.start, code.end) for code in codes if code.label.lower() in _QUERY_FENCES]
        inline = _inline_spans(self._without_code) if any(map(self.body.__contains__, _NO_TEXT)) else ()
        spans += [(start, end) for mark, start, end in inline if mark in _NO_TEXT]
        if ";base64," in self.body:
            spans += [match.span() for match in re.finditer(r"(?<=;base64,)[\w+/=%-]{100,}", self.body)]
        for block in self.blocks if "template::" in self.body else ():
            lines = self.body[block.start : block.end].split("\n") if block.kind is BlockKind.ITEM else ()
            if any(line.lstrip("-*+ \t").startswith("template::") for line in lines):
                _, last = self.block_lines(block.start_line)
                spans.append((block.start, self._starts[last - self.first_line + 1] - 1))
        return _blanked(self.body, sorted(spans), "")

    @cached_property
    def _without_code(self) -> str:
        code = [(block.start, block.end) for block in self.blocks if block.kind is BlockKind.CODE]
        return _blanked(self.body, code)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 35 ms of every command that reads no note

    # Reference definitions, HTML blocks and underlined headings are read as paragraphs, so that their text is indexed.
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
    parser.disable(["reference", "html_block", "lheading"])
    parser.core.ruler.enableOnly(["block"])
    return parser


def _blanked(text: str, spans: Sequence[tuple[int, int]], blank: str = " ") -> str:
    parts, place = [], 0
    for start, end in spans:
        if start >= place:  # else it is inside of the one before
            parts += [text[place:start], re.sub("[^\n]", blank, text[start:end])]
            place = end
    return "".join([*parts, text[place:]])


def _inline_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """
    Yield the opening mark, the start and the end of each comment, query, formula and code between backticks.

    The part that begins first wins. A part without its closing mark is prose; code ends in its paragraph.
    """
    last = {mark: text.rfind(_NO_TEXT.get(mark, mark)) for mark in (*_NO_TEXT, "$$")}
    place = paragraph_end = 0
    while opening := _OPENING.search(text, place):
        mark, place = opening[0], opening.end()
        if mark[0] == "`":
            if paragraph_end < place:
                blank_line = _BLANK_LINE.search(text, place)
                paragraph_end = blank_line.start() if blank_line else len(text)
            closing = re.compile(f"(?<!`){mark}(?!`)").search(text, place, paragraph_end)
            place = closing.end() if closing else place
            is_closed = closing is not None
        elif is_closed := place <= last[mark]:
            place = text.index(_NO_TEXT.get(mark, mark), place) + len(_NO_TEXT.get(mark, mark))
        if is_closed:
            yield mark, opening.start(), place


def is_machine_text(text: str) -> bool:
    """Whether *text* has no word of its writer: empty items, properties and days of Logseq, embedded notes, links to days."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return all(line in "-*+" or _MACHINE_LINE.fullmatch(line.lstrip("-*+> ")) for line in lines)


def is_field(line: str, name: str = r"[^\W\d_][^:\n]{0,40}") -> bool:
    """Whether *line* is the field ``name:: value`` of Dataview or Logseq, by default of any name."""
    return "::" in line and re.match(rf"\s*(?:[-*+] )?{name}::\s", line) is not None


def column_names(header: str) -> str:
    """Return the names of the columns, separated by blanks."""
    return " ".join(filter(None, (cell.strip() for cell in header.split("|"))))


def is_delimiter(line: str) -> bool:
    """Whether *line* is the delimiter row between the header and the rows of a table."""
    return "|" in line and "-" in line and not line.strip(" \t|:-")


def header_at(body: str, offset: int) -> tuple[str, str] | None:
    """
    Return the two header lines of the table with the row that contains character *offset* of *body*.

    None if that line is no table row. Every line between a row and its header contains a ``|``.
    """
    row = body.count("\n", 0, offset)
    lines = body.split("\n", row + 1)[max(0, row - 2000) : row + 1]  # a longer table is data
    table = [*takewhile(lambda line: "|" in line, reversed(lines))]
    pairs = zip(table[2:], table[1:], strict=False)
    return next((pair for pair in pairs if is_delimiter(pair[1])), None)
