"""Text of a file: its encoding is recognised, and whether the file is text at all."""

_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # of UTF-16 and UTF-32
_CONTROL = bytes({*range(0x20), 0x7F} - {*b"\t\n\v\f\r\x1b"})
_REMEDY = "save it as UTF-8"


def decode(data: bytes) -> tuple[str, str | None]:
    """
    Return the text of a file with LF line ends, and a warning unless the file is sound UTF-8.

    UTF-8 with a few damaged characters is read without them. Bytes that can be Western European text are read as
    Windows-1252, since a short text is too little for charset-normalizer, which guesses all others by their letters.

    Raises:
        ValueError: no text, or in an unknown encoding.
    """
    sample = data[:4096]  # in UTF-16 and UTF-32 many bytes are zero
    is_wide = data.startswith(_MARKS) or 4 * sample.count(0) > len(sample)
    text, warning = _recognised(data) if is_wide else _utf_8(data)
    if 4 * text.count("\0") > len(text):
        raise ValueError(f"it is no text but zero bytes; {_REMEDY}")
    return text.replace("\r\n" if "\n" in text else "\r", "\n"), warning  # old Mac files have CR alone


def _utf_8(data: bytes) -> tuple[str, str | None]:
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        at = error.start
    if len(data.translate(None, _CONTROL)) < len(data):
        raise ValueError(f"it is not UTF-8 text (byte {at}); {_REMEDY}")
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    if sum(not sign.isascii() for sign in text) >= 2 * damaged:
        line = data.count(b"\n", 0, at) + 1
        return text, f"damaged characters: {damaged}, the first in line {line}; correct them and {_REMEDY}"
    # Western European text has fewer bytes above ASCII; other alphabets and compressed data have more.
    if sum(byte >= 0x80 for byte in data) > 0.4 * len(b"".join(data.split())):
        return _recognised(data)
    return data.decode("cp1252", "replace"), f"read as Latin-1, a guess (byte {at} is not UTF-8); {_REMEDY}"


def _recognised(data: bytes) -> tuple[str, str | None]:
    from charset_normalizer import from_bytes

    match = max(from_bytes(data), key=lambda match: match.coherence > 0, default=None)
    if match is None:
        raise ValueError(f"it is no text in a known encoding; {_REMEDY}")
    name = match.encoding.upper().replace("_", "-")
    guess = "" if data.startswith(_MARKS) else ", a guess"
    return str(match), None if name in ("ASCII", "UTF-8") else f"read as {name}{guess}; {_REMEDY}"
