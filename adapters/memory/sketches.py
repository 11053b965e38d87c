from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.records import FragmentKey, FragmentKind
from clawmem.ports.sketches import Sketch, SketchCounts


class MemorySketches:
    """Reference ``SketchStore`` over a dictionary. Sketches of deleted fragments are ignored."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def fingerprint(self) -> str | None:
        return self._tables.sketched_by

    def begin(self, fingerprint: str) -> None:
        if self._tables.sketched_by != fingerprint:
            self._tables.sketched_by = fingerprint
            self._tables.sketches = {}

    def pending(self, limit: int, after: FragmentKey | None = None) -> list[FragmentKey]:
        waiting = (
            key for key in self._lines() if key not in self._tables.sketches and (not after or key > after)
        )
        return list(islice(waiting, max(limit, 0)))

    def store(self, fingerprint: str, sketches: Mapping[FragmentKey, Sketch]) -> None:
        if self._tables.sketched_by != fingerprint:
            raise ModelMismatch(self._tables.sketched_by or "no model", fingerprint)
        there = {
            FragmentKey(number, fragment.seq)
            for number, fragments in self._tables.fragments.items()
            for fragment in fragments
        }
        self._tables.sketches |= {key: sketch for key, sketch in sketches.items() if key in there}

    def of(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Sketch]:
        return {key: self._tables.sketches[key] for key in keys if key in self._tables.sketches}

    def counts(self) -> SketchCounts:
        lines = list(self._lines())
        made = sum(key in self._tables.sketches for key in lines)
        return SketchCounts(made, len(lines) - made)

    def _lines(self) -> Iterator[FragmentKey]:
        """Iterate over the lines of every active document, in order."""
        for number in sorted(self._tables.documents):
            if self._tables.documents[number].inactive is None:
                for fragment in self._tables.fragments[number]:
                    if fragment.kind is FragmentKind.LINE:
                        yield FragmentKey(number, fragment.seq)
