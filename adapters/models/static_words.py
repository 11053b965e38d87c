"""Texts compared word by word, by the static vectors of their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from clawmem.adapters.models.static import StaticEmbedder
from clawmem.ports.late_interaction import Matches

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MOST_WORDS = 20_000  # kept with their vectors, 20 MB; then the vocabulary is begun anew


class StaticWords:
    """
    ``LateInteraction`` without a model run.

    A word is the sum of its tokens' vectors, and weighs what that sum is long: they were trained so that
    frequent words came out short. Nothing is stored of a text; the words that a process has met keep
    their vectors while it runs.
    """

    def __init__(self, embedder: StaticEmbedder | None = None, *, most_words: int = MOST_WORDS) -> None:
        """
        Args:
            embedder: Whose vectors are compared; None takes the installed ones, with the first comparison.
            most_words: That keep their vectors.
        """
        self._embedder = embedder
        self._most_words = most_words
        self._lock = Lock()  # two questions may come at once

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> Matches:
        """As the port says; raises `EmbeddingError` when the static vectors are missing."""
        if not words:
            return Matches((), tuple(() for _ in texts))
        with self._lock:
            asked, *written = self._vocabulary.numbers([words, *texts])
            vectors = self._vocabulary.vectors
        return _compared(vectors, asked, written)

    @cached_property
    def _vocabulary(self) -> _Vocabulary:
        return _Vocabulary(self._embedder or StaticEmbedder(), self._most_words)


@cache
def installed_words() -> StaticWords:
    """The words of this process, kept once for everybody who compares by the installed vectors."""
    return StaticWords()


class _Vocabulary:
    """The words met so far, numbered, each with its vector; number 0 stands for a text without words."""

    def __init__(self, embedder: StaticEmbedder, most_words: int) -> None:
        self._embedder = embedder
        self._most_words = most_words
        self._number: dict[str, int] = {}
        self._room: Floats = _zeros(1, embedder.dimensions)

    @property
    def vectors(self) -> Floats:
        """(words and one, dimensions), each where its number says."""
        return self._room[: len(self._number) + 1]

    def numbers(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """The numbers of every word of every text."""
        if len(self._number) > self._most_words:
            self._number, self._room = {}, _zeros(1, self._embedder.dimensions)
        number = self._number
        self._learn(sorted(set(chain.from_iterable(texts)) - number.keys()))
        return [[number[word] for word in text] or [0] for text in texts]

    def _learn(self, new: Sequence[str]) -> None:
        if not new:
            return
        sums = self._embedder.token_sums([f" {word}" for word in new])
        first = len(self._number) + 1
        self._make_room(first + len(new))
        self._room[first : first + len(new)] = sums
        self._number.update(zip(new, range(first, first + len(new)), strict=True))

    def _make_room(self, rows: int) -> None:
        if rows > len(self._room):  # by doubling, or every question with a new word would copy all the others
            known = self._room
            self._room = _zeros(max(rows, 2 * len(known)), self._embedder.dimensions)
            self._room[: len(known)] = known


def _zeros(rows: int, dimensions: int) -> Floats:
    import numpy as np

    return np.zeros((rows, dimensions), dtype=np.float32)


def _compared(vectors: Floats, asked: list[int], written: list[list[int]]) -> Matches:
    import numpy as np

    question = vectors[asked]
    weights = _lengths(question)
    if not written:
        return Matches(shares(weights.tolist()), ())
    starts = np.cumsum([0, *map(len, written[:-1])])
    known, nth = np.unique(np.fromiter(chain.from_iterable(written), dtype=np.int64), return_inverse=True)
    rows = vectors[known]
    cosines = _products(_unit(question, weights), _unit(rows, _lengths(rows)))  # (words, known)
    nearest = np.clip(np.maximum.reduceat(cosines[:, nth], starts, axis=1), 0, 1)
    return Matches(shares(weights.tolist()), tuple(map(tuple, nearest.T.tolist())))


def _products(left: Floats, right: Floats) -> Floats:
    import numpy as np

    # Not ``@``: its threads wait for each other longer than these few numbers take.
    products: Floats = np.einsum("ij,kj->ik", left, right)
    return products


def _lengths(rows: Floats) -> Floats:
    import numpy as np

    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths


def _unit(rows: Floats, lengths: Floats) -> Floats:
    import numpy as np

    unit: Floats = (rows / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32, copy=False)
    return unit


def shares(lengths: Sequence[float]) -> tuple[float, ...]:
    """How much each word tells, given the lengths of their vectors; they sum to 1."""
    total = sum(lengths)
    if not total:  # nothing is known of any word: none tells more than another
        return (1.0 / len(lengths),) * len(lengths)
    return tuple(length / total for length in lengths)
