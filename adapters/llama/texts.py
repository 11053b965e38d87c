"""Preparation of texts for llama.cpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clawmem.ports.errors import InputTooLong

Made = TypeVar("Made")

_CUTS = 4  # number of times that a text is shortened before giving up
_MARGIN = 0.9  # tokens are not spread evenly over a text


def sendable(text: str) -> str:
    """Return *text* with question marks for characters that UTF-8 cannot encode (unpaired surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fitted(text: str, ask: Callable[[str], Made]) -> Made:
    """
    Return the result of *ask* for *text*, or for the longest beginning of it that the model accepts.

    Raises:
        InputTooLong: even the shortened text does not fit.
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
