"""Texts the way llama.cpp takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clawmem.ports.errors import InputTooLong

Made = TypeVar("Made")

_CUTS = 4  # times that a text is shortened before it is given up
_MARGIN = 0.9  # tokens are not spread evenly over a text


def sendable(text: str) -> str:
    """*text* with what UTF-8 cannot hold (half a surrogate pair) as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fitted(text: str, ask: Callable[[str], Made]) -> Made:
    """
    What *ask* makes of *text*, or of as much of its beginning as the model reads.

    Raises:
        InputTooLong: it is not the text that is too long.
    """
    for _ in range(_CUTS):
        try:
            return ask(text)
        except InputTooLong as error:
            text = _shortened(text, error)
    return ask(text)


def _shortened(text: str, error: InputTooLong) -> str:
    share = error.limit / error.tokens if error.limit and error.tokens else 0.5
    return text[: max(1, int(len(text) * min(share, 1.0) * _MARGIN))]
