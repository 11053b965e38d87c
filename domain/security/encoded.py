"""Decoding of readable text hidden in base64, hexadecimal digits, escapes, ROT13 or reversed letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from clawmem.domain.security.patterns import Pattern

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROTATED = str.maketrans(
    _LETTERS + _LETTERS.lower(), _LETTERS[13:] + _LETTERS[:13] + _LETTERS[13:].lower() + _LETTERS[:13].lower()
)
_SIX_BITS = {letter: value for value, letter in enumerate(f"{_LETTERS}{_LETTERS.lower()}0123456789+/")}
_MOST_ENCODED = 4000  # characters of one run
_READABLE = 0.9  # minimum share of letters, digits, whitespace and punctuation

_BASE64 = Pattern(rf"[A-Za-z0-9+/_-]{{24,{_MOST_ENCODED}}}={{0,2}}")
_HEX = Pattern(rf"(?:[0-9a-fA-F]{{2}}[ :]?){{16,{_MOST_ENCODED // 2}}}")
_PERCENT = Pattern(rf"(?:%[0-9a-fA-F]{{2}}|[\w+.-]){{8,{_MOST_ENCODED}}}")
_ESCAPES = Pattern(
    rf"(?:\\u[0-9a-fA-F]{{4}}|\\x[0-9a-fA-F]{{2}}|&#x?[0-9a-fA-F]{{2,6}};|[ ]){{8,{_MOST_ENCODED}}}"
)
_ESCAPE = Pattern(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{2,6});|&#([0-9]{2,6});")
_ROT13 = Pattern(r"\b(?:gur|naq|nyy|lbhe|vafgehpgvbaf|cebzcg|frperg|hfre)\b", flags=re.IGNORECASE)
_REVERSED = Pattern(r"\b(?:eht|dna|ruoy|lla|snoitcurtsni|tpmorp|resu|drowssap)\b", flags=re.IGNORECASE)


class DecodedPart(NamedTuple):
    """Decoded text, and the offsets of its encoded form (*end* exclusive)."""

    text: str
    start: int
    end: int


def decoded_parts(text: str) -> Iterator[DecodedPart]:
    """Yield every run of *text* that decodes to readable text."""
    for pattern, decode in _DECODERS:
        for match in pattern.compiled.finditer(text):
            decoded = decode(match[0])
            if decoded and decoded != match[0] and _is_readable(decoded):
                yield DecodedPart(decoded, *match.span())
    if _counts(_ROT13, text):
        yield DecodedPart(text.translate(_ROTATED), 0, len(text))
    if _counts(_REVERSED, text):
        yield DecodedPart(text[::-1], 0, len(text))


def _counts(words: Pattern, text: str) -> bool:
    found = words.compiled.finditer(text)
    return next(found, None) is not None and next(found, None) is not None


def _from_base64(run: str) -> str:
    plain = run.translate(str.maketrans("-_", "+/")).rstrip("=")
    bits = "".join(f"{_SIX_BITS[letter]:06b}" for letter in plain)
    size = len(bits) // 8
    return _utf8(lambda: int(bits[: size * 8], 2).to_bytes(size, "big"))


def _from_hex(run: str) -> str:
    return _utf8(lambda: bytes.fromhex(run.replace(":", " ")))


def _from_percent(run: str) -> str:
    if "%" not in run:
        return ""
    return _utf8(lambda: re.sub(rb"%([0-9a-fA-F]{2})", lambda m: bytes.fromhex(m[1].decode()), run.encode()))


def _from_escapes(run: str) -> str:
    return _ESCAPE.compiled.sub(_escaped_character, run) if "\\" in run or "&#" in run else ""


def _escaped_character(match: re.Match[str]) -> str:
    unicode_, byte, entity, number = match.groups()
    code = int(number) if number else int(unicode_ or byte or entity, 16)
    return chr(code) if code < 0x110000 else ""


def _utf8(decode: Callable[[], bytes]) -> str:
    try:
        return decode().decode("utf-8")
    except ValueError:  # binary data, or not encoded at all
        return ""


def _is_readable(text: str) -> bool:
    plain = sum(one.isalnum() or one in " \n\t.,;:!?'\"/()@=_-~" for one in text)
    return len(text) >= 8 and plain >= _READABLE * len(text) and " " in text.strip()


_DECODERS: tuple[tuple[Pattern, Callable[[str], str]], ...] = (
    (_BASE64, _from_base64),
    (_HEX, _from_hex),
    (_PERCENT, _from_percent),
    (_ESCAPES, _from_escapes),
)
