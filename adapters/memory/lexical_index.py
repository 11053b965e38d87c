from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clawmem.adapters.memory.words import Word, split
from clawmem.ports.lexical_index import K1, TITLE_WEIGHT, B
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
    Grain,
    Hit,
    LexicalEntry,
    LexicalQuery,
    Scope,
    Term,
)

LEAST_RARITY = 1e-6  # a word that more than half of the entries hold still scores above zero


@dataclass(frozen=True, slots=True)
class _Unit:
    """One entry, split into words."""

    collection: str
    title: tuple[Word, ...]
    text: tuple[Word, ...]

    @property
    def length(self) -> int:
        return len(self.title) + len(self.text)


class MemoryLexicalIndex:
    """``LexicalIndex`` that looks at every entry: BM25 word for word, and the reference to read first."""

    def __init__(self) -> None:
        self._grains: dict[Grain, dict[FragmentKey, _Unit]] = {grain: {} for grain in Grain}

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        for entry in entries:
            unit = _Unit(entry.collection, split(entry.title), split(entry.text))
            self._grains[entry.grain][entry.key] = unit

    def remove(self, document_id: int) -> None:
        for grain, units in self._grains.items():
            self._grains[grain] = {key: unit for key, unit in units.items() if key.document_id != document_id}

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        units = self._grains[grain]
        terms = [_occurrences(term, units) for term in query.terms if split(term.text)]
        if not terms or limit < 1:
            return []
        matching = set.intersection(*map(set, terms)) if query.every else set[FragmentKey]().union(*terms)
        seen = [
            key for key in matching if not scope.collections or units[key].collection in scope.collections
        ]
        score = _bm25(units, terms, K1[grain])
        hits = [Hit(key, score(key)) for key in seen]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def count(self, grain: Grain) -> int:
        return len(self._grains[grain])

    def clear(self) -> None:
        self._grains = {grain: {} for grain in Grain}

    def snapshot(self) -> Callable[[], None]:
        """A function that puts the index back to how it is now."""
        kept = {grain: dict(units) for grain, units in self._grains.items()}

        def restore() -> None:
            self._grains = kept

        return restore


def _occurrences(term: Term, units: Mapping[FragmentKey, _Unit]) -> dict[FragmentKey, float]:
    """How often each entry that holds the term holds it, title words weighted."""
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
    units: Mapping[FragmentKey, _Unit], terms: Sequence[Mapping[FragmentKey, float]], k1: float
) -> Callable[[FragmentKey], float]:
    """The score of one entry, as SQLite's FTS5 computes it: statistics over all entries of the grain."""
    average = sum(unit.length for unit in units.values()) / max(len(units), 1)
    rarities = [_rarity(len(units), len(term)) for term in terms]

    def score(key: FragmentKey) -> float:
        damping = k1 * (1 - B + B * units[key].length / average)
        counts = [term.get(key, 0.0) for term in terms]
        return sum(
            rarity * count * (k1 + 1) / (count + damping)
            for rarity, count in zip(rarities, counts, strict=True)
        )

    return score


def _rarity(entries: int, holding: int) -> float:
    return max(math.log((entries - holding + 0.5) / (holding + 0.5)), LEAST_RARITY)
