"""Indexes that compare a query with every entry, by the definitions in the ports."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import snowballstemmer

from clawmem.ports.errors import BadVector
from clawmem.ports.indexes import K1, TITLE_WEIGHT, B, surfaces
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
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


class _MemoryIndex:
    """Base class of the indexes, which roll a failed commit back from a copy."""

    def __init__(self) -> None:
        self._marker: Marker | None = None
        self._is_committing = False

    @abstractmethod
    def _snapshot(self) -> Callable[[], None]:
        """Return a function that restores the current state of the index."""

    def marker(self) -> Marker | None:
        return self._marker

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        former, undo = self._marker, self._snapshot()
        self._is_committing = True
        try:
            yield
            self._marker = marker or self._marker
        except BaseException:
            self._marker = former
            undo()
            raise
        finally:
            self._is_committing = False

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
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


Word = tuple[str, str]
"""A folded word as it occurs in a text, and its stem."""


@dataclass(frozen=True, slots=True)
class _SplitEntry:
    entry: LexicalEntry
    title: Sequence[Word]
    text: Sequence[Word]

    @property
    def length(self) -> int:
        return len(self.title) + len(self.text)

    def frequency(self, term: Term) -> float:
        """Return the number of occurrences of *term*, with weighted title words."""
        words = _split(term.text)
        in_title, in_text = (_count(words, term.prefix, field) for field in (self.title, self.text))
        return TITLE_WEIGHT * in_title + in_text


class MemoryLexicalIndex(_MemoryIndex):
    """Reference ``LexicalIndex`` that computes BM25 over every entry."""

    method = "every entry"

    def __init__(self) -> None:
        super().__init__()
        self._grains: dict[Grain, dict[FragmentKey, _SplitEntry]] = {grain: {} for grain in Grain}

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        for entry in entries:
            self._grains[entry.grain][entry.key] = _SplitEntry(entry, _split(entry.title), _split(entry.text))

    def remove(self, document_id: int) -> None:
        for units in self._grains.values():
            for key in [key for key in units if key.document_id == document_id]:
                del units[key]

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        units = self._grains[grain]
        terms = [term for term in query.terms if _split(term.text)]
        if not terms or not units or limit < 1:
            return []
        average = sum(unit.length for unit in units.values()) / len(units)
        frequencies = {key: {term: unit.frequency(term) for term in terms} for key, unit in units.items()}
        rarities: dict[Term, float] = {}
        for term in terms:
            holding = sum(of_unit[term] > 0 for of_unit in frequencies.values())
            rarities[term] = math.log1p((len(units) - holding + 0.5) / (holding + 0.5))
        matches = all if query.every else any
        hits = []
        for key, unit in units.items():
            if matches(frequencies[key].values()) and _is_in(scope, unit.entry):
                damping = K1 * (1 - B + B * unit.length / average)
                score = sum(
                    rarities[term] * frequency * (K1 + 1) / (frequency + damping)
                    for term, frequency in frequencies[key].items()
                )
                hits.append(Hit(key, score))
        return _best(hits, limit)

    def count(self, grain: Grain) -> int:
        return len(self._grains[grain])

    def holding(self, term: Term, grain: Grain) -> int:
        return sum(unit.frequency(term) > 0 for unit in self._grains[grain].values())

    def clear(self) -> None:
        self._grains = {grain: {} for grain in Grain}
        self._marker = None

    def _snapshot(self) -> Callable[[], None]:
        copies = {grain: dict(units) for grain, units in self._grains.items()}

        def restore() -> None:
            self._grains = copies

        return restore


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


def _split(text: str) -> tuple[Word, ...]:
    """Return the words of *text*: runs of letters and digits, without case and Latin diacritics."""
    return tuple((surface, _stem(surface)) for surface in surfaces(text))


_PORTER = snowballstemmer.stemmer("porter")


@cache
def _stem(word: str) -> str:
    # Porter's program leaves words of one and two letters unchanged; the library would stem "as" to "a".
    return word if len(word) < 3 else str(_PORTER.stemWord(word))


class MemoryVectorIndex(_MemoryIndex):
    """Reference ``VectorIndex`` with an exhaustive, exact scan."""

    method = "exact scan"

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[FragmentKey, VectorEntry] = {}

    def put(self, entries: Iterable[VectorEntry]) -> None:
        new = {entry.key: entry for entry in entries}
        all_entries = [*self._entries.values(), *new.values()]
        for entry in new.values():
            if not any(_numbers(entry.vector, like=all_entries[0].vector)):
                raise BadVector("it is all zeros")
        self._entries.update(new)

    def remove(self, document_id: int) -> None:
        for key in [key for key in self._entries if key.document_id == document_id]:
            del self._entries[key]

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if not self._entries:
            return []
        wanted = _numbers(vector, like=next(iter(self._entries.values())).vector)
        if not any(wanted) or limit < 1:
            return []
        hits = []
        for entry in self._entries.values():
            if _is_in(scope, entry):
                numbers = _numbers(entry.vector, like=vector)
                product = sum(a * b for a, b in zip(wanted, numbers, strict=True))
                cosine = product / (math.hypot(*wanted) * math.hypot(*numbers))
                hits.append(Hit(entry.key, max(-1.0, min(1.0, cosine))))
        return _best(hits, limit)

    def count(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        self._entries, self._marker = {}, None

    def _snapshot(self) -> Callable[[], None]:
        copy = dict(self._entries)

        def restore() -> None:
            self._entries = copy

        return restore


def _numbers(vector: Vector, like: Vector) -> array[float]:
    """
    Return the numbers of a vector.

    Raises:
        BadVector: the vector is empty or truncated, a number is not finite, or its length differs from that of *like*.
    """
    if not vector or len(vector) % 4:
        raise BadVector(f"{len(vector)} bytes are no float32 numbers")
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    if not all(map(math.isfinite, numbers)):
        raise BadVector("one of its numbers is not finite")
    if len(vector) != len(like):
        raise BadVector(f"it has {len(numbers)} numbers, the others have {len(like) // 4}")
    return numbers
