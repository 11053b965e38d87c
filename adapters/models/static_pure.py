"""The static vectors for short-lived processes: without numpy and without the tokenizer library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from itertools import chain
from math import dist, hypot
from mmap import ACCESS_READ, mmap
from operator import add
from struct import Struct

from clawmem.adapters.models.byte_pairs import KNOWN, BytePairs, is_plain, read_ids
from clawmem.adapters.models.static import StaticEmbedder, whole_characters
from clawmem.adapters.models.static_weights import checked_offset
from clawmem.adapters.models.static_words import StaticWords, shares
from clawmem.ports.late_interaction import WordSimilarities
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Vector

# characters of a query; for longer ones numpy is faster even though it must be loaded
MOST_CHARACTERS = 2_000
MOST_WORDS = 2_500  # the same limit for the words of a comparison

_ROW, _VECTOR = Struct("<256e"), Struct("<256f")
_NOTHING = (0.0,) * 256


class PureStaticEmbedder:
    """
    ``Embedder`` with the vectors of `StaticEmbedder`, to a millionth, that loads no library for short
    queries.

    Args:
        whole: Embeds all other texts.
    """

    def __init__(self, whole: StaticEmbedder | None = None) -> None:
        self._whole = whole or StaticEmbedder()
        self.dimensions = self._whole.dimensions

    @cached_property
    def fingerprint(self) -> str:
        return self._whole.fingerprint

    def embed_query(self, text: str) -> Vector:
        if len(text) > MOST_CHARACTERS or not self.knows(text.split(" ")):
            return self._whole.embed_query(text)
        total = self.sums(whole_characters(text))
        length = hypot(*total) or 1.0
        return _VECTOR.pack(*(number / length for number in total))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._whole.embed_documents(texts)

    def knows(self, words: Iterable[str]) -> bool:
        """Whether *words* can be summed without the library."""
        return self.fingerprint == KNOWN and all(map(is_plain, words))

    def sums(self, text: str) -> Sequence[float]:
        """Return the sum of the token vectors of *text*, (256,); zeros for a text without tokens."""
        rows = [self._row(token) for token in self._pieces.encode(text)]
        return reduce(_added, rows) if rows else _NOTHING

    def _row(self, token: int) -> Sequence[float]:
        return _ROW.unpack_from(self._weights.numbers, self._weights.offset + token * _ROW.size)

    @cached_property
    def _pieces(self) -> BytePairs:
        return BytePairs(read_ids(self._whole.tokenizer_path))

    @cached_property
    def _weights(self) -> _Weights:
        path = self._whole.weights_path
        with path.open("rb") as file:
            return _Weights(mmap(file.fileno(), 0, access=ACCESS_READ), checked_offset(path))


def pure_embedder_of(fingerprint: str) -> PureStaticEmbedder | None:
    """
    Return the embedder for this fingerprint if it works without the library, else None.

    Raises:
        EmbeddingError: the files of the static vectors are missing.
    """
    few = PureStaticEmbedder() if fingerprint == KNOWN else None
    return few if few and few.fingerprint == fingerprint else None


class PureStaticWords:
    """
    ``LateInteraction`` like `StaticWords`, to a millionth, without libraries; many words are left to
    `StaticWords`.
    """

    def __init__(self, embedder: PureStaticEmbedder | None = None) -> None:
        self._given = embedder

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        """
        See `clawmem.ports.late_interaction.LateInteraction`. Raises `EmbeddingError` if the static vectors
        are missing.
        """
        different = {*words, *chain.from_iterable(texts)}
        if not words or len(different) > MOST_WORDS or not self._embedder.knows(different):
            return self._many.compare(words, texts)
        known = {word: self._word(word) for word in different}
        question = [known[word] for word in words]
        near = {word: [_cosine(one, seen) for one in question] for word, seen in known.items()}
        nothing = [0.0] * len(words)
        nearest = (tuple(map(max, zip(nothing, *(near[w] for w in text), strict=True))) for text in texts)
        return WordSimilarities(shares([one.length for one in question]), tuple(nearest))

    def _word(self, word: str) -> _Word:
        numbers = tuple(self._embedder.sums(whole_characters(f" {word}")))
        return _Word(numbers, hypot(*numbers))

    @cached_property
    def _embedder(self) -> PureStaticEmbedder:
        return self._given or PureStaticEmbedder()

    @cached_property
    def _many(self) -> StaticWords:
        return StaticWords()


class _Weights(NamedTuple):
    numbers: mmap
    offset: int


class _Word(NamedTuple):
    numbers: tuple[float, ...]
    length: float


def _added(left: Sequence[float], right: Sequence[float]) -> Sequence[float]:
    return list(map(add, left, right))


def _cosine(left: _Word, right: _Word) -> float:
    # Computed from the distance, because dist() is a single call in C.
    product = left.length * right.length
    if not product:
        return 0.0
    apart = dist(left.numbers, right.numbers)
    return min(1.0, (left.length**2 + right.length**2 - apart * apart) / (2 * product))
