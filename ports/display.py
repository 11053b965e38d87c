"""Names as they may be displayed: on one line, without characters that move a cursor or reorder text."""

from __future__ import annotations

UNSHOWN = "\ufffd"
_JOINERS = "\u200c\u200d"  # Persian and Indic words and families of emoji are spelt with them


def one_line(name: str) -> str:
    """
    *name* on one line: line ends, tabs and other white space become blanks.

    Control characters, direction marks and other characters that have no shape become ``U+FFFD``.
    """
    return name if name.isprintable() else "".join(map(_shown, name))


def _shown(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else UNSHOWN
