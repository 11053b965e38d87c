"""Memories derived from documents to forget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from clawmem.app.services.capture.handoffs import CONTENT_TYPE as HANDOFF
from clawmem.app.services.capture.memories import PROJECT, Memories
from clawmem.app.services.indexing.publish import Publisher
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


_EVERY = 1_000_000  # sessions

Sections = dict[str, list[str]]


class DerivedPlan(NamedTuple):
    """
    Decisions about the memories that were derived from documents to forget.

    ``removed`` are forgotten as well, ``handoffs`` written again with these sections. ``released`` observations were
    merged into a removed one and are served again; the next consolidation merges them.
    """

    removed: list[Document]
    handoffs: list[tuple[Document, Sections]]
    released: list[int]


@dataclass(frozen=True, slots=True)
class DerivedMemories:
    """Finds memories that were derived from forgotten documents, and removes those documents from them."""

    vault: Vault
    publisher: Publisher
    memories: Memories
    clock: Clock

    def plan(self, forgotten: Iterable[Document]) -> DerivedPlan:
        """Decide about the memories derived from *forgotten*; nothing is changed."""
        gone = {document.id for document in forgotten}
        plan = DerivedPlan([], [], [])
        # By id, which is the order of creation: a source is decided before the memories that were derived from it.
        for document in sorted(derived_documents(self.vault, gone), key=attrgetter("id")):
            if sections := self._sections(document, gone):
                plan.handoffs.append((document, sections))
            else:
                plan.removed.append(document)
                gone.add(document.id)
        replaced = [
            number
            for document in plan.removed
            for entry in self._merges(document)
            for number in entry.replaced
        ]
        plan.released.extend(number for number in replaced if number not in gone)
        return plan

    def apply(self, plan: DerivedPlan) -> None:
        """Rewrite and release documents as *plan* says; inside `Transactions.writing`."""
        for document, sections in plan.handoffs:
            self.publisher.drop_knowledge(document.id)
            self._rewrite(document, sections)
        for document in plan.removed:
            for entry in self._merges(document):
                self.vault.journal.undo(entry.id, iso_utc(self.clock.now_ms()))
        released = self.vault.documents.many(plan.released).values()
        for document in sorted(released, key=attrgetter("id")):
            if document.inactive is InactiveReason.SUPERSEDED:
                self.publisher.publish_again(document)

    def _merges(self, document: Document) -> list[Replacement]:
        """Return the entries of observations that were merged into *document*, and not served again."""
        entries = self.vault.journal.replacements(document.id) if CONSOLIDATED in document.tags else []
        return [entry for entry in entries if entry.document_id == document.id]

    def _sections(self, document: Document, gone: Collection[int]) -> Sections:
        """Return the sections of a handoff without the items that repeat the quote of one of *gone*."""
        if document.content_type != HANDOFF:
            return {}
        quotes = {_one_line(seen.quote) for number in gone for seen in self.vault.captures.sightings(number)}
        sections = handoff.sections_of(self.vault.documents.body(document.id) or "")
        rest = {
            name: [item for item in items if not any(quote in _one_line(item) for quote in quotes if quote)]
            for name, items in sections.items()
        }
        return {name: items for name, items in rest.items() if items}

    def _rewrite(self, document: Document, sections: Sections) -> None:
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
