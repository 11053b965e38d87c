"""Text of attachments as Markdown: PDF, Word, web pages and canvases."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from posixpath import splitext
from typing import Any
from xml.etree.ElementTree import fromstring
from zipfile import ZipFile

from clawmem.ports.errors import ExtraMissing, SourceUnreadable
from clawmem.ports.files import ExtractedText

EXTRA = "documents"
_MARK = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:\s|$)|`{3}|~{3}|%%|<!--|\$\$|---\s*$))", re.MULTILINE)


class DamagedFile(Exception):
    """A file whose text cannot be read; the message is the reason, with the next step."""


def _imported(package: str) -> Any:
    """Import *package*; raise `DamagedFile` if it is not installed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise DamagedFile(str(ExtraMissing(package, extra=EXTRA)).rstrip(".")) from error


# -- PDF ------------------------------------------------------------------------------------------------


def read_pdf(data: bytes) -> ExtractedText:
    """
    Return the text of a PDF, with a heading for each page.

    Raises:
        DamagedFile: it is encrypted, or pypdf is not installed. pypdf raises others for damaged files.
    """
    pypdf = _imported("pypdf")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it prints every oddity of every file
    reader = pypdf.PdfReader(BytesIO(data))
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
    # a backslash before marks at the start of a line, which are words and no Markdown
    texts = [_MARK.sub(r"\\", text) for text in pages]
    body = "\n\n".join(f"# Page {number}\n\n{text}" for number, text in enumerate(texts, 1) if text)
    return ExtractedText(body, title, date, warning=warning)


# -- Word and web pages ---------------------------------------------------------------------------------

_INVISIBLE = ("nav", "noscript", "script", "select", "style", "svg", "template", "textarea", "title", "img")
_FORMATS = ["a", "b", "em", "i", "strong"]  # whose words are taken without marks
_CORE = "docProps/core.xml"


def read_docx(data: bytes) -> ExtractedText:
    """
    Return the text of a Word document, with its headings, lists, tables and notes; deleted text is left out.

    Raises:
        DamagedFile: it is encrypted, or mammoth is not installed. mammoth raises others for damaged files.
    """
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise DamagedFile(
            "it is encrypted or of an old version of Word; save a copy as .docx without a password"
        )
    mammoth = _imported("mammoth")
    page = mammoth.convert_to_html(BytesIO(data), style_map="p[style-name='Title'] => h1:fresh").value
    with ZipFile(BytesIO(data)) as archive:
        core = fromstring(archive.read(_CORE)) if _CORE in archive.namelist() else ()
    about = {element.tag.rpartition("}")[2]: element.text or "" for element in core}
    text = read_html(page.encode())
    title = " ".join(about.get("title", "").split())[:200]
    return text._replace(name=title, date=(about.get("modified") or about.get("created") or "")[:10])


def read_html(data: bytes) -> ExtractedText:
    """
    Return the visible text of a page, with its headings, lists, tables and code.

    Raises:
        DamagedFile: markdownify is not installed.
    """
    converter = _imported("markdownify").MarkdownConverter(
        heading_style="ATX", bullets="-", strip=_FORMATS, table_infer_header=True,
        escape_asterisks=False, escape_underscores=False,
    )  # fmt: skip
    bs4 = _imported("bs4")
    page = bs4.BeautifulSoup(bs4.UnicodeDammit(data, is_html=True).unicode_markup or "", "html5lib")
    title = page.title.get_text() if page.title else ""
    for element in page(_INVISIBLE):
        element.decompose()
    body = re.sub(r"\n{3,}", "\n\n", converter.convert_soup(page)).strip()
    return ExtractedText(body, " ".join(title.split())[:200])


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
