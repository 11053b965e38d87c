"""Text of a file: its encoding is recognised, and whether the file is text at all."""

from __future__ import annotations

import re
from typing import NamedTuple

_MARKS = (  # longest first: the mark of UTF-32 begins with that of UTF-16
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE = 4096  # bytes that show whether every other byte is zero
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Western European text has fewer bytes above ASCII; other alphabets and compressed data have more.
_MOST_ACCENTED = 0.4
_HALVES = re.compile(rb"\xed[\xa0-\xbf]")  # the beginning of an encoded surrogate
_REPLACEMENT = "\ufffd"
_REMEDY = "save it as UTF-8"


class DecodedText(NamedTuple):
    """The text of a file with LF line ends, and a warning unless the file is sound UTF-8."""

    text: str
    warning: str | None = None


def decode(data: bytes) -> DecodedText:
    """
    Return the text of a file.

    UTF-16 and UTF-32 are recognised by their byte order mark, UTF-16 also by zero bytes. UTF-8 with a few damaged
    characters is read without them. Other bytes are read as Latin-1 (Windows-1252) if they can be Western European
    text.

    Raises:
        ValueError: no text, or in an unknown encoding.
    """
    found = _wide(data) or _utf_8(data)
    return DecodedText(found.text.replace("\r\n", "\n"), found.warning)


def decoded_text(data: bytes) -> str:
    """Return the text of *data* in whatever encoding `decode` recognises."""
    return decode(data).text


def _wide(data: bytes) -> DecodedText | None:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "") or _unmarked(data)
    if not encoding:
        return None
    text = data.decode(encoding, "replace")
    damage = " with damaged characters" if _REPLACEMENT in text else ""
    return DecodedText(text, f"read as {encoding[:6].upper()}{damage}; {_REMEDY}")


def _unmarked(data: bytes) -> str:
    """Return the byte order of UTF-16 without a mark; Western text has zeros in nearly every other byte."""
    sample = data[:_SAMPLE]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = sample[start::2].count(0), sample[1 - start :: 2].count(0)
        if len(sample) >= 8 and len(data) % 2 == 0 and zeros > 0.8 * len(sample) / 2 and not others:
            return encoding
    return ""


def _utf_8(data: bytes) -> DecodedText:
    try:
        return DecodedText(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        at = error.start
    if _HALVES.search(data) and (text := _joined(data)) is not None:
        return DecodedText(text, f"read as UTF-8 with encoded surrogates (CESU-8); {_REMEDY}")
    unknown = f"it is not UTF-8 text (byte {at}); {_REMEDY}"
    if _CONTROL.search(data):
        raise ValueError(unknown)
    text = data.decode("utf-8", "replace")
    damaged = text.count(_REPLACEMENT)
    if sum(not one.isascii() for one in text) > 2 * damaged:
        line = data.count(b"\n", 0, at) + 1
        return DecodedText(
            text, f"damaged characters: {damaged}, the first in line {line}; correct them and {_REMEDY}"
        )
    if sum(byte >= 0x80 for byte in data) > _MOST_ACCENTED * len(b"".join(data.split())):
        raise ValueError(unknown)
    return DecodedText(_western(data), f"read as Latin-1 (byte {at} is not UTF-8); {_REMEDY}")


def _joined(data: bytes) -> str | None:
    """Return UTF-8 whose characters above U+FFFF were encoded as two halves; a half alone becomes U+FFFD."""
    try:
        halves = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
