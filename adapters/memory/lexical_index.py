from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from clawmem.adapters.memory.derived_index import Commits, is_in
from clawmem.ports.folding import surfaces
from clawmem.ports.indexes import K1, TITLE_WEIGHT, B
from clawmem.ports.records import EVERYTHING, FragmentKey, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term


@dataclass(frozen=True, slots=True)
class _SplitEntry:
    """One entry, split into words."""

    entry: LexicalEntry
    title: tuple[Word, ...]
    text: tuple[Word, ...]

    @property
    def length(self) -> int:
        return len(self.title) + len(self.text)


class MemoryLexicalIndex(Commits):
    """Reference ``LexicalIndex`` that computes BM25 over every entry."""

    method = "every entry"

    def __init__(self) -> None:
        super().__init__()
        self._grains: dict[Grain, dict[FragmentKey, _SplitEntry]] = {grain: {} for grain in Grain}

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        for entry in entries:
            unit = _SplitEntry(entry, split(entry.title), split(entry.text))
            self._grains[entry.grain][entry.key] = unit

    def remove(self, document_id: int) -> None:
        for grain, units in self._grains.items():
            self._grains[grain] = {key: unit for key, unit in units.items() if key.document_id != document_id}

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        rarities = {term: self._rarity(term, grain) for term in query.terms}
        return self._ranked(query, grain, limit, rarities, lambda unit: is_in(scope, unit.entry))

    def search_among(
        self,
        documents: Collection[int],
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        scope: Scope,
        rarities: Mapping[Term, float],
    ) -> list[Hit]:
        def seen(unit: _SplitEntry) -> bool:
            return unit.entry.key.document_id in documents and is_in(scope, unit.entry)

        return self._ranked(query, grain, limit, rarities, seen)

    def count(self, grain: Grain) -> int:
        return len(self._grains[grain])

    def holding(self, term: Term, grain: Grain) -> int:
        return len(_occurrences(term, self._grains[grain])) if split(term.text) else 0

    def clear(self) -> None:
        self._grains = {grain: {} for grain in Grain}
        self._marker = None

    def snapshot(self) -> Callable[[], None]:
        """Return a function that restores the current state of the index."""
        kept = {grain: dict(units) for grain, units in self._grains.items()}, self._marker

        def restore() -> None:
            self._grains, self._marker = kept

        return restore

    def _ranked(
        self,
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        rarities: Mapping[Term, float],
        seen: Callable[[_SplitEntry], bool],
    ) -> list[Hit]:
        units = self._grains[grain]
        terms = {term: _occurrences(term, units) for term in query.terms if split(term.text)}
        if not terms or limit < 1:
            return []
        holding = list(map(set, terms.values()))
        matching = set.intersection(*holding) if query.every else set[FragmentKey]().union(*holding)
        score = _bm25(units, terms, rarities)
        hits = [Hit(key, score(key)) for key in matching if seen(units[key])]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def _rarity(self, term: Term, grain: Grain) -> float:
        held = self.holding(term, grain)
        return math.log1p((self.count(grain) - held + 0.5) / (held + 0.5))


def _occurrences(term: Term, units: Mapping[FragmentKey, _SplitEntry]) -> dict[FragmentKey, float]:
    """Return the number of occurrences in each entry that contains the term, with weighted title words."""
    asked = split(term.text)
    counted = {
        key: TITLE_WEIGHT * _count(asked, term.prefix, unit.title) + _count(asked, term.prefix, unit.text)
        for key, unit in units.items()
    }
    return {key: count for key, count in counted.items() if count > 0}


def _count(asked: Sequence[Word], prefix: bool, words: Sequence[Word]) -> int:
    places = range(len(words) - len(asked) + 1)
    return sum(_stands_at(words[place : place + len(asked)], asked, prefix) for place in places)


def _stands_at(words: Sequence[Word], asked: Sequence[Word], prefix: bool) -> bool:
    *first, last = zip(words, asked, strict=True)
    is_last = last[0].stem == last[1].stem or (prefix and last[0].surface.startswith(last[1].surface))
    return is_last and all(word.stem == wanted.stem for word, wanted in first)


def _bm25(
    units: Mapping[FragmentKey, _SplitEntry],
    terms: Mapping[Term, Mapping[FragmentKey, float]],
    rarities: Mapping[Term, float],
) -> Callable[[FragmentKey], float]:
    """Return a function that scores an entry; the average length is that of all entries of the granularity."""
    average = sum(unit.length for unit in units.values()) / max(len(units), 1)

    def score(key: FragmentKey) -> float:
        damping = K1 * (1 - B + B * units[key].length / average)
        return sum(
            rarities[term] * counts[key] * (K1 + 1) / (counts[key] + damping)
            for term, counts in terms.items()
            if key in counts
        )

    return score


class Word(NamedTuple):
    """A folded word as it occurs in a text, and its stem, which it shares with its inflections."""

    surface: str
    stem: str


def split(text: str) -> tuple[Word, ...]:
    """Return the words of *text*: runs of letters and digits, without case and Latin diacritics."""
    return tuple(Word(surface, _stem(surface)) for surface in surfaces(text))


@cache
def _stem(word: str) -> str:
    # Porter's original program leaves words of one and two letters unchanged; the library would stem "as" to
    # "a".
    return word if len(word) < 3 else str(_porter().stemWord(word))


@cache
def _porter():  # type: ignore[no-untyped-def]  # the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
