"""Visible text of web pages."""

from __future__ import annotations

import re
from contextlib import suppress
from html.parser import HTMLParser

from clawmem.adapters.attachments.pages import plain, table
from clawmem.ports.files import ExtractedText

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page declares its encoding
_BLOCKS = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3"
    " h4 h5 h6 header hr html li main ol p pre section summary table tbody tfoot thead tr ul".split()
)
_PREFIXES = {"li": "- ", **{f"h{level}": f"{'#' * level} " for level in range(1, 7)}}
_INVISIBLE = frozenset("nav noscript script select style svg template textarea".split())


def read_html(data: bytes) -> ExtractedText:
    """Return the visible text of a page, with its headings, lists, tables and code."""
    declared = _CHARSET.search(data[:_HEAD])
    marked = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    page = _Page()
    for encoding in (marked, declared[1].decode() if declared else "cp1252", "latin-1"):
        with suppress(UnicodeDecodeError, LookupError):
            page.feed(data.decode(encoding))
            break
    page.close()
    page.end_block()
    body = "\n\n".join(page.blocks).replace("\n\n- ", "\n- ")
    return ExtractedText(body, " ".join(page.title.split())[:200])


class _Page(HTMLParser):
    """Collector of the blocks of text, and of the title, of a page whose end tags may be missing."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.title = ""
        self._words: list[str] = []
        self._prefix = ""
        self._cells: list[str] | None = None  # of the open row
        self._rows: list[list[str]] = []
        self._invisible = 0  # open elements
        self._in_code = self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._invisible += tag in _INVISIBLE
        self._in_title = tag == "title"
        if self._invisible:
            return
        if tag in ("td", "th"):
            self._end_cell()
        elif tag == "br":
            self._words.append("\n" if self._in_code else " ")
        elif tag in _BLOCKS:
            self.end_block()
            self._prefix = _PREFIXES.get(tag, self._prefix)
            self._in_code |= tag == "pre"
            if tag == "tr":
                self._cells = []

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if self._invisible:
            self._invisible -= tag in _INVISIBLE
            return
        if tag == "tr" and self._cells is not None:
            self._end_cell()
            self._rows.append(self._cells[1:])
            self._cells = None
        if tag in _BLOCKS:
            self.end_block()
        self._in_code &= tag != "pre"
        if tag == "table" and self._rows:
            self.blocks.append(table(self._rows))
            self._rows = []

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += "" if self._invisible else data
        elif not self._invisible:
            self._words.append(data)

    def _end_cell(self) -> None:
        """End a cell of the row; text before its first cell becomes a cell that is dropped."""
        if self._cells is not None:
            self._cells.append(" ".join("".join(self._words).split()))
            self._words = []

    def end_block(self) -> None:
        """Add the text since the last block as one; in a row it stays part of the cell."""
        if self._cells is not None:
            self._words.append(" ")
            return
        text, self._words = "".join(self._words), []
        line = " ".join(text.split())
        if self._in_code and line:
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            self.blocks.append(f"{fence}\n{text.strip(chr(10))}\n{fence}")
        elif line:
            self.blocks.append(self._prefix + line if self._prefix else plain(line))
            self._prefix = ""
