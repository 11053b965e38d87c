"""Indexes that compare a query with every entry, by the definitions in the ports."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
import snowballstemmer

from clawmem.ports.errors import BadVector
from clawmem.ports.indexes import K1, TITLE_WEIGHT, B, surfaces
from clawmem.ports.records import (
    EVERYTHING,
    Grain,
    Hit,
    LexicalEntry,
    LexicalQuery,
    Marker,
    Scope,
    Term,
    Vector,
    VectorEntry,
)

Entry = TypeVar("Entry", LexicalEntry, VectorEntry)


class _MemoryIndex(Generic[Entry]):
    """Base class of the indexes, which roll a failed commit back from a copy."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, Entry] = {}
        self._marker: Marker | None = None
        self._is_committing = False

    def marker(self) -> Marker | None:
        return self._marker

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        before = dict(self._entries), self._marker
        self._is_committing = True
        try:
            yield
            self._marker = marker or self._marker
        except BaseException:
            self._entries, self._marker = before
            raise
        finally:
            self._is_committing = False

    def remove(self, document_id: int) -> None:
        entries = self._entries.items()
        self._entries = {key: entry for key, entry in entries if entry.key.document_id != document_id}

    def clear(self) -> None:
        self._entries, self._marker = {}, None

    def optimize(self) -> None:
        """Do nothing: this index has nothing to optimize."""

    def faults(self) -> list[str]:
        return []

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _is_in(scope: Scope, entry: LexicalEntry | VectorEntry) -> bool:
    return (
        (not scope.collections or entry.collection in scope.collections)
        and (scope.authored_from is None or entry.authored_at >= scope.authored_from)
        and (scope.authored_until is None or entry.authored_at < scope.authored_until)
        and (scope.documents is None or entry.key.document_id in scope.documents)
    )


def _best(hits: Iterable[Hit], limit: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[: max(0, limit)]


class MemoryLexicalIndex(_MemoryIndex[LexicalEntry]):
    """Reference ``LexicalIndex`` that computes BM25 over every entry."""

    method = "every entry"

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        self._entries |= {(entry.grain, entry.key): entry for entry in entries}

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        entries = self._of(grain)
        terms = [term for term in query.terms if _split(term.text)]
        if not terms or not entries:
            return []
        lengths = [len(_split(entry.title)) + len(_split(entry.text)) for entry in entries]
        average = sum(lengths) / len(lengths)
        rarities = []
        for term in terms:
            holding = self.holding(term, grain)
            rarities.append(math.log1p((len(entries) - holding + 0.5) / (holding + 0.5)))
        matches = all if query.every else any
        hits = []
        for entry, length in zip(entries, lengths, strict=True):
            frequencies = [_frequency(entry, term) for term in terms]
            if matches(frequencies) and _is_in(scope, entry):
                damping = K1 * (1 - B + B * length / average)
                score = sum(
                    r * f * (K1 + 1) / (f + damping) for r, f in zip(rarities, frequencies, strict=True)
                )
                hits.append(Hit(entry.key, score))
        return _best(hits, limit)

    def count(self, grain: Grain) -> int:
        return len(self._of(grain))

    def holding(self, term: Term, grain: Grain) -> int:
        return sum(_frequency(entry, term) > 0 for entry in self._of(grain))

    def _of(self, grain: Grain) -> list[LexicalEntry]:
        return [entry for entry in self._entries.values() if entry.grain is grain]


def _frequency(entry: LexicalEntry, term: Term) -> float:
    """Return the number of occurrences of *term* in *entry*, with weighted title words."""
    in_title, in_text = (
        _count(_split(term.text), term.prefix, _split(text)) for text in (entry.title, entry.text)
    )
    return TITLE_WEIGHT * in_title + in_text


Word = tuple[str, str]
"""A folded word as it occurs in a text, and its stem."""


def _count(term: Sequence[Word], prefix: bool, words: Sequence[Word]) -> int:
    """Return the number of places at which *words* continue with *term*, whose last word may be a beginning."""
    if not term:
        return 0
    *first, (surface, stem) = term
    count = 0
    for place in range(len(words) - len(term) + 1):
        *before, last = words[place : place + len(term)]
        is_last = last[1] == stem or (prefix and last[0].startswith(surface))
        count += is_last and all(word[1] == wanted[1] for word, wanted in zip(before, first, strict=True))
    return count


_PORTER = snowballstemmer.stemmer("porter")


@lru_cache(10_000)
def _split(text: str) -> tuple[Word, ...]:
    """Return the words of *text*: runs of letters and digits, without case and Latin diacritics."""
    # Porter's program leaves words of one and two letters unchanged; the library would stem "as" to "a".
    return tuple((word, word if len(word) < 3 else _PORTER.stemWord(word)) for word in surfaces(text))


class MemoryVectorIndex(_MemoryIndex[VectorEntry]):
    """Reference ``VectorIndex`` with an exhaustive, exact scan."""

    method = "exact scan"

    def put(self, entries: Iterable[VectorEntry]) -> None:
        new: dict[Hashable, VectorEntry] = {entry.key: entry for entry in entries}
        vectors = [entry.vector for entry in (*self._entries.values(), *new.values())]
        for entry in new.values():
            if not _numbers(entry.vector, like=vectors[0]).any():
                raise BadVector("it is all zeros")
        self._entries |= new

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if not self._entries:
            return []
        query = _numbers(vector, like=next(iter(self._entries.values())).vector)
        if not query.any():
            return []
        hits = []
        for entry in self._entries.values():
            if _is_in(scope, entry):
                numbers = _numbers(entry.vector, like=vector)
                cosine = query @ numbers / (np.linalg.norm(query) * np.linalg.norm(numbers))
                hits.append(Hit(entry.key, float(np.clip(cosine, -1, 1))))
        return _best(hits, limit)

    def count(self) -> int:
        return len(self._entries)


def _numbers(vector: Vector, like: Vector) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """
    Return the numbers of a vector.

    Raises:
        BadVector: the vector is empty or truncated, a number is not finite, or its length differs from that of *like*.
    """
    if not vector or len(vector) % 4:
        raise BadVector(f"{len(vector)} bytes are no float32 numbers")
    if len(vector) != len(like):
        raise BadVector(f"it has {len(vector) // 4} numbers, the others have {len(like) // 4}")
    numbers = np.frombuffer(vector, "<f4").astype(np.float64)
    if not np.isfinite(numbers).all():
        raise BadVector("one of its numbers is not finite")
    return numbers
