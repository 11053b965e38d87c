"""Memories derived from documents: their plan, and their rebuilding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clawmem.app.services.capture.handoffs import CONTENT_TYPE as HANDOFF
from clawmem.app.services.capture.memories import PROJECT, Memories
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.maintenance.observations import (
    Group,
    MergedObservations,
    Observation,
    Observations,
    serve_again,
)
from clawmem.domain.capture import handoff
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.domain.security.origin import as_tag
from clawmem.ports.clock import Clock
from clawmem.ports.journal import Replacement
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault


def derived_documents(vault: Vault, document_ids: Iterable[int]) -> list[Document]:
    """
    Return every document that was derived from these, over any number of steps, by collection and path.

    The documents themselves and forgotten ones are left out; archived and superseded ones are not. A handoff that
    repeats the quote of a captured memory is derived as well: both repeat the same sentence of a session.
    """
    sources = set(document_ids)
    derived: dict[int, Document] = {}
    waiting = list(sources)
    while waiting:
        source = waiting.pop()
        children = {*vault.derivations.children(source), *_handed_over(vault, source)}
        for document in vault.documents.many(children - sources - derived.keys()).values():
            if document.inactive is not InactiveReason.FORGOTTEN:
                derived[document.id] = document
                waiting.append(document.id)
    return sorted(derived.values(), key=lambda document: (document.collection, document.path))


def _handed_over(vault: Vault, source: int) -> Iterator[int]:
    """Return the handoffs of the sessions in which *source* was captured, where they repeat its quote."""
    for sighting in vault.captures.sightings(source):
        session = vault.sessions.get(sighting.session_id)
        place = session.handoff_path.partition("/") if session and session.handoff_path else None
        handoff = vault.documents.at(place[0], place[2]) if place else None
        if handoff is not None and sighting.quote:
            body = vault.documents.body(handoff.id) or ""
            if _one_line(sighting.quote) in _one_line(body):
                yield handoff.id


def _one_line(text: str) -> str:
    return " ".join(text.split())


_LEAST_MERGED = 2
_EVERY = 1_000_000  # sessions
WITHOUT_FORGOTTEN = "one of its sources was forgotten"

Sections = dict[str, list[str]]


class DerivedPlan(NamedTuple):
    """
    Decisions about the memories that were derived from documents to forget.

    ``removed`` are forgotten as well. ``rebuilt`` are written again without their forgotten sources, ``merged``
    from these observations, ``handoffs`` with these sections. ``released`` observations are served again.
    """

    removed: tuple[Document, ...]
    rebuilt: tuple[Document, ...]
    merged: dict[int, list[int]]
    handoffs: dict[int, Sections]
    released: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DerivedMemories:
    """Finds, and rebuilds, memories that were derived from forgotten documents."""

    vault: Vault
    publisher: Publisher
    memories: Memories
    merged: MergedObservations
    clock: Clock

    def plan(self, forgotten: Sequence[Document]) -> DerivedPlan:
        """Decide about the memories derived from *forgotten*; nothing is changed."""
        gone = {note.id for note in forgotten}
        found = derived_documents(self.vault, gone)
        removed: list[Document] = []
        merged: dict[int, list[int]] = {}
        handoffs: dict[int, Sections] = {}
        released: list[int] = []
        # By id, which is the order of creation: a source is decided before the memories that were derived from it.
        for document in sorted(found, key=lambda note: note.id):
            left = self._left(document, gone)
            if len(left) >= _LEAST_MERGED or (left and document.inactive):
                merged[document.id] = left
            elif sections := self._sections(document, gone):
                handoffs[document.id] = sections
            else:
                removed.append(document)
                released += left
                gone.add(document.id)
        kept = tuple(note for note in found if note.id in merged or note.id in handoffs)
        return DerivedPlan(tuple(removed), kept, merged, handoffs, tuple(released))

    def apply(self, plan: DerivedPlan) -> None:
        """Rebuild and release documents as *plan* says; inside `Transactions.writing`."""
        for document in sorted(plan.rebuilt, key=lambda note: note.id):
            self.publisher.drop_knowledge(document.id)
            if document.id in plan.merged:
                self._merge(document, plan.merged[document.id])
            else:
                self._hand_over(document, plan.handoffs[document.id])
        for document in plan.removed:
            self._end_replacements(document.id)
        serve_again(self.vault.documents, self.publisher, plan.released)

    # -- merged observations ------------------------------------------------------------------------

    def _left(self, document: Document, gone: Collection[int]) -> list[int]:
        """Return the observations that were merged into *document*, without those that are *gone*."""
        if CONSOLIDATED not in document.tags:
            return []
        replaced = {i for entry in self._standing(document.id) for i in entry.replaced} - set(gone)
        there = self.vault.documents.many(replaced).values()
        return sorted(note.id for note in there if note.inactive is not InactiveReason.FORGOTTEN)

    def _merge(self, document: Document, left: Sequence[int]) -> None:
        members = self._observed(left)
        self.merged.write(Group(members[0].statement.text, members, WITHOUT_FORGOTTEN), document.path)
        if document.inactive:  # another consolidated document replaced it and continues to do so
            self.publisher.withdraw([document.id], document.inactive)
        self._end_replacements(document.id)
        self.vault.journal.replace(Replacement(document.id, tuple(left), WITHOUT_FORGOTTEN, self._now()))

    def _observed(self, document_ids: Sequence[int]) -> tuple[Observation, ...]:
        documents = self.vault.documents.many(document_ids).values()
        read = Observations(
            self.vault.documents,
            self.vault.entities,
            [note._replace(pinned=False, snoozed_until=None) for note in documents],
        )
        every = (read[number] for number in document_ids)
        return tuple(sorted(every, key=lambda observation: observation.when, reverse=True))

    def _end_replacements(self, document_id: int) -> None:
        for entry in self._standing(document_id):
            self.vault.journal.undo(entry.id, self._now())

    def _standing(self, document_id: int) -> list[Replacement]:
        return [
            entry
            for entry in self.vault.journal.replacements(document_id)
            if entry.document_id == document_id
        ]

    # -- handoffs -----------------------------------------------------------------------------------

    def _sections(self, document: Document, gone: Collection[int]) -> Sections:
        """Return the sections of a handoff without the items that repeat the quote of one of *gone*."""
        if document.content_type != HANDOFF:
            return {}
        quotes = {_one_line(seen.quote) for number in gone for seen in self.vault.captures.sightings(number)}
        said = handoff.sections_of(self.vault.documents.body(document.id) or "")
        kept = {
            name: [item for item in items if not any(quote in _one_line(item) for quote in quotes if quote)]
            for name, items in said.items()
        }
        return {name: items for name, items in kept.items() if items}

    def _hand_over(self, document: Document, sections: Sections) -> None:
        by = as_tag(document.origin)
        properties = self.vault.properties.many([document.id]).get(document.id, ())
        self.memories.write(
            document.path,
            document.title,
            handoff.text_of(sections, document.title),
            document.content_type,
            document.confidence,
            document.authored_at,
            tags=tuple(tag for tag in document.tags if tag != by),
            domain=document.domain,
            origin=document.origin,
            project=next((value.value for value in properties if value.name == PROJECT), ""),
            is_local=True,
        )
        summary = handoff.summary_of(sections)
        for session in self.vault.sessions.recent(_EVERY):
            if session.handoff_path == document.display_path:
                self.vault.sessions.save(replace(session, summary=summary))

    def _now(self) -> str:
        return iso_utc(self.clock.now_ms())
