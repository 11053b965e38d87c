"""Entities and the facts about them as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.app.records.provenance import provenance_of
from clawmem.app.services.knowledge.ending import in_ids
from clawmem.app.services.knowledge.facts import entity_facts
from clawmem.domain.security.quoting import lines_to_read, without_orders
from clawmem.ports.origin import Origin
from clawmem.ports.triples import Direction

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.knowledge.facts import EntityFacts
    from clawmem.ports.entities import Entity
    from clawmem.ports.triples import Triple

FACTS = 100  # the default limit
MOST_FACTS = 1000


class Thing(TypedDict):
    """An entity that documents mention; ``mention_count`` is the number of these documents."""

    id: str
    name: str
    kind: str
    mention_count: int


class Things(TypedDict):
    """Entities, most mentioned first."""

    count: int
    entities: list[Thing]


class Fact(TypedDict):
    """
    A fact that a document states; a null ``valid_from`` is an open start, a null ``valid_to`` means up to now.

    ``id`` identifies the statement: it is the same in every answer, for every document that states it, and after the
    fact has ended. ``direction`` is relative to the requested entity. ``said`` is the source sentence, ``file`` its
    document, and ``ended_by`` the document that ends the fact, or null. ``origin`` is that of ``file``.
    """

    id: str
    direction: str
    subject: str
    predicate: str
    object: str
    valid_from: str | None
    valid_to: str | None
    confidence: float
    current: bool
    file: str
    said: str
    ended_by: str | None
    origin: Origin
    trusted: bool


class FactCounts(TypedDict):
    """Numbers of all facts: in total, current and ended; ``predicates`` counts the current ones by predicate."""

    total_triples: int
    current_facts: int
    expired_facts: int
    predicates: dict[str, int]


class Facts(TypedDict):
    """The facts about an entity: current facts first, then ended ones."""

    entity: Thing
    direction: str
    as_of: str | None
    facts: list[Fact]
    stats: FactCounts


def thing_of(entity: Entity) -> Thing:
    """Return an entity as a record."""
    return {
        "id": entity.id,
        "name": entity.name,
        "kind": entity.kind,
        "mention_count": entity.mention_count,
    }


def things_of(services: Services, words: str, limit: int) -> Things:
    """Return the entities in whose name each of *words* is the beginning of a word."""
    found = list(map(thing_of, services.vault.entities.search(words, limit)))
    return {"count": len(found), "entities": found}


def facts_of(
    services: Services, name: str, as_of: str = "", direction: str = Direction.BOTH, limit: int = FACTS
) -> Facts:
    """Return the facts about the entity *name*; raises as `clawmem.app.services.knowledge.facts.known_of`."""
    known = entity_facts(services.vault, name, limit, Direction(direction), as_of or None)
    return {
        "entity": thing_of(known.entity),
        "direction": str(direction),
        "as_of": as_of or None,
        "facts": [_fact(one, known) for one in known.triples],
        "stats": {
            "total_triples": known.total,
            "current_facts": known.current,
            "expired_facts": known.total - known.current,
            "predicates": dict(known.predicates),
        },
    }


def fact_lines(fact: Fact) -> list[str]:
    """
    Return a fact as `[outgoing] Ann → uses → Redis (since 2026-03-31) [current, 90%]`; quoted if it is not trusted.
    """
    return lines_to_read(_fact_line(fact), fact["origin"])


def _fact_line(fact: Fact) -> str:
    since = f" (since {fact['valid_from']})" if fact["valid_from"] else ""
    until = "current" if fact["current"] else f"ended {fact['valid_to']}"
    said = f"{fact['subject']} → {fact['predicate']} → {fact['object']}"
    return f"[{fact['direction']}] {said}{since} [{until}, {fact['confidence']:.0%}] {fact['file']}"


def counts_line(stats: FactCounts) -> str:
    """Return the counts of all facts as a line."""
    return f"Of everything: {stats['current_facts']} facts hold, {stats['expired_facts']} ended."


def _fact(triple: Triple, known: EntityFacts) -> Fact:
    is_outgoing = triple.subject.id == known.entity.id
    ender, document = known.documents.get(triple.ended_by or 0), known.documents[triple.document_id]
    subject, object_, said = (
        without_orders(text, document.origin)
        for text in (triple.subject.name, triple.object_name, triple.said)
    )
    return {
        "id": in_ids(triple).id,
        "direction": str(Direction.OUTGOING if is_outgoing else Direction.INCOMING),
        "subject": subject,
        "predicate": triple.predicate,
        "object": object_,
        "valid_from": triple.valid_from or None,
        "valid_to": triple.valid_to or None,
        "confidence": triple.confidence,
        "current": triple.is_current,
        "file": document.display_path,
        "said": said,
        "ended_by": ender.display_path if ender is not None and ender.inactive is None else None,
        **provenance_of(document.origin),
    }
