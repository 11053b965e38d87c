"""Safe display of names: on one line, without characters that move the cursor or reorder text."""

from __future__ import annotations

UNSHOWN = "\ufffd"
_JOINERS = "\u200c\u200d"  # needed to spell Persian and Indic words and emoji sequences


def one_line(name: str) -> str:
    """
    Return *name* on one line: line ends, tabs and other white space become spaces.

    Control characters, direction marks and other unprintable characters become ``U+FFFD``.
    """
    return name if name.isprintable() else "".join(map(_shown, name))


def _shown(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else UNSHOWN
