from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acme_memory.json_file import JsonFile

from clawmem.domain.retrieval.fusion import rarity
from clawmem.ports.indexes import K1, TITLE_WEIGHT, B
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
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """One entry as the file holds it."""

    document_id: int
    seq: int
    grain: str
    collection: str
    title: str
    text: str
    authored_at: str

    @property
    def key(self) -> FragmentKey:
        return FragmentKey(self.document_id, self.seq)

    @property
    def words(self) -> list[str]:
        return _words(self.title) * TITLE_WEIGHT + _words(self.text)

    @property
    def length(self) -> int:
        return len(_words(self.title)) + len(_words(self.text))


class JsonLexicalIndex:
    """``LexicalIndex`` in a JSON file, read as a whole for every question: BM25, without stems and phrases."""

    method = "acme"

    def __init__(self, folder: Path) -> None:
        self._file = JsonFile(folder / "index.json")
        self._uncommitted: dict[str, Any] | None = None

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._changing() as units:
            for entry in entries:
                units[f"{entry.key.document_id}/{entry.key.seq}/{entry.grain}"] = [
                    *entry.key,
                    entry.grain,
                    entry.collection,
                    entry.title,
                    entry.text,
                    entry.authored_at,
                ]

    def remove(self, document_id: int) -> None:
        with self._changing() as units:
            for name in [name for name in units if name.startswith(f"{document_id}/")]:
                del units[name]

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        units = self._units(grain)
        terms = {term: rarity(len(units), _holding(term, units)) for term in query.terms if _words(term.text)}
        average = sum(unit.length for unit in units) / max(len(units), 1)
        hits = []
        for unit in units:
            counts = {term: _count(term, unit) for term in terms}
            found = all(counts.values()) if query.every else any(counts.values())
            if terms and found and _is_seen(unit, scope):
                hits.append(Hit(unit.key, _bm25(counts, terms, unit.length / average)))
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[: max(limit, 0)]

    def count(self, grain: Grain) -> int:
        return len(self._units(grain))

    def holding(self, term: Term, grain: Grain) -> int:
        return _holding(term, self._units(grain)) if _words(term.text) else 0

    def marker(self) -> Marker | None:
        kept = self._content().get("marker")
        return Marker(*kept) if kept else None

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._uncommitted is not None:
            raise RuntimeError("a commit is under way already")
        with self._file.changing() as content:
            self._uncommitted = content
            try:
                yield
            finally:
                self._uncommitted = None
            if marker:
                content["marker"] = [marker.vault, marker.seq, marker.epoch]

    def clear(self) -> None:
        with self._changing() as units:
            units.clear()
            (self._uncommitted or {}).pop("marker", None)

    def optimize(self) -> None:
        """A file that is written as a whole is always in order."""

    def faults(self) -> list[str]:
        return []

    def _content(self) -> dict[str, Any]:
        return self._file.read() if self._uncommitted is None else self._uncommitted

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """The units by name, inside of the commit that is under way or in one of their own."""
        if self._uncommitted is not None:
            yield self._uncommitted.setdefault("units", {})
        else:
            with self.committing(), self._changing() as units:
                yield units

    def _units(self, grain: Grain) -> list[_Unit]:
        units = [_Unit(*fields) for fields in self._content().get("units", {}).values()]
        return [unit for unit in units if unit.grain == grain]


def _words(text: str) -> list[str]:
    letters = unicodedata.normalize("NFD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(one for one in letters if not unicodedata.combining(one)))


def _count(term: Term, unit: _Unit) -> int:
    asked = _words(term.text)
    if term.prefix:
        return sum(word.startswith(asked[-1]) for word in unit.words)
    return min(unit.words.count(word) for word in asked)


def _holding(term: Term, units: Sequence[_Unit]) -> int:
    return sum(_count(term, unit) > 0 for unit in units)


def _bm25(counts: Mapping[Term, int], rarities: Mapping[Term, float], length: float) -> float:
    damping = K1 * (1 - B + B * length)
    return sum(rarities[term] * tf * (K1 + 1) / (tf + damping) for term, tf in counts.items())


def _is_seen(unit: _Unit, scope: Scope) -> bool:
    return (
        (not scope.collections or unit.collection in scope.collections)
        and (
            scope.authored_from is None
            or unit.authored_at >= scope.authored_from
            or unit.authored_at == scope.recorded_from
        )
        and unit.authored_at != scope.recorded_until
        and (scope.authored_until is None or unit.authored_at < scope.authored_until)
        and (scope.documents is None or unit.key.document_id in scope.documents)
    )
