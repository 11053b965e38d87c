"""Facts stated in notes, each stored with its document and sentence."""

from __future__ import annotations

from clawmem.app.services.knowledge.ending import end_replaced_facts
from clawmem.domain.capture.notes import Note
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.entities import CONCEPT, entity_id, ids_of, only_one
from clawmem.domain.knowledge.triples import LITERAL, Statement, confidence_of
from clawmem.ports.clock import Clock
from clawmem.ports.entities import Entity
from clawmem.ports.triples import Triple
from clawmem.ports.vault import Vault

DAY = len("2026-03-31")


class Statements:
    """Stores facts of notes, and ends facts that they replace. To be called inside `Vault.writing`."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def keep(self, note: Note, document_id: int) -> int:
        """
        Store the facts in *note*, the document *document_id*, valid from its day; return the number of new ones.

        A name refers to the only entity of that name; if there is none or several, to a concept.
        """
        day = self._day(note)
        triples = [self._triple(one, note, document_id, day) for one in note.statements]
        new = self._vault.triples.add(triples)
        end_replaced_facts(self._vault, triples)
        return new

    def _day(self, note: Note) -> str:
        said_ms = parse_iso(note.message.at)
        return iso_utc(self._clock.now_ms() if said_ms is None else said_ms)[:DAY]

    def _triple(self, one: Statement, note: Note, document_id: int, day: str) -> Triple:
        return Triple(
            self._entity(one.subject),
            one.predicate,
            one.object if one.predicate in LITERAL else self._entity(one.object),
            document_id,
            valid_from=day,
            confidence=confidence_of("" if note.is_observation else note.kind),
            said=note.quote,
        )

    def _entity(self, name: str) -> Entity:
        found = only_one(name, self._vault.entities.known(ids_of(name)))
        return found or Entity(entity_id(name, CONCEPT), name, CONCEPT)
