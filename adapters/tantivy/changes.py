from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clawmem.ports.records import Grain, LexicalEntry


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit does to one grain, in this order: empty it, take documents out, put entries in."""

    cleared: bool
    removed: frozenset[int]
    entries: tuple[LexicalEntry, ...]  # each key once

    def __bool__(self) -> bool:
        return self.cleared or bool(self.removed or self.entries)


class Pending:
    """What the next commit will change. Only the last word on each document and key is remembered."""

    def __init__(self) -> None:
        self._cleared = False
        self._removed: set[int] = set()
        self._entries: dict[int, dict[tuple[Grain, int], LexicalEntry]] = {}

    def put(self, entries: Iterable[LexicalEntry]) -> None:
        """Add entries, or replace those with the same key and grain."""
        for entry in entries:
            of_document = self._entries.setdefault(entry.key.document_id, {})
            of_document[entry.grain, entry.key.seq] = entry

    def remove(self, document_id: int) -> None:
        """Take a document out, whether it is committed or was put in just now."""
        self._removed.add(document_id)
        self._entries.pop(document_id, None)

    def clear(self) -> None:
        """Take everything out."""
        self._cleared = True
        self._removed.clear()
        self._entries.clear()

    @property
    def cleared(self) -> bool:
        """Whether nothing of what is committed stays."""
        return self._cleared

    def of(self, grain: Grain) -> Change:
        """The part of one grain."""
        entries = tuple(
            entry for units in self._entries.values() for entry in units.values() if entry.grain is grain
        )
        return Change(self._cleared, frozenset(self._removed), entries)
