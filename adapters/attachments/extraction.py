from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from posixpath import splitext
from typing import Any

from clawmem.adapters.attachments.canvas import read_canvas
from clawmem.adapters.attachments.docx import read_docx
from clawmem.adapters.attachments.html import read_html
from clawmem.adapters.attachments.pages import DamagedFile, plain
from clawmem.ports.errors import ExtraMissing, SourceUnreadable
from clawmem.ports.files import ExtractedText

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
