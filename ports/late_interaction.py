"""Port for late interaction: comparison of a query with texts, word by word."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class WordSimilarities(NamedTuple):
    """
    Result of a word-by-word comparison.

    ``weights`` are the weights of the query words and sum to 1. ``nearest`` has one row per text: for each
    query word, the similarity of the most similar word of the text, in [0, 1].
    """

    weights: tuple[float, ...]
    nearest: tuple[tuple[float, ...], ...]


class LateInteraction(Protocol):
    """
    Model that matches words by meaning.

    Late interaction (Khattab & Zaharia 2020): query and text each have one vector per word, and are combined
    only when they are compared. Word order has no influence.
    """

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        """
        Compare *words*, the content words of a query, with each of *texts*, which are lists of words.

        The same words and text give the same numbers, independently of the other texts. A text or word unknown to
        the model has similarity 0 to everything.

        Returns:
            Rows in the order of *texts*, columns in the order of *words*; everything is empty if *words* is
            empty.
        """
