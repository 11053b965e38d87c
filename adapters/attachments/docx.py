from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from xml.etree.ElementTree import Element, fromstring
from zipfile import ZipFile

from clawmem.adapters.attachments.pages import DamagedFile, plain, table
from clawmem.ports.files import ExtractedText

MAX_BYTES = 80_000_000  # of one part, unpacked: a small archive can unpack to terabytes
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"\Aheading ([1-6])\Z|\Atitle\Z")
_WORDS = frozenset(f"{_W}{name}" for name in ("t", "tab", "br", "p"))
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
    blocks = [*_blocks(body, headings)]
    blocks += filter(None, (_text(row) for part in notes for row in part.iter(f"{_W}p")))
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


def _blocks(body: Element, headings: dict[str, int]) -> Iterator[str]:
    waiting = [body]
    while waiting:
        element = waiting.pop()
        if element.tag == f"{_W}p":
            text, properties = _text(element), element.find(f"{_W}pPr")
            if not text:
                continue
            if level := headings.get(_value(properties, "pStyle"), 0):
                yield f"{'#' * level} {text}"
            else:
                is_item = properties is not None and properties.find(f"{_W}numPr") is not None
                yield f"- {text}" if is_item else plain(text)
        elif element.tag == f"{_W}tbl":
            yield table([[*map(_text, row.findall(f"{_W}tc"))] for row in element.findall(f"{_W}tr")])
        else:
            waiting.extend(reversed(element))  # the body, or a control around paragraphs


def _value(element: Element | None, name: str) -> str:
    child = None if element is None else element.find(f"{_W}{name}")
    return "" if child is None else child.get(f"{_W}val", "")


def _text(element: Element) -> str:
    """Return the words of *element* in one line; text of deleted passages has another tag."""
    pieces = (
        (part.text or "") if part.tag == f"{_W}t" else " " for part in element.iter() if part.tag in _WORDS
    )
    return " ".join("".join(pieces).split())
