from __future__ import annotations

import re
from html.parser import HTMLParser

from clawmem.adapters.attachments.pages import plain, table
from clawmem.ports.text_extraction import ExtractedText

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page declares its encoding
_BLOCKS = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3"
    " h4 h5 h6 header hr html li main ol p pre section summary table tbody tfoot thead tr ul".split()
)
_SKIPPED = frozenset("head nav noscript script select style svg template textarea".split())
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_HEADING = re.compile(r"\Ah([1-6])\Z")
_BLANKS = re.compile(r"\s+")


def read_html(data: bytes) -> ExtractedText:
    """Return the visible text of a page, with its headings, lists, tables and code."""
    reader = _PageReader()
    reader.feed(_decoded(data))
    reader.close()
    return ExtractedText(reader.text(), reader.title())


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    declared = _CHARSET.search(data[:_HEAD])
    for encoding in ("utf-8-sig", declared[1].decode() if declared else "cp1252"):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


class _PageReader(HTMLParser):
    """Collector of blocks of text."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._prefix = ""
        self._cells: list[str] | None = None
        self._rows: list[list[str]] = []
        self._skipping = ""
        self._depth = 0
        self._in_code = self._in_title = False
        self._title: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and self._skipping in ("", "head"):
            self._in_title = True
        if self._skipping:
            self._depth += tag == self._skipping
        elif tag in _SKIPPED or (tag not in _VOID and "hidden" in dict(attrs)):
            self._skipping, self._depth = tag, 1
        elif tag in _BLOCKS:
            self._begin(tag)
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag == "br":
            self._words.append("\n" if self._in_code else " ")

    def handle_endtag(self, tag: str) -> None:
        self._in_title = self._in_title and tag != "title"
        if self._skipping:
            self._depth -= tag == self._skipping
            if self._depth <= 0 or (self._skipping == "head" and tag == "html"):
                self._skipping = ""
        elif tag in _BLOCKS:
            self._end(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._skipping:
            self._words.append(data)

    def title(self) -> str:
        """Return the title that the page declares."""
        return _line("".join(self._title))[:200]

    def text(self) -> str:
        """Return the blocks so far, with blank lines between them, except in lists."""
        self._flush()
        return "".join(self._blocks).strip().replace("\n\n- ", "\n- ")

    def _begin(self, tag: str) -> None:
        if tag in ("body", "main") and self._skipping == "head":
            self._skipping = ""
        self._flush()
        heading = _HEADING.match(tag)
        if heading:
            self._prefix = "#" * int(heading[1]) + " "
        elif tag == "li":
            self._prefix = "- "
        elif tag == "tr":
            self._cells = []
        elif tag == "pre":
            self._in_code = True

    def _end(self, tag: str) -> None:
        if tag == "tr" and self._cells is not None:
            self._end_cell()
            self._rows.append(self._cells[1:])
            self._cells = None
        self._flush()
        self._in_code = self._in_code and tag != "pre"
        if tag == "table" and self._rows:
            self._blocks.append(f"\n\n{table(self._rows)}")
            self._rows = []

    def _end_cell(self) -> None:
        """End a cell of the row; text before its first cell becomes a cell that is dropped."""
        if self._cells is not None:
            self._cells.append(_line("".join(self._words)))
            self._words = []

    def _flush(self) -> None:
        if self._cells is not None:
            self._words.append(" ")
            return
        text = "".join(self._words)
        self._words = []
        if self._in_code and text.strip():
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            self._blocks.append(f"\n\n{fence}\n{text.strip(chr(10))}\n{fence}")
        elif line := _line(text):
            self._blocks.append(f"\n\n{self._prefix}{line if self._prefix else plain(line)}")
            self._prefix = ""


def _line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()
