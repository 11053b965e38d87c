"""Visible text of web pages."""

from __future__ import annotations

import re
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
_SKIPPED = frozenset("head nav noscript script select style svg template textarea".split())
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


def read_html(data: bytes) -> ExtractedText:
    """Return the visible text of a page, with its headings, lists, tables and code."""
    declared = _CHARSET.search(data[:_HEAD])
    encodings = ["utf-8-sig", declared[1].decode() if declared else "cp1252", "latin-1"]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16", "latin-1"]
    page = _Page()
    for encoding in encodings:
        try:
            page.feed(data.decode(encoding))
            break
        except (UnicodeDecodeError, LookupError):
            continue
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
        self._skipped, self._depth = "", 0  # the invisible element, and its depth
        self._in_code = self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title |= tag == "title" and self._skipped in ("", "head")
        if tag in ("body", "main") and self._skipped == "head":
            self._skipped = ""
        if self._skipped:
            self._depth += tag == self._skipped
        elif tag in _SKIPPED or (tag not in _VOID and "hidden" in dict(attrs)):
            self._skipped, self._depth = tag, 1
        elif tag in ("td", "th"):
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
        self._in_title &= tag != "title"
        if self._skipped:
            self._depth -= tag == self._skipped
            if self._depth <= 0 or (self._skipped == "head" and tag == "html"):
                self._skipped = ""
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
            self.title += data
        elif not self._skipped:
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
