from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import splitext

from clawmem.adapters.attachments.canvas import read_canvas
from clawmem.adapters.attachments.docx import read_docx
from clawmem.adapters.attachments.html import read_html
from clawmem.adapters.attachments.pages import DamagedFile
from clawmem.adapters.attachments.pdf import read_pdf
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.text_extraction import ExtractedText

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
        return reader(data)
    except DamagedFile as error:
        raise SourceUnreadable(path, str(error)) from error
    except (
        Exception
    ) as error:  # parsers raise arbitrary exceptions for damaged files, including RecursionError
        reason = f"it is damaged ({type(error).__name__}); open it in its program and save it again"
        raise SourceUnreadable(path, reason) from error
