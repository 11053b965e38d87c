"""Text of attachments as Markdown: PDF, Word, web pages and canvases."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import unescape
from importlib import import_module
from io import BytesIO
from posixpath import splitext
from typing import Any
from xml.etree.ElementTree import fromstring
from zipfile import ZipFile

import nh3

from clawmem.ports.errors import ExtraMissing, SourceUnreadable
from clawmem.ports.files import ExtractedText
from clawmem.ports.json_text import read_json

EXTRA = "documents"
_MARK = re.compile(r"^(?=[ \t]*(?:#{1,6}(?:\s|$)|`{3}|~{3}|%%|<!--|\$\$|---\s*$))", re.MULTILINE)


class DamagedFile(Exception):
    """A file whose text cannot be read; the message is the reason, with the next step."""


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise ExtraMissing(package, extra=EXTRA) from error


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

_INVISIBLE = frozenset("nav noscript script select style svg template textarea title".split())
# Words are taken without marks, which a parser opens again in every paragraph. The next tag of `_ENDED` ends one.
_ENDED = frozenset("br caption dd dt h1 h2 h3 h4 h5 h6 hr li p tbody td tfoot th thead tr".split())
_NESTED = frozenset(
    "address article aside blockquote code del details div dl figcaption figure footer form header kbd main ol pre q"
    " samp section summary table ul".split()
)
MAX_DEPTH = 50  # of `_NESTED`: parsers take quadratic time, and markdownify recurs
_AMPERSAND = "\x1a"  # nh3 takes quadratic time for entities
_CORE = "docProps/core.xml"
MAX_XML, MAX_TAGS = 100_000_000, 2_000_000  # of a Word document; mammoth reads 25 000 tags a second


def read_docx(data: bytes) -> ExtractedText:
    """
    Return the text of a Word document, with its headings, lists, tables and notes; deleted text is left out.

    Raises:
        DamagedFile: it is encrypted or too large; mammoth raises others for damaged files.
        ExtraMissing: mammoth is not installed.
    """
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise DamagedFile("it is encrypted or of an old version of Word; save it as .docx without a password")
    mammoth = _imported("mammoth")
    with ZipFile(BytesIO(data)) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith((".xml", ".rels"))]
        size = sum(part.file_size for part in parts)
        if size > MAX_XML or sum(archive.read(part).count(b"<") for part in parts) > MAX_TAGS:
            raise DamagedFile(f"it unpacks to {size / 1e6:,.1f} MB of text and marks; split the document")
        core = fromstring(archive.read(_CORE)) if _CORE in archive.namelist() else ()
    style, image = "p[style-name='Title'] => h1:fresh", mammoth.images.img_element(lambda _: {})
    page = mammoth.convert_to_html(BytesIO(data), style_map=style, convert_image=image).value
    about = {element.tag.rpartition("}")[2]: element.text or "" for element in core}
    text = read_html(page.encode())
    title = " ".join(about.get("title", "").split())[:200]
    return text._replace(name=title, date=(about.get("modified") or about.get("created") or "")[:10])


def read_html(data: bytes) -> ExtractedText:
    """
    Return the visible text of a page, with headings, lists, tables and code.

    Raises:
        ExtraMissing: markdownify is not installed.
    """
    converter = _imported("markdownify").MarkdownConverter(
        heading_style="ATX", bullets="-", table_infer_header=True, escape_asterisks=False, escape_underscores=False
    )  # fmt: skip
    bs4 = _imported("bs4")
    markup = bs4.UnicodeDammit(data, is_html=True).unicode_markup or ""
    title = re.search(r"(?is)<title[^<>]*>([^<]*)", markup)
    attributes = {"ol": {"start"}, "td": {"colspan"}, "th": {"colspan"}}
    page = nh3.clean(
        _shallow(markup), tags={*_ENDED, *_NESTED}, clean_content_tags={*_INVISIBLE}, attributes=attributes
    )
    soup = bs4.BeautifulSoup(page.replace(_AMPERSAND, "&"), "html.parser")
    body = re.sub(r"\n{3,}", "\n\n", converter.convert_soup(soup)).strip()
    return ExtractedText(body, " ".join(unescape(title[1]).split())[:200] if title else "")


def _shallow(markup: str) -> str:
    """Return *markup* for nh3: with a line break for each tag deeper than `MAX_DEPTH`, and without marks of words."""
    counts = Counter[str]()

    def tag(match: re.Match[str]) -> str:
        end, name = match[1], match[2].lower()
        if name not in _NESTED:
            return match[0] if name in _ENDED or name in _INVISIBLE else f"<{end}wbr"
        is_deep = counts.total() - bool(end) >= MAX_DEPTH
        counts[name] = max(0, counts[name] + (-1 if end else 1))
        # `kbd` has the marks of `code` and is not opened again.
        return f"<{end}{'wbr' if end else 'br'}" if is_deep else f"<{end}kbd" if name == "code" else match[0]

    return re.sub(r"<(/?)([a-zA-Z][^\s/>]*)", tag, markup.replace("&", _AMPERSAND))


# -- canvases of Obsidian -------------------------------------------------------------------------------

MAX_HEADING = 60  # characters of a card's first line


def read_canvas(data: bytes) -> ExtractedText:
    """
    Return the cards of an Obsidian canvas in reading order, with the labels of groups as headings.

    Then come the labelled connections. A card with a note becomes an embed of that note. Damaged files raise any error.
    """
    canvas = read_json(data.decode("utf-8-sig") or "{}")  # Obsidian creates empty files
    nodes = sorted(canvas.get("nodes", ()), key=lambda node: (node["y"], node["x"]))
    names = {node.get("id"): _card_name(node) for node in nodes}
    connections = [
        f"- {names.get(edge['fromNode'], '')} → {names.get(edge['toNode'], '')}: {edge['label']}"
        for edge in canvas.get("edges", ())
        if edge.get("label")
    ]
    blocks = []
    for node in nodes:
        match node["type"]:
            case "text":
                text = node["text"].strip()
                first, _, rest = text.partition("\n")
                if text and not text.startswith("#"):
                    is_titled = rest.strip() and first.strip().strip("*_") == (title := _card_name(node))
                    text = f"## {title}\n\n{rest.strip()}" if is_titled else f"## Card\n\n{text}"
                blocks.append(text)
            case "file":
                blocks.append(f"## {node['file']}\n\n![[{node['file']}{node.get('subpath', '')}]]")
            case "link":
                blocks.append(f"## Link\n\n{node['url']}")
            case _:
                blocks.append(f"# {node.get('label') or 'Group'}")
    if connections:
        blocks += ["# Connections", "\n".join(connections)]
    return ExtractedText("\n\n".join(filter(None, blocks)), has_links=True)


def _card_name(node: Mapping[str, str]) -> str:
    """Return the first line of a card with words."""
    text = next(filter(None, (node.get(key) for key in ("text", "label", "file", "url"))), "")
    first = next(filter(None, (line.strip("#>*-_ \t") for line in text.splitlines())), "Card")
    return first if len(first) <= MAX_HEADING else f"{first[:MAX_HEADING].rsplit(' ', 1)[0]} …"


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
    except (DamagedFile, ExtraMissing) as error:
        raise SourceUnreadable(path, str(error), code=getattr(error, "code", None)) from error
    except Exception as error:  # parsers raise arbitrary exceptions for damaged files
        reason = f"it is damaged ({type(error).__name__}); open it in its program and save it again"
        raise SourceUnreadable(path, reason) from error
