"""PDF, Word and canvas files with the texts that a test gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_STYLES = (
    f'<w:styles {_W}><w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    "</w:styles>"
)
_NUMBERING = (
    f'<w:numbering {_W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)
_CORE = (
    '<c:coreProperties xmlns:c="urn:core" xmlns:dc="urn:dc" xmlns:t="urn:terms">'
    "<dc:title>Hive plan</dc:title><t:modified>2024-05-06T07:08:09Z</t:modified></c:coreProperties>"
)


def pdf(pages: Sequence[str], title: str = "") -> bytes:
    """A PDF whose pages have the given lines, in one font."""
    parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for text in pages:
        rows = "".join(f"({line}) Tj T*\n" for line in text.splitlines())
        stream = f"BT /F1 12 Tf 14 TL 50 700 Td {rows} ET".encode("latin-1")
        parts.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        kids.append(len(parts) + 1)
        parts.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % len(parts)
        )
    parts[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(b"%d 0 R" % one for one in kids))
    parts.append(f"<</Title({title})/CreationDate(D:20240203040506Z)>>".encode("latin-1"))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, part in enumerate(parts, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % one for one in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF"
    return bytes(out) + end % (len(parts) + 1, table, len(parts) + 1, len(parts), len(out))


def docx(body: str, **others: str) -> bytes:
    """A Word document with the XML *body*; heading 1 has the identifier of a German Word."""
    parts = {
        "document": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        "styles": _STYLES,
        "numbering": _NUMBERING,
    }
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in (parts | others).items():
            archive.writestr(f"word/{name}.xml", text)
        archive.writestr("docProps/core.xml", _CORE)
    return file.getvalue()


def paragraph(text: str, style: str = "") -> str:
    """The XML of a paragraph."""
    return f"<w:p><w:pPr>{style}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def canvas(*nodes: dict[str, Any], edges: Sequence[dict[str, Any]] = ()) -> bytes:
    """A canvas of Obsidian."""
    return json.dumps({"nodes": nodes, "edges": edges}).encode()
