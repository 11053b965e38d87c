from __future__ import annotations

from dataclasses import replace
from itertools import islice

from clawmem.adapters.memory.tables import EnrichmentState, Tables
from clawmem.ports.errors import InvalidInput
from clawmem.ports.notes import ATTEMPTS, RULES, Note, NoteCounts


class MemoryNotes:
    """Reference ``NoteStore`` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self, document_id: int) -> Note | None:
        return next(reversed(self.history(document_id)), None)

    def history(self, document_id: int) -> list[Note]:
        is_served = document_id in self._served()
        return list(self._tables.notes.get(document_id, ())) if is_served else []

    def put(self, note: Note) -> int:
        if note.document_id not in self._tables.documents:
            raise InvalidInput(
                "INVALID_INPUT", f"There is no document {note.document_id}, so it cannot have a note."
            )
        kept = self._tables.notes.get(note.document_id, ())
        if kept and kept[-1].says == note.says:
            return kept[-1].version
        version = kept[-1].version + 1 if kept else 1
        self._tables.notes[note.document_id] = (*kept, replace(note, version=version))
        return version

    def waiting(self, limit: int, *, by_model: bool, after: int = 0) -> list[int]:
        behind = (number for number in self._served() if number > after)
        return list(islice((one for one in behind if self._waits(one, by_model)), max(limit, 0)))

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        before = self._state(document_id, source_hash)
        failures = 0 if by_model else before.failures
        self._tables.enriched[document_id] = EnrichmentState(
            source_hash, by_model or before.by_model, failures
        )

    def fail(self, document_id: int, source_hash: str, error: str) -> int:
        before = self._state(document_id, source_hash)
        self._tables.enriched[document_id] = before._replace(failures=before.failures + 1)
        return before.failures + 1

    def counts(self) -> NoteCounts:
        served = self._served()
        latest = [note for number in served if (note := self.get(number))]
        states = [self._tables.enriched.get(number) for number in served]
        return NoteCounts(
            len(latest),
            sum(note.origin != RULES for note in latest),
            sum(self._waits(number, by_model=False) for number in served),
            sum(
                state is not None and state.failures >= ATTEMPTS and not self._waits(number, by_model=False)
                for number, state in zip(served, states, strict=True)
            ),
        )

    def forget(self, document_id: int) -> int:
        gone = self._dropped(document_id, 0)
        for number, notes in list(self._tables.notes.items()):
            caused = [note.version for note in notes if note.cause == document_id]
            if caused:
                gone += self._dropped(number, caused[0])
        return gone

    def _dropped(self, document_id: int, version: int) -> int:
        """Delete the notes about a document from *version* on, and return their number."""
        notes = self._tables.notes.pop(document_id, ())
        if kept := tuple(note for note in notes if note.version < version):
            self._tables.notes[document_id] = kept
        self._tables.enriched.pop(document_id, None)
        return len(notes) - len(kept)

    def _waits(self, document_id: int, by_model: bool) -> bool:
        state = self._tables.enriched.get(document_id)
        if state is None or state.source_hash != self._tables.documents[document_id].source_hash:
            return True
        return by_model and not state.by_model and state.failures < ATTEMPTS

    def _state(self, document_id: int, source_hash: str) -> EnrichmentState:
        """Return the enrichment state of the document for *source_hash*."""
        kept = self._tables.enriched.get(document_id)
        return kept if kept is not None and kept.source_hash == source_hash else EnrichmentState(source_hash)

    def _served(self) -> list[int]:
        documents = self._tables.documents
        return sorted(number for number in documents if documents[number].inactive is None)
