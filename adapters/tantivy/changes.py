from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clawmem.ports.records import Grain, LexicalEntry


@dataclass(frozen=True, slots=True)
class GrainChange:
    """Changes of one commit at one granularity, applied in this order: clear, remove documents, add entries."""

    cleared: bool
    removed: frozenset[int]
    entries: tuple[LexicalEntry, ...]  # each key once

    def __bool__(self) -> bool:
        return self.cleared or bool(self.removed or self.entries)


class PendingChanges:
    """Changes of the next commit; only the last change of a document or key is kept."""

    def __init__(self) -> None:
        self._cleared = False
        self._removed: set[int] = set()
        self._entries: dict[int, dict[tuple[Grain, int], LexicalEntry]] = {}

    def put(self, entries: Iterable[LexicalEntry]) -> None:
        """Add entries, or replace those with the same key and granularity."""
        for entry in entries:
            of_document = self._entries.setdefault(entry.key.document_id, {})
            of_document[entry.grain, entry.key.seq] = entry

    def remove(self, document_id: int) -> None:
        """Remove a document, both committed entries and those added in this commit."""
        self._removed.add(document_id)
        self._entries.pop(document_id, None)

    def clear(self) -> None:
        """Remove everything."""
        self._cleared = True
        self._removed.clear()
        self._entries.clear()

    @property
    def cleared(self) -> bool:
        """Whether the commit removes all committed entries."""
        return self._cleared

    def of(self, grain: Grain) -> GrainChange:
        """Return the changes at one granularity."""
        entries = tuple(
            entry for units in self._entries.values() for entry in units.values() if entry.grain is grain
        )
        return GrainChange(self._cleared, frozenset(self._removed), entries)
