"""Text of attachments as Markdown: PDF, Word, web pages and canvases."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from io import BytesIO
from posixpath import splitext
from typing import Any
from xml.etree.ElementTree import Element, fromstring
from zipfile import ZipFile

from clawmem.ports.errors import ExtraMissing, SourceUnreadable
from clawmem.ports.files import ExtractedText

BAR = r"\|"
_MARK = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:\s|$)|`{3}|~{3}|%%|<!--|\$\$|---\s*$))", re.MULTILINE)


class DamagedFile(Exception):
    """A file whose text cannot be read; the message is the reason, with the next step."""


def plain(text: str) -> str:
    """Return *text* with a backslash before marks at the start of a line, which are words and no Markdown."""
    return _MARK.sub(r"\\", text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first row contains the names of the columns; one column becomes paragraphs."""
    filled = [row for row in rows if any(row)]
    width = max(map(len, filled), default=0)
    if width < 2:
        return "\n\n".join(plain(cell) for row in filled for cell in row)
    lines = [f"| {' | '.join(cell.replace('|', BAR) for cell in row)} |" for row in filled]
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])


# -- PDF ------------------------------------------------------------------------------------------------

EXTRA = "documents"


def read_pdf(data: bytes) -> ExtractedText:
    """
    Return the text of a PDF, with a heading for each page.

    Raises:
        DamagedFile: it is encrypted, or pypdf is not installed. pypdf raises others for damaged files.
    """
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise DamagedFile(str(ExtraMissing("pypdf", extra=EXTRA)).rstrip(".")) from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it prints every oddity of every file
    reader = PdfReader(BytesIO(data))
    is_open = not reader.is_encrypted
    with suppress(Exception):  # a missing package for AES, or a damaged dictionary
        is_open = is_open or bool(reader.decrypt(""))  # a file that only restricts printing or copying
    if not is_open:
        raise DamagedFile("it is encrypted; save a copy without a password")
    pages = [page.extract_text().strip() for page in reader.pages]
    empty = pages.count("")
    warning = None
    if empty:
        warning = f"{empty} of its {len(pages)} pages have no text; if they are scans, add a text layer (OCR)"
    title = date = ""
    with suppress(Exception):  # the metadata may be damaged where the pages are sound
        metadata: Any = reader.metadata
        title = " ".join(str(metadata.title or "").split())[:200]
        date = metadata.creation_date.date().isoformat()
    body = "\n\n".join(f"# Page {number}\n\n{plain(text)}" for number, text in enumerate(pages, 1) if text)
    return ExtractedText(body, title, date, warning=warning)


# -- Word -----------------------------------------------------------------------------------------------

MAX_BYTES = 80_000_000  # of one part, unpacked: a small archive can unpack to terabytes
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"\Aheading ([1-6])\Z|\Atitle\Z")
_WORD_TAGS = frozenset(f"{_W}{name}" for name in ("t", "tab", "br", "p"))
_DAY = re.compile(r"\A\d{4}-\d{2}-\d{2}")


def read_docx(data: bytes) -> ExtractedText:
    """
    Return the text of a Word document, with its headings, lists, tables and notes; deleted text is left out.

    Raises:
        DamagedFile: it is encrypted, too large or no Word document. Others are raised for damaged archives.
    """
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise DamagedFile(
            "it is encrypted or of an old version of Word; save a copy as .docx without a password"
        )
    with ZipFile(BytesIO(data)) as archive:
        names = "word/document word/footnotes word/endnotes word/styles docProps/core".split()
        body, *notes, styles, core = (_part(archive, f"{name}.xml") for name in names)
    headings = {
        style.get(f"{_W}styleId", ""): int(heading[1] or 1)  # the names are English in every language
        for style in styles.iter(f"{_W}style")
        if (heading := _HEADING.match(_value(style, "name").lower()))
    }
    blocks = [*_word_blocks(body, headings)]
    blocks += filter(None, (_words(row) for part in notes for row in part.iter(f"{_W}p")))
    about = {element.tag.rpartition("}")[2]: element.text or "" for element in core}
    day = _DAY.match(about.get("modified") or about.get("created") or "")
    title = " ".join(about.get("title", "").split())[:200]
    return ExtractedText("\n\n".join(blocks).replace("\n\n- ", "\n- "), title, day[0] if day else "")


def _part(archive: ZipFile, name: str) -> Element:
    """Return the parsed part *name*; empty if it is missing."""
    if name not in archive.namelist():
        if name == "word/document.xml":
            raise DamagedFile("it is no Word document; save it again in Word")
        return Element("missing")
    with archive.open(name) as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise DamagedFile(f"its text has more than {MAX_BYTES // 1_000_000} MB")
    return fromstring(text)


def _word_blocks(body: Element, headings: dict[str, int]) -> Iterator[str]:
    waiting = [body]
    while waiting:
        element = waiting.pop()
        if element.tag == f"{_W}p":
            text, properties = _words(element), element.find(f"{_W}pPr")
            if not text:
                continue
            if level := headings.get(_value(properties, "pStyle"), 0):
                yield f"{'#' * level} {text}"
            else:
                is_item = properties is not None and properties.find(f"{_W}numPr") is not None
                yield f"- {text}" if is_item else plain(text)
        elif element.tag == f"{_W}tbl":
            yield table([[*map(_words, row.findall(f"{_W}tc"))] for row in element.findall(f"{_W}tr")])
        else:
            waiting.extend(reversed(element))  # the body, or a control around paragraphs


def _value(element: Element | None, name: str) -> str:
    child = None if element is None else element.find(f"{_W}{name}")
    return "" if child is None else child.get(f"{_W}val", "")


def _words(element: Element) -> str:
    """Return the words of *element* in one line; text of deleted passages has another tag."""
    pieces = (
        (part.text or "") if part.tag == f"{_W}t" else " "
        for part in element.iter()
        if part.tag in _WORD_TAGS
    )
    return " ".join("".join(pieces).split())


# -- web pages ------------------------------------------------------------------------------------------

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page declares its encoding
_HTML_BLOCKS = frozenset(
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
        elif tag in _HTML_BLOCKS:
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
        if tag in _HTML_BLOCKS:
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


# -- canvases of Obsidian -------------------------------------------------------------------------------

MAX_HEADING = 60  # characters of a card's first line

Node = Mapping[str, Any]


def read_canvas(data: bytes) -> ExtractedText:
    """
    Return the cards of an Obsidian canvas, each below its group; then the labelled connections.

    A card with a note becomes an embed of that note.

    Raises:
        DamagedFile: it is no JSON, or no canvas.
    """
    try:
        canvas = json.loads(data.decode("utf-8-sig") or "{}")  # Obsidian creates empty files
    except (ValueError, RecursionError) as error:
        raise DamagedFile("it is no JSON; open it in Obsidian and save it again") from error
    if not isinstance(canvas, dict):
        raise DamagedFile("it is no canvas: its JSON is no object")
    nodes = [node for node in _list(canvas, "nodes") if _line(node, "type")]
    names = {_line(node, "id"): _name(node) for node in nodes}
    connections = [
        f"- {names.get(_line(edge, 'fromNode'), '')} → {names.get(_line(edge, 'toNode'), '')}: {label}"
        for edge in _list(canvas, "edges")
        if (label := _line(edge, "label"))
    ]
    blocks = [*_groups(nodes), *(["# Connections", "\n".join(connections)] if connections else [])]
    return ExtractedText("\n\n".join(blocks), has_links=True)


def _groups(nodes: list[Node]) -> Iterator[str]:
    """Yield the cards outside of groups, then those of each group below its label, in reading order."""
    ordered = sorted(nodes, key=lambda node: (_coordinate(node, "y"), _coordinate(node, "x")))
    groups = [node for node in ordered if node["type"] == "group"]
    cards_of: dict[int, list[str]] = {number: [] for number in range(-1, len(groups))}
    for node in ordered:
        around = [number for number, group in enumerate(groups) if _is_inside(node, group)]
        cards_of[around[-1] if around else -1].append(_card(node))  # the innermost begins last
    for number, cards in cards_of.items():
        if texts := [text for text in cards if text]:
            if number >= 0:
                yield f"# {_line(groups[number], 'label') or 'Group'}"
            yield from texts


def _card(node: Node) -> str:
    match node["type"]:
        case "text":
            text = str(node.get("text", "")).strip()
            return text if not text or text.startswith("#") else f"## {_name(node)}\n\n{text}"
        case "file":
            file = _line(node, "file")
            return f"## {file}\n\n![[{file}{_line(node, 'subpath')}]]" if file else ""
        case "link":
            return f"## Link\n\n{_line(node, 'url')}"
        case _:
            return ""


def _name(node: Node) -> str:
    """Return the first line of a card with words, as the heading that its text may need."""
    text = next(filter(None, (node.get(key) for key in ("text", "label", "file", "url"))), "")
    first = next(filter(None, (line.strip("#>*-_ \t") for line in str(text).splitlines())), "Card")
    return first if len(first) <= MAX_HEADING else f"{first[:MAX_HEADING].rsplit(' ', 1)[0]} …"


def _line(node: Node, key: str) -> str:
    """Return a text in one line."""
    value = node.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list(canvas: Node, key: str) -> list[Node]:
    value = canvas.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _coordinate(node: Node, key: str) -> float:
    value = node.get(key)
    return value if isinstance(value, int | float) else 0


def _is_inside(card: Node, group: Node) -> bool:
    return all(
        _coordinate(group, start)
        <= _coordinate(card, start)
        < _coordinate(group, start) + _coordinate(group, size)
        for start, size in (("x", "width"), ("y", "height"))
    )


# -- all formats ----------------------------------------------------------------------------------------

_READERS: dict[str, Callable[[bytes], ExtractedText]] = {
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".html": read_html,
    ".htm": read_html,
    ".canvas": read_canvas,
}
# Pictures, recordings and films are found by their names.
_NAMED = frozenset(
    ".avif .bmp .gif .heic .jpg .jpeg .png .svg .tif .tiff .webp .3gp .aac .flac .m4a .mp3 .oga .ogg .opus .wav .avi .m4v"
    " .mkv .mov .mp4 .ogv .webm".split()
)


def extract_text(path: str, data: bytes) -> ExtractedText | None:
    """``TextExtractor`` for attachments."""
    ending = splitext(path)[1].lower()
    if ending in _NAMED:
        return ExtractedText("")
    if not (reader := _READERS.get(ending)):
        return None
    try:
        read = reader(data)
        body, name = (text.encode("utf-8", "replace").decode() for text in (read.body, read.name))
        return read._replace(body=body, name=name)  # without halves of characters
    except DamagedFile as error:
        raise SourceUnreadable(path, str(error)) from error
    except Exception as error:  # parsers raise arbitrary exceptions for damaged files
        reason = f"it is damaged ({type(error).__name__}); open it in its program and save it again"
        raise SourceUnreadable(path, reason) from error
