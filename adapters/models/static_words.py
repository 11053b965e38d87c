"""Word-by-word comparison of texts with static vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from clawmem.adapters.models.static import StaticEmbedder
from clawmem.ports.models import WordSimilarities

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MOST_WORDS = 12_000  # words whose vectors are cached, 12 MB; above this number the cache is emptied


class StaticWords:
    """
    ``LateInteraction`` without running a model.

    The vector of a word is the sum of its token vectors, and the weight of a word is the length of that sum:
    training made frequent words short. Nothing is stored about texts; the vectors of words are cached in the
    process.
    """

    def __init__(self, embedder: StaticEmbedder | None = None, *, most_words: int = MOST_WORDS) -> None:
        """
        Create the comparison; the vectors are loaded on first use.

        Args:
            embedder: Embedder whose vectors are compared; None for the installed one.
            most_words: Maximum number of cached words.
        """
        self._embedder = embedder
        self._most_words = most_words
        self._lock = Lock()  # two queries may run at the same time

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        """
        See `clawmem.ports.models.LateInteraction`. Raises `EmbeddingError` if the static vectors
        are missing.
        """
        if not words:
            return WordSimilarities((), tuple(() for _ in texts))
        with self._lock:
            asked, *written = self._vocabulary.numbers([words, *texts])
            units, lengths = self._vocabulary.units, self._vocabulary.lengths
        return _compared(units, lengths, asked, written)

    @cached_property
    def _vocabulary(self) -> _Vocabulary:
        return _Vocabulary(self._embedder or StaticEmbedder(), self._most_words)


@cache
def installed_words() -> StaticWords:
    """Return the instance with the installed vectors, which the process shares."""
    return StaticWords()


class _Vocabulary:
    """Cache of numbered words with their vectors; number 0 represents a text without words."""

    def __init__(self, embedder: StaticEmbedder, most_words: int) -> None:
        self._embedder = embedder
        self._most_words = most_words
        self._begin(0)

    @property
    def units(self) -> Floats:
        """Unit vectors by word number, (words + 1, dimensions); zeros for a word without a vector."""
        return self._units[: len(self._number) + 1]

    @property
    def lengths(self) -> Floats:
        """Lengths of the word vectors before normalization, (words + 1,)."""
        return self._lengths[: len(self._number) + 1]

    def numbers(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the numbers of all words of all texts, adding new words to the cache."""
        asked = set(chain.from_iterable(texts))
        new = asked - self._number.keys()
        if len(self._number) + len(new) >= len(self._lengths):
            new = asked
            self._begin(len(asked))
        self._learn(sorted(new))
        number = self._number
        return [[number[word] for word in text] or [0] for text in texts]

    def _begin(self, words: int) -> None:
        """Empty the cache and allocate room for *words*; unwritten pages take no memory."""
        self._number: dict[str, int] = {}
        rows = max(words, self._most_words) + 1
        self._units, self._lengths = _zeros(rows, self._embedder.dimensions), _zeros(rows)

    def _learn(self, new: Sequence[str]) -> None:
        if not new:
            return
        first = len(self._number) + 1
        end = first + len(new)
        sums = self._embedder.token_sums([f" {word}" for word in new])
        self._lengths[first:end] = _lengths(sums)
        self._units[first:end] = _unit(sums, self._lengths[first:end])
        self._number.update(zip(new, range(first, end), strict=True))


def _zeros(*shape: int) -> Floats:
    import numpy as np

    return np.zeros(shape, dtype=np.float32)


def _compared(units: Floats, lengths: Floats, asked: list[int], written: list[list[int]]) -> WordSimilarities:
    import numpy as np

    weights = shares(lengths[asked].tolist())
    if not written:
        return WordSimilarities(weights, ())
    starts = np.cumsum([0, *map(len, written[:-1])])
    known, nth = np.unique(np.fromiter(chain.from_iterable(written), dtype=np.int64), return_inverse=True)
    cosines = _products(units[asked], units[known])  # (words, known)
    nearest = np.clip(np.maximum.reduceat(cosines[:, nth], starts, axis=1), 0, 1)
    return WordSimilarities(weights, tuple(map(tuple, nearest.T.tolist())))


def _products(left: Floats, right: Floats) -> Floats:
    import numpy as np

    # Not ``@``: its threads wait for each other longer than this small product takes.
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
    """Return the weights of words in proportion to the lengths of their vectors; they sum to 1."""
    total = sum(lengths)
    if not total:  # no word has a vector, so all have the same weight
        return (1.0 / len(lengths),) * len(lengths)
    return tuple(length / total for length in lengths)
