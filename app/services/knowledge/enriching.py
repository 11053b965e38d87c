"""Enrichment: new and changed documents get a note, entities and links, by rules and by a model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from clawmem.app.services.knowledge.asking import DAY, Ask, DailyLimitReached
from clawmem.app.services.knowledge.facts import Facts
from clawmem.app.services.knowledge.graph import SIMILAR, nearest_documents
from clawmem.app.services.knowledge.model_enrichment import KnowledgeStores, ModelEnricher, ModelEnrichment
from clawmem.app.services.knowledge.resolving import Reading, Resolve, merge_concept, read, waits_for_vectors
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.enrichment import (
    LINK_KINDS,
    DescriptionUpdate,
    Link,
    entity_weight,
    least_rarity,
    rarity,
)
from clawmem.domain.knowledge.entities import is_generic
from clawmem.domain.knowledge.names import Name, cap_of, names_in
from clawmem.domain.knowledge.notes import keywords
from clawmem.domain.knowledge.triples import LITERAL, Statement, confidence_of
from clawmem.domain.maintenance.selection import newest_first
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError, ModelUnavailable
from clawmem.ports.knowledge import RULES, Entity, Note, Relation, RelationKind, Triple
from clawmem.ports.records import Grain, Term

BY_VECTORS, BY_NAMES, BY_MODEL = "vectors", "names", "model"
DOCUMENTS_EACH = 20  # relations per document and entity


class RelationBuilder:
    """Recomputes the outgoing relations of one document, separately by origin. To be called inside `Transactions.writing`."""

    def __init__(self, stores: KnowledgeStores) -> None:
        self._stores = stores

    def by_rules(self, document_id: int, at: str) -> int:
        """Renew the relations from stored vectors and mentions; return the number of changed relations."""
        near = nearest_documents(self._stores.embeddings, self._stores.vectors, document_id, SIMILAR)
        by_vectors = [
            Relation(document_id, target, RelationKind.SEMANTIC, cosine, BY_VECTORS, at)
            for target, cosine in near
        ]
        renew = self._stores.relations.renew
        return renew(RelationKind.SEMANTIC, BY_VECTORS, [document_id], by_vectors) + renew(
            RelationKind.ENTITY, BY_NAMES, [document_id], self._by_names(document_id, at)
        )

    def by_model(self, document_id: int, links: Sequence[tuple[int, Link]], at: str) -> int:
        """Renew the relations that a model states, which replace those from vectors; return the number of changes."""
        said = defaultdict[RelationKind, list[Relation]](list)
        for target, link in links:
            why = {"reasoning": link.reasoning} if link.reasoning else {}
            one = Relation(document_id, target, link.kind, link.confidence, BY_MODEL, at, why)
            said[link.kind].append(one)
        self._make_room(document_id, {relation.target for relation in said[RelationKind.SEMANTIC]})
        renew = self._stores.relations.renew
        return sum(renew(kind, BY_MODEL, [document_id], said[kind]) for kind in LINK_KINDS)

    def _make_room(self, document_id: int, targets: set[int]) -> None:
        there = self._stores.relations.outbound([document_id], [RelationKind.SEMANTIC], limit=1000)
        kept = [
            relation for relation in there if relation.origin == BY_VECTORS and relation.target not in targets
        ]
        self._stores.relations.renew(RelationKind.SEMANTIC, BY_VECTORS, [document_id], kept)

    def _by_names(self, document_id: int, at: str) -> Iterator[Relation]:
        documents = sum(self._stores.documents.collections().values())
        shared = defaultdict[int, list[tuple[float, Entity]]](list)
        for entity in self._stores.entities.mentions(document_id):
            rare = rarity(documents, entity.mention_count)
            for other in self._others(document_id, entity) if rare >= least_rarity(documents) else ():
                shared[other].append((rare, entity))
        for other, both in sorted(shared.items()):
            weight = entity_weight(max(rare for rare, _ in both), len(both))
            why = {"entities": sorted(entity.name for _, entity in both)}
            yield Relation(document_id, other, RelationKind.ENTITY, weight, BY_NAMES, at, why)

    def _others(self, document_id: int, entity: Entity) -> Iterable[int]:
        mentioning = self._stores.entities.mentioning(entity.id, DOCUMENTS_EACH + 1)
        return [number for number in mentioning if number != document_id][:DOCUMENTS_EACH]


EVERY = 1_000_000  # no limit: more documents than a vault has
PATIENCE = 2  # consecutive documents without an answer; a single one may be too long for the model

Progress = Callable[[int, int], None]
Tell = Callable[[int, "EnrichReport"], None]
Told = Callable[["EnrichReport"], None]


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """
    Counts of one run: documents enriched by rules and by a model, and the new or changed records.

    ``waiting`` documents can still be enriched with the means of this run. For ``failed`` documents the model gave no
    usable answer; ``stopped`` is the reason why no more questions were asked, empty if there was none.
    """

    by_rules: int = 0
    by_model: int = 0
    notes: int = 0
    mentions: int = 0
    links: int = 0
    triples: int = 0
    evolved: int = 0
    failed: int = 0
    waiting: int = 0
    stopped: str = ""

    def __add__(self, other: EnrichReport) -> EnrichReport:
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__slots__}
        return EnrichReport(**sums)


class Enrich:
    """
    Enriches document after document, each in one transaction; an interrupted run can be continued at any point.

    A document that the model cannot process now is enriched by rules and stays in the queue for the model.

    Args:
        ask: Asks a model; ``None`` without one.
    """

    def __init__(self, stores: KnowledgeStores, clock: Clock, ask: Ask | None = None) -> None:
        self._stores = stores
        self._clock = clock
        self._ask = ask
        self._linking = RelationBuilder(stores)
        self._facts = Facts(stores.documents, stores.triples)

    def __call__(
        self,
        limit: int | None = None,
        *,
        anew: bool = False,
        newest: bool = False,
        only: Collection[int] | None = None,
        progress: Progress = lambda done, total: None,
        tell: Tell = lambda document_id, report: None,
    ) -> EnrichReport:
        """
        Enrich waiting documents, at most *limit*; with `anew` also those described by other models.

        Documents that are unchanged since this model described them are skipped. The order is by id, or with *newest*
        by the time of writing, latest first, without documents that cannot be enriched yet.

        Args:
            only: The documents to enrich, if they wait; ``None`` for all.
            tell: Receives each document and its report, in the transaction that stores the result. Its exceptions
                roll that document back and propagate.

        Raises:
            VaultError: documents enriched before it stay enriched.
        """
        by_rules, by_model = self._queue(anew, by_model=False), self._queue(anew, by_model=True)
        queue = by_model if self._ask else by_rules
        waiting = [index for index in queue if only is None or index in only]
        numbers = (self._newest(waiting) if newest else waiting)[:limit]
        resolve = self._look_around(numbers)
        report, due, patience = EnrichReport(), set(by_rules), PATIENCE
        for done, number in enumerate(numbers, start=1):
            of_it = partial(tell, number)
            one = self._one(number, resolve, of_it, is_due=number in due, is_stopped=not patience)
            patience = patience - 1 if one.stopped else PATIENCE if one.by_model else patience
            report = replace(report + one, stopped=one.stopped or report.stopped)
            progress(done, len(numbers))
        left = self._stores.notes.waiting(EVERY, by_model=self._ask is not None)
        return replace(report, waiting=len(left))

    def _queue(self, anew: bool, *, by_model: bool) -> list[int]:
        waiting = self._stores.notes.waiting(EVERY, by_model=by_model)
        return sorted({*waiting, *self._by_others()}) if anew and by_model else waiting

    def _by_others(self) -> list[int]:
        """Return the documents whose note is not by this model: it is by another one, or this one failed for good."""
        if self._ask is None:
            return []
        try:
            model = self._ask.model
        except ModelUnavailable:
            return []  # reported with the first waiting document
        latest = ((number, self._stores.notes.get(number)) for number in self._stores.documents.ids())
        return [number for number, note in latest if note is not None and note.origin != model]

    def _newest(self, numbers: Sequence[int]) -> list[int]:
        documents = self._stores.documents.many(numbers).values()
        ready = [
            document for document in documents if not waits_for_vectors(self._stores.embeddings, document)
        ]
        return [document.id for document in newest_first(ready, len(ready))]

    def _look_around(self, numbers: Sequence[int]) -> Resolve:
        """Collect listed people and certain names from all documents first, so that each profits from the others."""
        people: set[str] = set()
        named: Counter[str] = Counter()
        for reading in filter(
            None, (read(self._stores.documents, self._stores.embeddings, number) for number in numbers)
        ):
            people.update(reading.people)
            named.update(name.name for name in names_in(reading.title, reading.body, reading.people))
        return Resolve(self._stores.entities, people, named)

    def _one(
        self, number: int, resolve: Resolve, tell: Told, *, is_due: bool, is_stopped: bool
    ) -> EnrichReport:
        reading = read(self._stores.documents, self._stores.embeddings, number)
        if reading is None:
            return EnrichReport()
        report = self._by_rules(reading, resolve, tell) if is_due else EnrichReport()
        if self._ask and not is_stopped:
            report += self._by_model(reading, resolve, self._ask, tell)
        return report

    # -- by rules -----------------------------------------------------------------------------------

    def _by_rules(self, reading: Reading, resolve: Resolve, tell: Told) -> EnrichReport:
        document = reading.document
        told = keywords(reading.title, reading.body, self._rarity())
        mentioned = resolve.all(_names(reading, resolve))
        with self._stores.transactions.writing():
            if not self._is_unchanged(reading):
                return EnrichReport()
            before = self._stores.notes.get(document.id)
            is_ours = before is None or before.origin == RULES
            noted = is_ours and self._noted(Note(document.id, told, document.tags))
            new = self._mention(reading, mentioned)
            links = self._linking.by_rules(document.id, self._now())
            self._stores.notes.settle(document.id, document.source_hash, by_model=False)
            report = EnrichReport(by_rules=1, notes=noted, mentions=new, links=links)
            tell(report)
        return report

    def _rarity(self) -> Callable[[str], float]:
        documents = self._stores.lexical.count(Grain.DOCUMENT)
        return lambda word: rarity(documents, self._stores.lexical.holding(Term(word), Grain.DOCUMENT))

    # -- by a model ---------------------------------------------------------------------------------

    def _by_model(self, reading: Reading, resolve: Resolve, ask: Ask, tell: Told) -> EnrichReport:
        try:
            made = ModelEnricher(self._stores, ask)(reading)
            return self._keep(reading, made, resolve, ask.model, tell)
        except (DailyLimitReached, ModelUnavailable) as reason:
            return EnrichReport(stopped=str(reason))
        except ModelError as error:
            return self._fail(reading, str(error), tell)

    def _fail(self, reading: Reading, why: str, tell: Told) -> EnrichReport:
        report = EnrichReport(failed=1)
        with self._stores.transactions.writing():
            self._stores.notes.fail(reading.document.id, reading.document.source_hash, why)
            tell(report)
        return report

    def _keep(
        self, reading: Reading, made: ModelEnrichment, resolve: Resolve, model: str, tell: Told
    ) -> EnrichReport:
        document = reading.document
        names = [*made.names, *_names(reading, resolve)][: cap_of(document.content_type)]
        with self._stores.transactions.writing():
            if not self._is_unchanged(reading):
                return EnrichReport()
            noted = self._noted(Note(document.id, *made.content, origin=model))
            new = self._mention(reading, resolve.all(names))  # before triples: it sets kinds
            triples = self._say(reading, made.statements, resolve)
            links = self._linking.by_model(document.id, made.links, self._now())
            evolved = sum(self._evolve(note, after, model, document.id) for note, after in made.evolved)
            self._stores.notes.settle(document.id, document.source_hash, by_model=True)
            report = EnrichReport(
                by_model=1, notes=noted, mentions=new, links=links, triples=triples, evolved=evolved
            )
            tell(report)
        return report

    def _evolve(self, before: Note, after: DescriptionUpdate, model: str, cause: int) -> int:
        latest = self._stores.notes.get(before.document_id)
        if latest is None or latest.version != before.version:
            return 0  # another process changed the note
        return self._noted(
            Note(before.document_id, *after.content, origin=model, cause=cause, reason=after.reasoning)
        )

    def _say(self, reading: Reading, statements: Sequence[tuple[Statement, str]], resolve: Resolve) -> int:
        if reading.has_own_triples:
            return 0
        said = list(self._triples(reading, statements, resolve))
        reopened = self._stores.triples.reopen(reading.document.id)
        self._stores.triples.forget(reading.document.id)
        new = self._stores.triples.add(said)
        self._facts.end_replaced(said)
        self._facts.end_again(reopened)
        return new

    def _triples(
        self, reading: Reading, statements: Sequence[tuple[Statement, str]], resolve: Resolve
    ) -> Iterator[Triple]:
        for statement, said in statements:
            yield Triple(
                resolve.spoken_of(statement.subject),
                statement.predicate,
                statement.object if statement.predicate in LITERAL else resolve.spoken_of(statement.object),
                reading.document.id,
                valid_from=reading.document.authored_at[:DAY],
                confidence=confidence_of(reading.document.content_type),
                said=said,
            )

    # -- both ---------------------------------------------------------------------------------------

    def _noted(self, note: Note) -> int:
        """Store a note; return 1 if it differs from the latest version."""
        before = self._stores.notes.get(note.document_id)
        version = self._stores.notes.put(replace(note, written_at=self._now()))
        return int(before is None or before.version != version)

    def _mention(self, reading: Reading, entities: Sequence[Entity]) -> int:
        """Set the mentions of a document; return the number of new ones."""
        document_id = reading.document.id
        if reading.has_own_mentions:
            return 0
        for entity in entities:
            if not is_generic(entity.kind):
                merge_concept(self._stores.entities, entity)
        before = {entity.id for entity in self._stores.entities.mentions(document_id)}
        after = {entity.id for entity in entities}
        if before != after:
            self._stores.entities.set_mentions(document_id, entities)
        return len(after - before)

    def _is_unchanged(self, reading: Reading) -> bool:
        """Whether the document is still the one that was read; a changed one waits for the next run."""
        now = self._stores.documents.get(reading.document.id)
        return now is not None and not now.inactive and now.source_hash == reading.document.source_hash

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())


def _names(reading: Reading, resolve: Resolve) -> list[Name]:
    """Return the names found in a document by rules."""
    content_type = reading.document.content_type
    return names_in(reading.title, reading.body, reading.people, content_type, resolve.is_known)
