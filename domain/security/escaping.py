"""How text gets into the blocks that are put before an assistant, so that it can neither leave nor imitate them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clawmem.domain.security.disguise import BIDI, SELECTORS, TAGS, ZERO_WIDTH, unmask
from clawmem.domain.security.patterns import Pattern

_JOINERS = "\u200c\u200d"  # Persian and Indic words and families of emoji are spelt with them
_ANSI = Pattern(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[@-Z\\-_])"
)
_LINE_ENDS = Pattern("\r\n|[\r\x85\u2028\u2029\x0b\x0c]")
_UNWANTED = Pattern(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + f"{BIDI}{TAGS}{SELECTORS}{ZERO_WIDTH}]"
)
_WIDE_BRACKETS = str.maketrans("＜＞﹤﹥", "<><>")
_LOOKALIKE_OPEN = "‹〈〈⟨˂ᐸ❮❰《«≺⧼⟪"
_LOOKALIKE_TAG = Pattern(rf"[{_LOOKALIKE_OPEN}]\s*[/⁄∕⧸╱]?\s*(?P<name>[^\W\d_][\w-]{{2,24}})")
_OUR_TAGS = ("vault", "instruction", "facts", "relationships")
_ROLES = ("system", "assistant", "user", "human", "tool", "function", "antml")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
_ENTITY = Pattern("&(?:amp|lt|gt|quot|apos);")
_NAME = Pattern(r"[a-z][a-z0-9-]*")


def clean(text: str) -> str:
    """
    *text* without what a reader cannot see and an XML parser may refuse; cleaning twice changes nothing more.

    Gone are terminal sequences, control characters, NUL, lone surrogates, noncharacters, direction marks, tag
    characters and invisible characters, except a joiner between letters that may need it. Every line end is
    a line feed. Full-width angle brackets become plain ones, and so does any bracket that opens the look-alike
    of one of our tags or of a speaker's.
    """
    if not (text.isascii() and text.isprintable()):
        text = _ANSI.compiled.sub("", text)
        text = _LINE_ENDS.compiled.sub("\n", text)
        text = _UNWANTED.compiled.sub(_joiner_or_nothing, text).translate(_WIDE_BRACKETS)
        text = _LOOKALIKE_TAG.compiled.sub(_plain_bracket, text)
    return text


def _joiner_or_nothing(match: re.Match[str]) -> str:
    before, after = match.start() - 1, match.end()
    text = match.string
    inside = before >= 0 and after < len(text)
    needed = inside and match[0] in _JOINERS and _may_join(text[before]) and _may_join(text[after])
    return match[0] if needed else ""


def _may_join(character: str) -> bool:
    return character > "\u02ff" and not _UNWANTED.compiled.match(character)


def _plain_bracket(match: re.Match[str]) -> str:
    name = unmask(match["name"]).text
    return "<" + match[0][1:] if name.startswith((*_OUR_TAGS, *_ROLES)) else match[0]


def escape(text: str) -> str:
    """*text*, cleaned, as the content of an element."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(value: str) -> str:
    """*value*, cleaned and on one line, as what stands between the quotes of an attribute."""
    line = clean(value).replace("\n", " ").replace("\t", " ")
    return escape(line).replace('"', "&quot;").replace("'", "&apos;")


def unescape(text: str) -> str:
    """What a reader makes of escaped text: ``unescape(escape(text)) == clean(text)``."""
    return _ENTITY.compiled.sub(lambda match: _ENTITIES[match[0]], text)


def element(name: str, content: str, attributes: Mapping[str, str] | None = None) -> str:
    """
    ``<name key="value">content</name>``, where *content* is made of escaped text and other elements.

    Raises:
        ValueError: a name, of the element or an attribute, has other characters than ``a-z``, ``0-9`` and ``-``.
    """
    pairs = "".join(
        f' {_checked(key)}="{escape_attribute(value)}"' for key, value in (attributes or {}).items()
    )
    return f"<{_checked(name)}{pairs}>{content}</{name}>"


def _checked(name: str) -> str:
    if not _NAME.compiled.fullmatch(name):
        raise ValueError(f"not a name for an element or attribute: {name!r}")
    return name
