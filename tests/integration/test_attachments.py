"""Attachments of notes: text of PDF, Word, HTML and canvas files, and the names of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from time import process_time
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from command_line import Invoke, ask_json, write_notes
from hypothesis import given
from hypothesis import strategies as st

from clawmem.adapters.attachments.extraction import extract_text
from clawmem.ports.errors import SourceUnreadable

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
    return f"<w:p><w:pPr>{style}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def canvas(*nodes: dict[str, Any], edges: Sequence[dict[str, Any]] = ()) -> bytes:
    return json.dumps({"nodes": nodes, "edges": edges}).encode()


PATTERN = "**/*.{md,pdf,docx,html,htm,canvas,png,m4a}"
TEXT = "# Apiary\n\nThe hives stand behind the orchard.\n"
W_HEADING = '<w:pStyle w:val="berschrift1"/>'
W_ITEM = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
PAGE = """<!doctype html><html><head><title>Swarm  control</title><style>p {}</style></head><body>
<nav>Home</nav><h2>Signs</h2><p>Queen cells hang at the <b>edge</b> of the comb.</p><script>var x = "hornet";</script>
<ul><li>less brood<li>idle bees</ul><table><tr><th>Week</th><th>Task</th></tr><tr><td>20</td><td>split|move</td></tr>
</table><pre># not a heading
  keep   blanks</pre><p># 5 hives &amp; more</p></body></html>"""

LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>{}]><x>&a9;</x>".format(
    "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
)


def extracted(path: str, data: bytes) -> str:
    return extract_text(path, data).body


@pytest.fixture
def vault(invoke: Invoke, tmp_path: Path) -> Path:
    folder = tmp_path / "bees"
    write_notes(folder, {"apiary.md": TEXT})
    invoke("collection", "add", folder, "--pattern", PATTERN)
    return folder


def put(folder: Path, **files: bytes) -> None:
    for name, data in files.items():
        (folder / name.replace("__", ".")).write_bytes(data)


def found(invoke: Invoke, question: str) -> Any:
    return ask_json(invoke, "query", question)["results"][0]


def test_a_pdf_is_found_by_its_page(invoke: Invoke, vault: Path) -> None:
    """Its title is the file name, its declared title another name, its day that of its making; get shows a page."""
    pages = ["Wax moths eat old comb.", "", "Feed sugar syrup in September.\nTwo parts to one."]
    put(vault, winter__pdf=pdf(pages, "Winter guide"))

    done = invoke("update").stdout

    assert "winter.pdf: 1 of its 3 pages have no text; if they are scans, add a text layer (OCR)." in done
    best = found(invoke, "when to feed sugar syrup")
    assert (best["file"], best["title"], best["heading"]) == ("bees/winter.pdf", "winter.pdf", "Page 3")
    assert best["authored_at"].startswith("2024-02-03")
    assert "Page 3" in invoke("query", "when to feed sugar syrup").stdout
    assert "Feed sugar syrup in September.\n" in invoke("get", "Winter guide").stdout
    assert invoke("doctor", "--verify").exit_code == 0
    assert "0 added, 0 updated" in invoke("update").stdout


def test_a_canvas_is_found_by_its_card_and_links_its_notes(invoke: Invoke, vault: Path) -> None:
    """Cards and groups stand in reading order; a card with a note is a link to it."""
    nodes = [
        {"id": "3", "type": "text", "text": "**Order foundation**\nof wax", "x": 10, "y": 50},
        {"id": "2", "type": "file", "file": "apiary.md", "x": 0, "y": 500},
        {"id": "1", "type": "group", "label": "Spring", "x": 0, "y": 0, "width": 100, "height": 100},
        {"id": "4", "type": "text", "text": "# Inspect\n\nLook for eggs of the queen.", "x": 10, "y": 10},
        {"id": "5", "type": "link", "url": "https://example.org/bees", "x": 0, "y": 900},
    ]  # fmt: skip
    edges = [{"fromNode": "4", "toNode": "3", "label": "then"}, {"fromNode": "4", "toNode": "2"}]
    put(vault, plan__canvas=canvas(*nodes, edges=edges))  # type: ignore[arg-type]

    invoke("update")

    assert invoke("get", "bees/plan.canvas").stdout.split("\n\n") == [
        "# Spring", "# Inspect", "Look for eggs of the queen.", "## Order foundation", "of wax",
        "## apiary.md", "![[apiary.md]]", "## Link", "https://example.org/bees", "# Connections",
        "- Inspect → Order foundation: then\n",
    ]  # fmt: skip
    assert found(invoke, "eggs of the queen")["heading"] == "Inspect"
    assert "plan.canvas" in invoke("links", "apiary").stdout


def test_word_documents(invoke: Invoke, vault: Path) -> None:
    """Headings in any language of Word, lists, tables, notes; no deleted text."""
    cells = "".join(f"<w:tc>{paragraph(one)}</w:tc>" for one in ("Hive", "Honey"))
    body = (
        paragraph("Harvest", W_HEADING)
        + paragraph("Spin the frames.")
        + paragraph("warm", W_ITEM)
        + paragraph("clean", W_ITEM)
        + f"<w:sdt><w:sdtContent><w:tbl><w:tr>{cells}</w:tr><w:tr>{cells}</w:tr></w:tbl></w:sdtContent></w:sdt>"
        + "<w:p><w:del><w:r><w:delText>never</w:delText></w:r></w:del><w:r><w:t>Robinia</w:t>"
        + '<w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    notes = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f'<w:footnote w:id="2">{paragraph("Acacia")}</w:footnote></w:footnotes>'
    )
    put(vault, harvest__docx=docx(body, footnotes=notes))

    invoke("update")

    assert invoke("get", "Hive plan").stdout == (
        "# Harvest\n\nSpin the frames.\n\n- warm\n- clean\n\n| Hive | Honey |\n| --- | --- |\n| Hive | Honey |\n\n"
        "Robinia[1]\n\n1. Acacia ↑\n"
    )
    assert found(invoke, "spin the frames")["authored_at"].startswith("2024-05-06")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_web_pages(encoding: str) -> None:
    """Visible text with headings, lists, tables and code, in the encoding that the page has."""
    page = extract_text("Saved.HTM", PAGE.replace("edge", "Rändern").encode(encoding))

    assert page is not None and page.name == "Swarm control"
    assert page.body == (
        "## Signs\n\nQueen cells hang at the Rändern of the comb.\n\n- less brood\n- idle bees\n\n"
        "| Week | Task |\n| --- | --- |\n| 20 | split|move |\n\n```\n# not a heading\n  keep   blanks\n```\n\n"
        "# 5 hives & more"
    )


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000,
        "<ul><li>x" * 2_000,
        "".join(f"<p><font size={number}>x" for number in range(5_000)),
        "<b><i>x</b></i>" * 10_000,
        "<pre>" + "&lt;p&gt; &amp;\n" * 10_000 + "</pre>",
        "<" * 100_000 + "\n>",
    ],
    ids=["nested", "lists", "marks", "crossed", "entities", "signs"],
)
def test_hostile_pages_are_read_in_seconds(invoke: Invoke, vault: Path, page: str) -> None:
    """Tags without an end, or thousands deep, lose no text; a parser of HTML 5 alone takes minutes and gigabytes."""
    put(vault, deep__html=f"{page}<p>The queen excluder lies above the brood.</p>".encode())
    start = process_time()

    invoke("update")

    assert process_time() - start < 10
    assert "queen excluder lies above" in found(invoke, "queen excluder")["snippet"]


def encrypted(password: str) -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer, out = PdfWriter(), BytesIO()
    writer.append(PdfReader(BytesIO(pdf(["Drone brood."]))))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (
            "a.pdf",
            b"%PDF-1.4 cut",
            "it is damaged (PdfStreamError); open it in its program and save it again",
        ),
        ("a.pdf", b"", "it is damaged (EmptyFileError)"),
        ("a.pdf", lambda: encrypted("secret"), "it is encrypted; save a copy without a password"),
        ("a.canvas", b'{"nodes": [', "it is damaged (JSONDecodeError); open it in its program"),
        ("a.canvas", b"[" * 100_000, "it is damaged (RecursionError)"),
        ("a.canvas", b"[]", "it is damaged (AttributeError)"),
        ("a.docx", b"no archive", "it is damaged (BadZipFile)"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + bytes(100), "it is encrypted or of an old version of Word"),
        ("a.docx", lambda: docx("</w:x>"), "it is damaged (ExpatError)"),
        ("a.docx", lambda: docx("", styles=LAUGHS), "it is damaged (ExpatError)"),
        (
            "a.docx",
            lambda: docx("", notes=" " * 100_000_000),
            "it unpacks to 100.0 MB of text and marks; split the document",
        ),
        (
            "a.docx",
            lambda: docx("<w:p/>" * 2_000_000),
            "it unpacks to 12.0 MB of text and marks; split the document",
        ),
    ],
    ids=range(12),
)
def test_damaged_files_are_named_with_the_next_step(
    invoke: Invoke, vault: Path, name: str, data: bytes | Callable[[], bytes], reason: str
) -> None:
    """The rest is indexed; a file that was read before keeps its text."""
    put(vault, **{name: data() if callable(data) else data})

    done = invoke("update")

    assert f"{name} was skipped: {reason}" in done.stdout and "1 added" in done.stdout
    assert invoke("doctor", "--verify").exit_code == 0
    assert reason in invoke("doctor", vault / name).stdout


@given(
    st.sampled_from(["a.pdf", "a.docx", "a.html", "a.canvas"]),
    st.one_of(st.binary(), st.text().map(str.encode)),
)
def test_any_bytes(path: str, data: bytes) -> None:
    """They have a text or a reason; nothing else is raised."""
    try:
        extracted(path, data)
    except SourceUnreadable as error:
        assert error.reason
