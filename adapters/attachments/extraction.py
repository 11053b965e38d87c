from __future__ import annotations

import logging
import re
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
_ENCRYPTED = "it is encrypted; save a copy without a password"


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
    if reader.is_encrypted:
        try:
            is_open = reader.decrypt("")  # a file that only restricts printing or copying
        except Exception as error:  # a missing package for AES, or a damaged dictionary
            raise DamagedFile(_ENCRYPTED) from error
        if not is_open:
            raise DamagedFile(_ENCRYPTED)
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
_NAMED = re.compile(
    r"\.(?:avif|bmp|gif|heic|jpe?g|png|svg|tiff?|webp|3gp|aac|flac|m4a|mp3|oga|ogg|opus|wav|avi|m4v|mkv|mov|mp4|ogv|webm)\Z",
    re.IGNORECASE,
)


def extract_text(path: str, data: bytes) -> ExtractedText | None:
    """``TextExtractor`` for attachments."""
    if _NAMED.search(path):
        return ExtractedText("")
    reader = _READERS.get(splitext(path)[1].lower())
    if reader is None:
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
