"""Enrichment: new and changed documents get a note, entities and links, by rules and by a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.app.services.knowledge.facts import Facts
from clawmem.app.services.knowledge.graph import SIMILAR, nearest_documents
from clawmem.app.services.knowledge.resolving import Reading, Resolve, merge_concept, read, waits_for_vectors
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge import enrichment
from clawmem.domain.knowledge.enrichment import (
    EVOLVED,
    LINK_KINDS,
    NEIGHBOURS,
    NOTE,
    Content,
    DescriptionUpdate,
    Link,
    ModelTask,
    entity_weight,
    least_rarity,
    rarity,
)
from clawmem.domain.knowledge.entities import is_generic
from clawmem.domain.knowledge.names import Name, cap_of, names_in
from clawmem.domain.knowledge.triples import Statement, confidence_of
from clawmem.domain.maintenance.selection import newest_first
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.redaction import redact
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelAnswerInvalid, ModelError, ModelUnavailable
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.knowledge import (
    RULES,
    Entity,
    EntityStore,
    Note,
    NoteStore,
    Relation,
    RelationKind,
    RelationStore,
    TripleStore,
)
from clawmem.ports.records import Grain, Term
from clawmem.ports.storage import Transactions

BY_VECTORS, BY_NAMES, BY_MODEL = "vectors", "names", "model"
DOCUMENTS_EACH = 20  # relations per document and entity
EVERY = 1_000_000  # no limit: more documents than a vault has
PATIENCE = 2  # consecutive documents without an answer; a single one may be too long for the model
BRIEF = 200  # characters shown of a document that has no description yet

Progress = Callable[[int, int], None]
Receive = Callable[["EnrichReport"], None]


@dataclass(frozen=True)
class KnowledgeStores:
    """Stores and ports that an enrichment reads and writes."""

    documents: DocumentStore
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    entities: EntityStore
    triples: TripleStore
    relations: RelationStore
    notes: NoteStore
    transactions: Transactions


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


class ModelEnrichment(NamedTuple):
    """Validated answers of a model; ``evolved`` holds changes to the notes of other documents."""

    content: Content
    names: list[Name]
    statements: list[tuple[Statement, str]]
    links: list[tuple[int, Link]]
    evolved: list[tuple[Note, DescriptionUpdate]]


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
        self._facts = Facts(stores.documents, stores.triples)

    def __call__(
        self,
        limit: int | None = None,
        *,
        anew: bool = False,
        newest: bool = False,
        only: Collection[int] | None = None,
        progress: Progress = lambda done, total: None,
        tell: Callable[[int, EnrichReport], None] = lambda document_id, report: None,
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
        stores = self._stores
        due = set(stores.notes.waiting(EVERY, by_model=False))
        queue = stores.notes.waiting(EVERY, by_model=self._ask is not None)
        if anew:
            queue = sorted({*queue, *self._described_by_others()})
        numbers = [number for number in queue if only is None or number in only]
        if newest:
            documents = stores.documents.many(numbers).values()
            ready = [document for document in documents if not waits_for_vectors(stores.embeddings, document)]
            numbers = [document.id for document in newest_first(ready, len(ready))]
        numbers = numbers[:limit]
        report, patience = EnrichReport(), PATIENCE
        for done, number in enumerate(numbers, start=1):
            reading = read(stores.documents, stores.embeddings, number)
            receive: Receive = partial(tell, number)
            part = EnrichReport()
            if reading and number in due:
                part += self._by_rules(reading, receive)
            if reading and self._ask and patience:
                part += self._by_model(reading, self._ask, receive)
            patience = patience - 1 if part.stopped else PATIENCE if part.by_model else patience
            report = replace(report + part, stopped=part.stopped or report.stopped)
            progress(done, len(numbers))
        left = stores.notes.waiting(EVERY, by_model=self._ask is not None)
        return replace(report, waiting=len(left))

    def _described_by_others(self) -> list[int]:
        """Return the documents whose note is not by this model: it is by another one, or this one failed for good."""
        if self._ask is None:
            return []
        try:
            model = self._ask.model
        except ModelUnavailable:
            return []  # reported with the first waiting document
        latest = ((number, self._stores.notes.get(number)) for number in self._stores.documents.ids())
        return [number for number, note in latest if note is not None and note.origin != model]

    # -- by rules -----------------------------------------------------------------------------------

    def _by_rules(self, reading: Reading, receive: Receive) -> EnrichReport:
        document, stores = reading.document, self._stores
        count = stores.lexical.count(Grain.DOCUMENT)
        keywords = enrichment.keywords(
            reading.title,
            reading.body,
            lambda word: rarity(count, stores.lexical.holding(Term(word), Grain.DOCUMENT)),
        )
        resolve = Resolve(stores.entities, reading.people)
        entities = resolve.all(_names(reading, resolve))
        with stores.transactions.writing():
            if not self._is_unchanged(reading):
                return EnrichReport()
            before = stores.notes.get(document.id)
            is_by_rules = before is None or before.origin == RULES
            noted = self._put_note(Note(document.id, keywords, document.tags)) if is_by_rules else 0
            new = self._mention(reading, entities)
            at = self._now()
            near = nearest_documents(stores.embeddings, stores.vectors, document.id, SIMILAR)
            similar = [
                Relation(document.id, target, RelationKind.SEMANTIC, cosine, BY_VECTORS, at)
                for target, cosine in near
            ]
            shared = self._sharing_names(document.id, at)
            links = stores.relations.renew(RelationKind.SEMANTIC, BY_VECTORS, [document.id], similar)
            links += stores.relations.renew(RelationKind.ENTITY, BY_NAMES, [document.id], shared)
            stores.notes.settle(document.id, document.source_hash, by_model=False)
            report = EnrichReport(by_rules=1, notes=noted, mentions=new, links=links)
            receive(report)
        return report

    def _sharing_names(self, document_id: int, at: str) -> Iterator[Relation]:
        """Yield relations to the documents that mention the same rare entities."""
        documents = sum(self._stores.documents.collections().values())
        shared = defaultdict[int, list[tuple[float, Entity]]](list)
        for entity in self._stores.entities.mentions(document_id):
            rare = rarity(documents, entity.mention_count)
            if rare >= least_rarity(documents):
                mentioning = self._stores.entities.mentioning(entity.id, DOCUMENTS_EACH + 1)
                for other in [number for number in mentioning if number != document_id][:DOCUMENTS_EACH]:
                    shared[other].append((rare, entity))
        for other, both in sorted(shared.items()):
            weight = entity_weight(max(rare for rare, _ in both), len(both))
            why = {"entities": sorted(entity.name for _, entity in both)}
            yield Relation(document_id, other, RelationKind.ENTITY, weight, BY_NAMES, at, why)

    # -- by a model ---------------------------------------------------------------------------------

    def _by_model(self, reading: Reading, ask: Ask, receive: Receive) -> EnrichReport:
        try:
            return self._save(reading, self._answers(reading, ask), ask.model, receive)
        except (DailyLimitReached, ModelUnavailable) as reason:
            return EnrichReport(stopped=str(reason))
        except ModelError as error:
            report = EnrichReport(failed=1)
            with self._stores.transactions.writing():
                self._stores.notes.fail(reading.document.id, reading.document.source_hash, str(error))
                receive(report)
            return report

    def _answers(self, reading: Reading, ask: Ask) -> ModelEnrichment:
        """
        Return the answers to all questions about one document.

        Raises:
            ModelAnswerInvalid: the answer has no usable description, also after a second attempt.
            ModelError, DailyLimitReached: there was no answer.
        """

        def answer(task: ModelTask, prompt: str) -> Any:
            value = ask(task, prompt)
            if value is None:
                raise ModelAnswerInvalid(ask.model, f"no usable {task.purpose} came back")
            return value

        stores, document = self._stores, reading.document
        shown = enrichment.shown(reading.title, document.content_type, reading.body)
        content = enrichment.read_content(answer(NOTE, enrichment.note_prompt(shown)))
        if content is None:
            raise ModelAnswerInvalid(ask.model, "no description came back")
        named = answer(enrichment.NAMES, enrichment.names_prompt(shown))
        text = reading.body[: enrichment.SHOWN]
        names = enrichment.read_names(named, reading.title, text, document.content_type)
        description = _description(reading.title, content)

        similar = nearest_documents(stores.embeddings, stores.vectors, document.id, 0.0, NEIGHBOURS)
        near = [number for number, _ in similar if stores.documents.body(number)]
        links: list[tuple[int, Link]] = []
        if near:
            prompt = enrichment.links_prompt(description, list(map(self._brief, near)))
            found = enrichment.read_links(answer(enrichment.LINKS, prompt), len(near))
            links = [(near[link.place], link) for link in found]

        evolved: list[tuple[Note, DescriptionUpdate]] = []
        is_new = not any(note.origin != RULES for note in stores.notes.history(document.id))
        if is_new and is_verified(document.origin):  # else it may not change other descriptions
            strongest = sorted(links, key=lambda pair: (-pair[1].confidence, pair[0]))
            targets = dict.fromkeys(target for target, _ in strongest)
            described = (note for target in targets if (note := stores.notes.get(target)) and note.context)
            for note in list(islice(described, EVOLVED)):
                before = Content(note.keywords, note.tags, note.context)
                prompt = enrichment.evolution_prompt(description, self._title(note.document_id), before)
                update = enrichment.read_evolution(answer(enrichment.EVOLUTION, prompt), before)
                if update is not None:
                    evolved.append((note, update))
        statements = enrichment.read_statements(named, text)
        return ModelEnrichment(content, names, statements, links, evolved)

    def _brief(self, document_id: int) -> str:
        title = self._title(document_id)
        if (note := self._stores.notes.get(document_id)) and note.context:
            return _description(title, Content(note.keywords, note.tags, note.context))
        return f"{title}: {redact(self._stores.documents.body(document_id) or '')[:BRIEF]}"

    def _title(self, document_id: int) -> str:
        document = self._stores.documents.get(document_id)
        return redact(document.title) if document else ""

    def _save(self, reading: Reading, answers: ModelEnrichment, model: str, receive: Receive) -> EnrichReport:
        document, stores = reading.document, self._stores
        resolve = Resolve(stores.entities, reading.people)
        names = [*answers.names, *_names(reading, resolve)][: cap_of(document.content_type)]
        with stores.transactions.writing():
            if not self._is_unchanged(reading):
                return EnrichReport()
            noted = self._put_note(Note(document.id, *answers.content, origin=model))
            new = self._mention(reading, resolve.all(names))  # before triples: it sets kinds
            triples = 0
            if not reading.has_own_triples:
                certainty, since = confidence_of(document.content_type), document.authored_at
                triples = self._facts.record(
                    document.id, answers.statements, resolve.entity_named, since, certainty, anew=True
                )
            links = self._put_links(document.id, answers.links)
            evolved = 0
            for note, update in answers.evolved:
                latest = stores.notes.get(note.document_id)
                if latest and latest.version == note.version:  # no other process changed the note
                    why = update.reasoning
                    changed = Note(
                        note.document_id, *update.content, origin=model, cause=document.id, reason=why
                    )
                    evolved += self._put_note(changed)
            stores.notes.settle(document.id, document.source_hash, by_model=True)
            report = EnrichReport(
                by_model=1, notes=noted, mentions=new, links=links, triples=triples, evolved=evolved
            )
            receive(report)
        return report

    def _put_links(self, document_id: int, links: Sequence[tuple[int, Link]]) -> int:
        """Renew the relations that a model states, which replace those from vectors; return the number of changes."""
        relations, at = self._stores.relations, self._now()
        stated = defaultdict[RelationKind, list[Relation]](list)
        for target, link in links:
            why = {"reasoning": link.reasoning} if link.reasoning else {}
            stated[link.kind].append(
                Relation(document_id, target, link.kind, link.confidence, BY_MODEL, at, why)
            )
        targets = {relation.target for relation in stated[RelationKind.SEMANTIC]}
        similar = relations.outbound([document_id], [RelationKind.SEMANTIC], limit=1000)
        others = [edge for edge in similar if edge.origin == BY_VECTORS and edge.target not in targets]
        relations.renew(RelationKind.SEMANTIC, BY_VECTORS, [document_id], others)
        return sum(relations.renew(kind, BY_MODEL, [document_id], stated[kind]) for kind in LINK_KINDS)

    # -- both ---------------------------------------------------------------------------------------

    def _put_note(self, note: Note) -> int:
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


def _description(title: str, content: Content) -> str:
    return f"{title}: {content.context} ({', '.join(content.keywords)})"
