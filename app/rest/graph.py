"""What leads from document to document: similar, causes, what is known of something, and building relations."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.cli.rendering import result_record
from clawmem.app.cli.retrieval import NO_VECTORS
from clawmem.app.opened import Services
from clawmem.app.records.documents import Step, place_of, steps_of
from clawmem.app.records.entities import Thing, thing_of
from clawmem.app.rest.documents import Named
from clawmem.app.rest.operation import Asked, changing, reading
from clawmem.app.rest.questions import FoundWhole
from clawmem.app.services.graph.build import SIMILAR, BuildReport
from clawmem.app.services.knowledge.naming import entity_named
from clawmem.app.services.retrieval.request import MAX_LIMIT
from clawmem.app.services.retrieval.similar import LIMIT
from clawmem.domain.graph.causal import DEPTH, LEAST_DEPTH, MOST_DEPTH, Direction
from clawmem.ports.entities import Entity
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.triples import Direction as Side
from clawmem.ports.triples import Triple, check_day

MOST_FACTS = 1000


class Near(Named):
    """A document, and how many that are near to it."""

    limit: int = Field(LIMIT, ge=1, le=MAX_LIMIT, description="How many.")
    as_of: str = Field("", description="As of this day.")


class Chain(Named):
    """A document, and how far what led to it is followed."""

    direction: Direction = Field(Direction.BOTH, description="What it led to, what led to it, or both.")
    depth: int = Field(DEPTH, ge=LEAST_DEPTH, le=MOST_DEPTH, description="How many steps.")


class About(Asked):
    """Something that documents speak of."""

    entity: str = Field(min_length=1, max_length=1000, description="Its name, or its id.")
    as_of: str = Field("", description="Only what held on this day, YYYY-MM-DD; else also what has ended.")
    direction: Side = Field(Side.BOTH, description="Whether it is the subject, the object, or either.")
    limit: int = Field(MAX_LIMIT, ge=1, le=MOST_FACTS, description="How many.")


class Kinds(Asked):
    """Which relations."""

    temporal: bool = Field(True, description="What came after what.")
    semantic: bool = Field(True, description="What is about the same.")
    threshold: float = Field(SIMILAR, ge=0, le=1, description="The cosine from which on that is so.")


class Neighbours(TypedDict):
    """What is near to a document by meaning, nearest first; a score is a cosine."""

    docid: str
    count: int
    similar: list[FoundWhole]
    degraded: dict[str, str]


class Steps(TypedDict):
    """What led to a document, and what it led to."""

    docid: str
    direction: str
    depth: int
    count: int
    links: list[Step]


class Fact(TypedDict):
    """What a document says of something; a day that is null is since ever, or up to now."""

    direction: str
    subject: str
    predicate: str
    object: str
    validFrom: str | None
    validTo: str | None
    confidence: float
    current: bool


class FactCounts(TypedDict):
    """How many facts hold, of everything and by predicate."""

    currentFacts: int
    predicates: dict[str, int]


class Facts(TypedDict):
    """What is known of something: what holds first, then what has ended."""

    entity: Thing
    direction: str
    as_of: str | None
    facts: list[Fact]
    stats: FactCounts


class Built(TypedDict, total=False):
    """The relations there are now, by kind."""

    temporal: BuildReport
    semantic: BuildReport


def similar(services: Services, asked: Near) -> dict[str, Any]:
    """The documents that are nearest to one by meaning."""
    document = services.lookup.find(asked.docid)
    if services.vault.embeddings.fingerprint() is None:
        raise EmbeddingError(f"Nothing can be compared by meaning: {NO_VECTORS}")
    now_ms = services.clock.now_ms()
    found = services.find_similar(document, now_ms=now_ms, limit=asked.limit, as_of=asked.as_of)
    near = [result_record(result) for result in found.answer.results]
    degraded = found.answer.trace.degraded
    return {"docid": found.docid, "count": len(near), "similar": near, "degraded": degraded}


def causes(services: Services, asked: Chain) -> Steps:
    """What led to a document, and what it led to."""
    document = services.lookup.find(asked.docid)
    steps = services.causal_links(document, asked.direction, asked.depth)
    links = steps_of(services, steps)
    return {
        "docid": place_of(services, document)["docid"].removeprefix("#"),
        "direction": asked.direction,
        "depth": asked.depth,
        "count": len(links),
        "links": links,
    }


def facts(services: Services, asked: About) -> Facts:
    """What documents say of somebody or something, and when it held."""
    if asked.as_of:
        check_day(asked.as_of)
    entity = entity_named(services.vault.entities, asked.entity)
    triples = services.vault.triples
    found = triples.recorded(entity.id, asked.limit, asked.direction, on=asked.as_of or None)
    counts = dict(triples.counts())
    return {
        "entity": thing_of(entity),
        "direction": asked.direction,
        "as_of": asked.as_of or None,
        "facts": [_fact(triple, entity) for triple in found],
        "stats": {"currentFacts": sum(counts.values()), "predicates": counts},
    }


def build(services: Services, asked: Kinds) -> Built:
    """Relate documents that follow each other in time, or are about the same; safe to repeat."""
    made: Built = {}
    if asked.temporal:
        made["temporal"] = services.build_graphs.temporal()
    if asked.semantic:
        made["semantic"] = services.build_graphs.semantic(asked.threshold)
    return made


def _fact(triple: Triple, entity: Entity) -> Fact:
    outgoing = triple.subject.id == entity.id
    return {
        "direction": Side.OUTGOING if outgoing else Side.INCOMING,
        "subject": triple.subject.name,
        "predicate": triple.predicate,
        "object": triple.object_name,
        "validFrom": triple.valid_from or None,
        "validTo": triple.valid_to or None,
        "confidence": triple.confidence,
        "current": triple.is_current,
    }


OPERATIONS = (
    reading("GET", "/graph/similar/{docid:path}", Near, Neighbours, similar),
    reading("GET", "/graph/causal/{docid:path}", Chain, Steps, causes),
    reading("GET", "/graph/facts", About, Facts, facts),
    changing("/graphs/build", Kinds, Built, build),
)
