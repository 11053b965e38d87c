"""Output of a model for one document: a note, entities, facts, links, and changes to notes of related documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.knowledge.graph import nearest_documents
from clawmem.app.services.knowledge.resolving import Reading
from clawmem.domain.knowledge import enrichment, notes
from clawmem.domain.knowledge.enrichment import EVOLVED, NEIGHBOURS, DescriptionUpdate, Link, ModelTask
from clawmem.domain.knowledge.names import Name
from clawmem.domain.knowledge.notes import Content
from clawmem.domain.knowledge.triples import Statement
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.redaction import redact
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelAnswerInvalid
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.knowledge import RULES, EntityStore, Note, NoteStore, RelationStore, TripleStore
from clawmem.ports.storage import Transactions

NOTE = ModelTask(notes.PURPOSE, notes.SCHEMA, notes.TEMPERATURE, notes.MAX_TOKENS)
BRIEF = 200  # characters shown of a document that has no description yet


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
class ModelEnrichment:
    """Validated answers of a model; ``evolved`` holds changes to the notes of other documents."""

    content: Content
    names: list[Name]
    statements: list[tuple[Statement, str]]
    links: list[tuple[int, Link]] = field(default_factory=list)
    evolved: list[tuple[Note, DescriptionUpdate]] = field(default_factory=list)


class ModelEnricher:
    """Asks a model all questions about one document; stores nothing."""

    def __init__(self, stores: KnowledgeStores, ask: Ask) -> None:
        self._stores = stores
        self._ask = ask

    def __call__(self, reading: Reading) -> ModelEnrichment:
        """
        Return the answers to all questions about one document.

        Raises:
            ModelAnswerInvalid: the answer has no usable description, also after a second attempt.
            ModelError, DailyLimitReached: there was no answer.
        """
        shown = (reading.title, reading.document.content_type, reading.body)
        content = notes.read_content(self._asked(NOTE, notes.prompt(*shown)))
        if content is None:
            raise ModelAnswerInvalid(self._ask.model, "no description came back")
        said = self._asked(enrichment.NAMES, enrichment.names_prompt(*shown))
        text = reading.body[: notes.SHOWN]
        names = enrichment.read_names(said, reading.title, text, reading.document.content_type)
        links = self._links(reading, content)
        is_new = not any(note.origin != RULES for note in self._stores.notes.history(reading.document.id))
        may_change_others = is_new and is_verified(reading.document.origin)
        evolved = self._evolved(reading, content, links) if may_change_others else []
        return ModelEnrichment(content, names, enrichment.read_statements(said, text), links, evolved)

    def _asked(self, asked: ModelTask, prompt: str) -> Any:
        value = self._ask(asked, prompt)
        if value is None:
            raise ModelAnswerInvalid(self._ask.model, f"no usable {asked.purpose} came back")
        return value

    def _links(self, reading: Reading, content: Content) -> list[tuple[int, Link]]:
        near = [
            number
            for number, _ in nearest_documents(
                self._stores.embeddings, self._stores.vectors, reading.document.id, 0.0, NEIGHBOURS
            )
            if self._stores.documents.body(number)
        ]
        if not near:
            return []
        prompt = enrichment.links_prompt(_told(reading.title, content), list(map(self._brief, near)))
        links = enrichment.read_links(self._asked(enrichment.LINKS, prompt), len(near))
        return [(near[link.place], link) for link in links]

    def _evolved(
        self, reading: Reading, content: Content, links: list[tuple[int, Link]]
    ) -> list[tuple[Note, DescriptionUpdate]]:
        strongest = sorted(links, key=lambda pair: (-pair[1].confidence, pair[0]))
        targets = dict.fromkeys(target for target, _ in strongest)
        described = (note for target in targets if (note := self._stores.notes.get(target)) and note.context)
        known = list(islice(described, EVOLVED))
        after = [(note, self._evolution(reading, content, note)) for note in known]
        return [(note, changed) for note, changed in after if changed is not None]

    def _evolution(self, reading: Reading, content: Content, note: Note) -> DescriptionUpdate | None:
        before = Content(note.keywords, note.tags, note.context)
        older = self._title(note.document_id)
        prompt = enrichment.evolution_prompt(_told(reading.title, content), older, before)
        return enrichment.read_evolution(self._asked(enrichment.EVOLUTION, prompt), before)

    def _brief(self, document_id: int) -> str:
        title = self._title(document_id)
        if (note := self._stores.notes.get(document_id)) and note.context:
            return _told(title, Content(note.keywords, note.tags, note.context))
        return f"{title}: {redact(self._stores.documents.body(document_id) or '')[:BRIEF]}"

    def _title(self, document_id: int) -> str:
        document = self._stores.documents.get(document_id)
        return redact(document.title) if document else ""


def _told(title: str, content: Content) -> str:
    return f"{title}: {content.context} ({', '.join(content.keywords)})"
