"""Cleaning and escaping of text for context blocks, so that it can neither close nor imitate their tags."""

import re

from clawmem.domain.security.disguise import unmask
from clawmem.domain.text.words import IGNORABLE

_JOINERS = "\u200c\u200d"  # used in Persian and Indic words and in emoji sequences
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[@-Z\\-_])"
)
_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029\x0b\x0c]")
_NONCHARACTERS = "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
_NOT_PRINTED = (
    f"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff{_NONCHARACTERS}{IGNORABLE}"
)
_WIDE = "＜＞﹤﹥"
_WIDE_BRACKETS = str.maketrans(_WIDE, "<><>")
_LOOKALIKE_OPEN = "‹〈〈⟨˂ᐸ❮❰《«≺⧼⟪"
# A bracket may become a plain one, which joins nothing.
_JOINABLE = f"[^\0-\u02ff{_WIDE}{_LOOKALIKE_OPEN}{_NOT_PRINTED}]"
_UNWANTED = re.compile(f"[{_NOT_PRINTED}](?<!(?<={_JOINABLE})[{_JOINERS}](?={_JOINABLE}))")
_LOOKALIKE_TAG = re.compile(rf"[{_LOOKALIKE_OPEN}]\s*[/⁄∕⧸╱]?\s*(?P<name>[^\W\d_][\w-]{{2,24}})")
# The names of tags of clawmem, and of speakers.
_IMITATED = tuple(
    "vault instruction facts relationships system assistant user human tool function antml".split()
)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}  # the ampersand last


def clean(text: str) -> str:
    """
    Return *text* without invisible characters and characters that an XML parser may reject. Idempotent.

    Removes terminal sequences, control characters, NUL, lone surrogates, noncharacters, direction marks, tag
    characters and invisible characters, except joiners between letters that may need them. Normalises every line end
    to a line feed. Replaces full-width angle brackets by plain ones, and also any look-alike bracket that opens an
    imitation of a clawmem tag or of a speaker's tag.
    """
    if not (text.isascii() and text.isprintable()):
        text = _ANSI.sub("", text)
        text = _LINE_ENDS.sub("\n", text)
        text = _UNWANTED.sub("", text).translate(_WIDE_BRACKETS)
        text = _LOOKALIKE_TAG.sub(
            lambda tag: f"<{tag[0][1:]}" if unmask(tag["name"]).text.startswith(_IMITATED) else tag[0], text
        )
    return text


def escape(text: str) -> str:
    """Return *text*, cleaned and escaped for use as element content."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Return *text* with its entities decoded: ``unescape(escape(text)) == clean(text)``."""
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text
