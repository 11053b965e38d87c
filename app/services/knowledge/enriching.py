"""Enrichment: new and changed documents get a note, entities and links, by rules and by a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clawmem.app.services.capture.visibility import Withheld
from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.app.services.knowledge.facts import Facts, Resolve
from clawmem.app.services.knowledge.graph import SIMILAR, nearest_documents
from clawmem.app.services.progress import Progress
from clawmem.domain.documents.names import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge import enrichment
from clawmem.domain.knowledge.enrichment import Content, entity_weight, least_rarity, rarity
from clawmem.domain.knowledge.entities import (
    CONCEPT,
    cap_of,
    entity_id,
    ids_of,
    is_about_person,
    is_generic,
    names_in,
    people_of,
)
from clawmem.domain.knowledge.llm_answer import ModelTask
from clawmem.domain.knowledge.triples import confidence_of
from clawmem.domain.maintenance.schedule import newest_first
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.redaction import redact
from clawmem.domain.text.words import search_text
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
from clawmem.ports.records import Document, EmbedState, FragmentKind, Grain, Term
from clawmem.ports.storage import Transactions

BY_VECTORS, BY_MODEL = "vectors", "model"
DOCUMENTS_EACH = 20  # relations per document and entity

Receive = Callable[["EnrichReport"], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """Input of an enrichment: a document with its redacted title and body, its people, and all with a note of their own."""

    document: Document
    title: str
    body: str
    people: tuple[str, ...]
    known_people: tuple[str, ...]


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

    @property
    def exit_code(self) -> int:
        """Return 1 if the model stopped answering."""
        return int(bool(self.stopped))

    @property
    def degraded(self) -> dict[str, str]:
        """Return why no more questions were asked."""
        return {"enrich": self.stopped} if self.stopped else {}

    @property
    def remarks(self) -> list[str]:
        """Return sentences about documents without an answer or without vectors."""
        failed = f"The model gave no usable answer for {self.failed} documents; rules were used."
        waiting = f"{self.waiting} documents wait for vectors. Run: clawmem embed"
        is_idle = not (self.by_rules or self.by_model or self.failed or self.stopped)
        return [failed] * bool(self.failed) + [waiting] * bool(self.waiting and is_idle)

    def __add__(self, other: EnrichReport) -> EnrichReport:
        return EnrichReport(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True)
class Enrich:
    """
    Enriches document after document, each in one transaction; an interrupted run can be continued at any point.

    A document that the model cannot process now is enriched by rules and stays in the queue for the model.

    Args:
        ask: Asks a model; ``None`` without one.
    """

    documents: DocumentStore
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    entities: EntityStore
    triples: TripleStore
    relations: RelationStore
    notes: NoteStore
    transactions: Transactions
    clock: Clock
    withheld: Withheld
    ask: Ask | None = None

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
        ask = self.ask
        due = set(self.notes.waiting(by_model=False))
        private = self.withheld()  # no model reads them
        waiting = self.notes.waiting(by_model=ask is not None)
        queue = [number for number in waiting if number in due or number not in private]
        if anew and ask:
            with suppress(ModelUnavailable):  # reported with the first waiting document
                model = ask.model
                latest = ((number, self.notes.get(number)) for number in self.documents.ids())
                queue = sorted({*queue, *(key for key, note in latest if note and note.origin != model)})
        numbers = [number for number in queue if only is None or number in only]
        if newest:
            ready = [note for note in self.documents.many(numbers).values() if not self._waits(note)]
            numbers = [document.id for document in newest_first(ready, len(ready))]
        numbers = numbers[:limit]
        served = every_served(self.documents) if numbers else ()
        people = tuple(redact(note.title) for note in served if is_about_person(note))
        report = EnrichReport()
        for done, number in enumerate(numbers, start=1):
            part = EnrichReport()
            if reading := self._read(number, people):
                receive = partial(tell, number)
                if number in due:
                    part += self._by_rules(reading, receive)
                if ask and not report.stopped and number not in private:
                    part += self._by_model(reading, ask, receive)
            report += part
            progress(done, len(numbers))
        waiting = self.notes.waiting(by_model=ask is not None)
        return replace(report, waiting=sum(number not in private for number in waiting))

    def _waits(self, document: Document) -> bool:
        """Whether the vectors of a document are pending: links need them. False if the vault has no vectors at all."""
        return document.embed_state is EmbedState.PENDING and self.embeddings.fingerprint() is not None

    def _read(self, document_id: int, known_people: tuple[str, ...]) -> Reading | None:
        document = self.documents.get(document_id)
        if document is None or document.inactive or self._waits(document):
            return None
        parts = self.documents.fragments(document_id)
        fields = dict(p.text.split(": ", 1) for p in parts if p.kind is FragmentKind.FRONT_MATTER)
        body = self.documents.body(document_id) or ""
        people = tuple(people_of(fields))
        return Reading(document, redact(document.title), redact(body), people, known_people)

    def _resolve(self, reading: Reading) -> Resolve:
        """Return how names are resolved: a first name also means one of the people who have a note of their own."""
        return Resolve(self.entities, (*reading.people, *reading.known_people))

    def _by_rules(self, reading: Reading, receive: Receive) -> EnrichReport:
        document = reading.document
        count = self.lexical.count(Grain.DOCUMENT)
        keywords = enrichment.keywords(
            reading.title,
            reading.body,
            lambda word: rarity(count, self.lexical.holding(Term(search_text(word)), Grain.DOCUMENT)),
        )
        resolve = self._resolve(reading)
        entities = resolve.all(
            names_in(reading.title, reading.body, reading.people, document.content_type, resolve.is_known)
        )
        with self.transactions.writing():
            if not self._is_unchanged(reading):
                return EnrichReport()
            before = self.notes.get(document.id)
            is_by_rules = before is None or before.origin == RULES
            noted = self._put_note(Note(document.id, keywords, document.tags)) if is_by_rules else 0
            new = self._mention(reading, entities)
            near = nearest_documents(self.embeddings, self.vectors, document.id, SIMILAR)
            similar = [(number, cosine, dict[str, Any]()) for number, cosine in near]
            links = self._renew(document.id, RelationKind.SEMANTIC, BY_VECTORS, similar)
            # Related to the documents that mention the same rare entities.
            documents = sum(self.documents.collections().values())
            shared = defaultdict[int, list[tuple[float, str]]](list)
            for entity in self.entities.mentions(document.id):
                rare = rarity(documents, entity.mention_count)
                if rare >= least_rarity(documents):
                    mentioning = self.entities.mentioning(entity.id, DOCUMENTS_EACH + 1)
                    for other in [number for number in mentioning if number != document.id][:DOCUMENTS_EACH]:
                        shared[other].append((rare, entity.name))
            sharing = [
                (other, entity_weight(max(both)[0], len(both)), {"entities": sorted(n for _, n in both)})
                for other, both in sorted(shared.items())
            ]
            links += self._renew(document.id, RelationKind.ENTITY, "names", sharing)
            self.notes.settle(document.id, document.source_hash, by_model=False)
            report = EnrichReport(by_rules=1, notes=noted, mentions=new, links=links)
            receive(report)
        return report

    def _by_model(self, reading: Reading, ask: Ask, receive: Receive) -> EnrichReport:
        """Enrich a document by the answers of a model; report why there are none."""

        def answer(task: ModelTask, prompt: str) -> Any:
            value = ask(task, prompt)
            if value is None:
                raise ModelAnswerInvalid(ask.model, f"no usable {task.purpose} came back")
            return value

        document = reading.document
        try:
            shown = enrichment.shown(reading.title, document.content_type, reading.body)
            content = enrichment.read_content(answer(enrichment.NOTE, enrichment.note_prompt(shown)))
            if content is None:
                raise ModelAnswerInvalid(ask.model, "no description came back")
            named = answer(enrichment.NAMES, enrichment.names_prompt(shown))
            description = _description(reading.title, content)
            links = self._links(document.id, description, answer)
            is_new = not any(note.origin != RULES for note in self.notes.history(document.id))
            may_evolve = is_new and is_verified(document.origin)  # else it may not change other descriptions
            linked = (self.notes.get(target) for target in dict.fromkeys(target for target, _ in links))
            described = [note for note in linked if note and note.context] if may_evolve else []
            evolved: list[tuple[Note, Note]] = []  # notes that the new document changes, with their new form
            for note in described[: enrichment.EVOLVED]:
                before = Content(note.keywords, note.tags, note.context)
                prompt = enrichment.evolution_prompt(description, self._title(note.document_id), before)
                update = enrichment.read_evolution(answer(enrichment.EVOLUTION, prompt), before)
                if update is not None:
                    changed_content, reason = update
                    after = Note(note.document_id, *changed_content, cause=document.id, reason=reason)
                    evolved.append((note, after))
            model = ask.model
        except (DailyLimitReached, ModelUnavailable) as reason:
            return EnrichReport(stopped=str(reason))
        except ModelError:
            report = EnrichReport(failed=1)
            with self.transactions.writing():
                self.notes.fail(document.id, document.source_hash)
                receive(report)
            return report

        text = reading.body[: enrichment.SHOWN]
        resolve = self._resolve(reading)
        names = enrichment.read_names(named, reading.title, text, document.content_type)
        names += names_in(
            reading.title, reading.body, reading.people, document.content_type, resolve.is_known
        )
        with self.transactions.writing():
            if not self._is_unchanged(reading):
                return EnrichReport()
            noted = self._put_note(Note(document.id, *content, origin=model))
            # Before triples: it sets kinds.
            new = self._mention(reading, resolve.all(names[: cap_of(document.content_type)]))
            triples = 0
            if document.collection != OWN_COLLECTION:  # else they were stored when it was captured
                statements, since = enrichment.read_statements(named, text), document.authored_at
                triples = Facts(self.documents, self.triples).record(
                    document.id,
                    statements,
                    resolve.entity_named,
                    since,
                    confidence_of(document.content_type),
                    anew=True,
                )
            related = self._put_links(document.id, links)
            changed = 0
            for note, after in evolved:
                latest = self.notes.get(note.document_id)
                if latest and latest.version == note.version:  # no other process changed the note
                    changed += self._put_note(replace(after, origin=model))
            self.notes.settle(document.id, document.source_hash, by_model=True)
            report = EnrichReport(0, 1, noted, new, related, triples, changed)
            receive(report)
        return report

    def _links(
        self, document_id: int, description: str, answer: Callable[[ModelTask, str], Any]
    ) -> list[tuple[int, enrichment.Link]]:
        """Return the links to similar documents that a model sees, strongest first."""
        similar = nearest_documents(self.embeddings, self.vectors, document_id, 0.0, enrichment.NEIGHBOURS)
        private = self.withheld()
        bodies = self.documents.bodies([number for number, _ in similar if number not in private])
        texts: dict[int, str] = {}
        for number in (number for number, _ in similar if bodies.get(number)):
            title, note = self._title(number), self.notes.get(number)
            brief = f"{title}: {redact(bodies[number])[:200]}"
            texts[number] = _description(title, note) if note and note.context else brief
        if not texts:
            return []
        try:
            value = answer(enrichment.LINKS, enrichment.links_prompt(description, [*texts.values()]))
        except ModelAnswerInvalid:  # description and names are good without links
            return []
        links = [([*texts][link.place], link) for link in enrichment.read_links(value, len(texts))]
        return sorted(links, key=lambda pair: (-pair[1].confidence, pair[0]))

    def _title(self, document_id: int) -> str:
        document = self.documents.get(document_id)
        return redact(document.title) if document else ""

    def _put_links(self, document_id: int, links: Sequence[tuple[int, enrichment.Link]]) -> int:
        """Renew the relations that a model states, which replace those from vectors; return the number of changes."""
        stated = {target for target, link in links if link.kind is RelationKind.SEMANTIC}
        similar = self.relations.outbound([document_id], [RelationKind.SEMANTIC], limit=1000)
        others = [edge for edge in similar if edge.origin == BY_VECTORS and edge.target not in stated]
        self.relations.renew(RelationKind.SEMANTIC, BY_VECTORS, [document_id], others)
        changed = 0
        for kind in enrichment.LINK_KINDS:
            of_kind = [
                (target, link.confidence, {"reasoning": link.reasoning} if link.reasoning else {})
                for target, link in links
                if link.kind is kind
            ]
            changed += self._renew(document_id, kind, BY_MODEL, of_kind)
        return changed

    def _renew(
        self,
        document_id: int,
        kind: RelationKind,
        origin: str,
        targets: Iterable[tuple[int, float, dict[str, Any]]],
    ) -> int:
        """Replace the relations of a kind and origin that begin at a document; return the number of changes."""
        at = iso_utc(self.clock.now_ms())
        edges = [
            Relation(document_id, target, kind, weight, origin, at, why) for target, weight, why in targets
        ]
        return self.relations.renew(kind, origin, [document_id], edges)

    def _put_note(self, note: Note) -> int:
        """Store a note; return 1 if it differs from the latest version."""
        before = self.notes.get(note.document_id)
        version = self.notes.put(replace(note, written_at=iso_utc(self.clock.now_ms())))
        return int(before is None or before.version != version)

    def _mention(self, reading: Reading, entities: Sequence[Entity]) -> int:
        """Set the mentions of a document; return the number of new ones."""
        document_id = reading.document.id
        if reading.document.display_path.startswith(f"{OWN_COLLECTION}/entities/"):
            return 0  # a page about one entity declares its mentions
        for entity in entities:
            # A concept of the same name is merged into it, unless another specific kind has that name.
            concept = entity_id(entity.name, CONCEPT)
            known = () if is_generic(entity.kind) else self.entities.known(ids_of(entity.name))
            if concept in known and all(text in (concept, entity.id) for text in known):
                self.entities.merge(concept, entity)
        before = {entity.id for entity in self.entities.mentions(document_id)}
        after = {entity.id for entity in entities}
        if before != after:
            self.entities.set_mentions(document_id, entities)
        return len(after - before)

    def _is_unchanged(self, reading: Reading) -> bool:
        """Whether the document is still the one that was read; a changed one waits for the next run."""
        now = self.documents.get(reading.document.id)
        return now is not None and not now.inactive and now.source_hash == reading.document.source_hash


def _description(title: str, content: Content | Note) -> str:
    return f"{title}: {content.context} ({', '.join(content.keywords)})"
