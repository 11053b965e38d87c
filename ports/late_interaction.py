"""Port: a question and a text, compared word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple


class Matches(NamedTuple):
    """
    What a comparison saw.

    ``weights`` say how much each word of the question tells, they sum to 1. ``nearest`` holds a row for
    each text: how near its nearest word comes to each word of the question, in [0, 1].
    """

    weights: tuple[float, ...]
    nearest: tuple[tuple[float, ...], ...]


class LateInteraction(Protocol):
    """
    Words that mean the same without being the same.

    Late interaction (Khattab & Zaharia 2020): both sides keep a vector a word, and meet only in the
    comparison. The order of the words plays no part.
    """

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> Matches:
        """
        Compare *words*, those of a question that mean something, with each of *texts*, given as its words.

        The same words and text give the same numbers, whatever other texts are there. A text, or a word,
        that the model knows nothing of is near to nothing: 0.

        Returns:
            Rows in the order of *texts*, columns in that of *words*; all empty for no words.
        """
        ...
