from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from xml.etree.ElementTree import Element, fromstring
from zipfile import ZipFile

from clawmem.adapters.attachments.pages import MAX_CHARACTERS, DamagedFile, plain, table
from clawmem.ports.files import ExtractedText

MAX_BYTES = 4 * MAX_CHARACTERS  # of one part, unpacked: a small archive can unpack to terabytes
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
        body = _part(archive, "word/document.xml")
        if body is None:
            raise DamagedFile("it is no Word document; save it again in Word")
        notes = [_part(archive, f"word/{name}.xml") for name in ("footnotes", "endnotes")]
        core = _part(archive, "docProps/core.xml")
        headings = _heading_styles(_part(archive, "word/styles.xml"))
    blocks = list(_blocks(body, headings))
    rows = (row for part in notes if part is not None for row in part.iter(f"{_W}p"))
    blocks += filter(None, map(_text, rows))
    return ExtractedText("\n\n".join(blocks).replace("\n\n- ", "\n- "), *_declared(core))


def _part(archive: ZipFile, name: str) -> Element | None:
    """Return the parsed part *name*; ``None`` if it is missing."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        return None
    with archive.open(info) as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise DamagedFile(f"its text has more than {MAX_BYTES // 1_000_000} MB")
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:  # entities multiply; Word never writes any
        raise DamagedFile("it has XML entities, which no Word document has; save it again in Word")
    return fromstring(text)


def _heading_styles(styles: Element | None) -> dict[str, int]:
    """Return the levels of the styles of headings, by identifier; their names are English in every language."""
    levels: dict[str, int] = {}
    for style in () if styles is None else styles.iter(f"{_W}style"):
        name = _value(style, "name").lower()
        if found := _HEADING.match(name):
            levels[style.get(f"{_W}styleId", "")] = int(found[1] or 1)
    return levels


def _blocks(body: Element, headings: dict[str, int]) -> Iterator[str]:
    waiting = [body]
    while waiting:
        element = waiting.pop()
        if element.tag == f"{_W}p":
            text, properties = _text(element), element.find(f"{_W}pPr")
            level = headings.get(_value(properties, "pStyle"), 0)
            if text and level:
                yield f"{'#' * level} {text}"
            elif text:
                is_item = properties is not None and properties.find(f"{_W}numPr") is not None
                yield f"- {text}" if is_item else plain(text)
        elif element.tag == f"{_W}tbl":
            rows = [[_text(cell) for cell in row.findall(f"{_W}tc")] for row in element.findall(f"{_W}tr")]
            yield table(rows)
        else:
            waiting.extend(reversed(element))  # the body, or a control around paragraphs


def _value(element: Element | None, name: str) -> str:
    found = None if element is None else element.find(f"{_W}{name}")
    return "" if found is None else found.get(f"{_W}val", "")


def _text(element: Element) -> str:
    """Return the words of *element* in one line; text of deleted passages has another tag."""
    pieces = ((one.text or "") if one.tag == f"{_W}t" else " " for one in element.iter() if one.tag in _WORDS)
    return " ".join("".join(pieces).split())


def _declared(core: Element | None) -> tuple[str, str]:
    """Return the title and the day of the last change, from the properties of the document."""
    found = {} if core is None else {one.tag.rpartition("}")[2]: one.text or "" for one in core}
    day = _DAY.match(found.get("modified") or found.get("created") or "")
    return " ".join(found.get("title", "").split())[:200], day[0] if day else ""
