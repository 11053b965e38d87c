from __future__ import annotations

from dataclasses import replace

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.journal import Replacement, Run


class MemoryJournal:
    """Reference ``Journal`` over two lists."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def begin(self, run: Run) -> int:
        self._tables.run_count = number = self._tables.run_count + 1
        self._tables.runs = [*self._tables.runs, replace(run, id=number)]
        return number

    def update(self, run: Run) -> None:
        self._tables.runs = [run if one.id == run.id else one for one in self._tables.runs]

    def run(self, run_id: int) -> Run | None:
        return next((run for run in self._tables.runs if run.id == run_id), None)

    def runs(self, limit: int, lane: str = "", phase: str = "") -> list[Run]:
        newest_first = reversed(self._tables.runs)
        asked = [one for one in newest_first if lane in ("", one.lane) and phase in ("", one.phase)]
        return asked[: max(limit, 0)]

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        old = [one.id for one in self._tables.runs if one.started_at < before][:at_most]
        self._tables.runs = [one for one in self._tables.runs if one.id not in old]
        return len(old)

    def replace(self, replacement: Replacement) -> int:
        number = len(self._tables.replacements) + 1
        known = tuple(sorted(set(replacement.replaced)))
        self._tables.replacements = [
            *self._tables.replacements,
            replace(replacement, replaced=known, id=number),
        ]
        return number

    def replacements(self, document_id: int | None = None, *, undone: bool = False) -> list[Replacement]:
        found = [one for one in self._tables.replacements if bool(one.undone_at) is undone]
        return [one for one in found if document_id in (None, one.document_id, *one.replaced)]

    def undo(self, replacement_id: int, at: str) -> bool:
        before = self._tables.replacements
        self._tables.replacements = [
            replace(one, undone_at=at) if one.id == replacement_id and not one.undone_at else one
            for one in before
        ]
        return self._tables.replacements != before
