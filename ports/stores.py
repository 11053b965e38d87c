"""Parts of a vault that belong together, for services that need several stores."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # keeps the imports of a cold search minimal
    from clawmem.ports.captures import CaptureStore, UsageStore
    from clawmem.ports.documents import Chronology, DocumentStore
    from clawmem.ports.embeddings import EmbeddingStore
    from clawmem.ports.entities import EntityStore
    from clawmem.ports.forget_log import ForgottenTexts
    from clawmem.ports.journal import ActJournal, Journal
    from clawmem.ports.lexical_index import LexicalIndex
    from clawmem.ports.links import LinkStore
    from clawmem.ports.model_records import CostLedger, ModelAnswers, ModelFailures
    from clawmem.ports.notes import NoteStore
    from clawmem.ports.properties import PropertyStore
    from clawmem.ports.relations import RelationStore
    from clawmem.ports.sessions import SessionStore
    from clawmem.ports.sketches import SketchStore
    from clawmem.ports.succession import SuccessionStore
    from clawmem.ports.telemetry import Receipts, Telemetry
    from clawmem.ports.triples import TripleStore
    from clawmem.ports.vector_index import VectorIndex


class DocumentRecords(Protocol):
    """Documents, their order in time, and their declarations: successions, links and properties."""

    @property
    def documents(self) -> DocumentStore:
        """Store of documents, bodies and fragments: the records."""

    @property
    def successions(self) -> SuccessionStore:
        """Store of claims by which documents supersede each other."""

    @property
    def links(self) -> LinkStore:
        """Store of links between documents, and of the names that links use."""

    @property
    def properties(self) -> PropertyStore:
        """Store of the properties that documents declare."""

    @property
    def chronology(self) -> Chronology:
        """Order of documents by time of writing."""


class SearchIndexes(Protocol):
    """Indexes that find documents, and the vectors from which they are made."""

    @property
    def lexical(self) -> LexicalIndex:
        """Full-text index of fragments."""

    @property
    def vectors(self) -> VectorIndex:
        """Vector index of fragments, derived from the embeddings."""

    @property
    def embeddings(self) -> EmbeddingStore:
        """Store of the canonical vectors, with their worklist."""

    @property
    def sketches(self) -> SketchStore:
        """Store of the binary token embeddings of each line."""


class KnowledgeRecords(Protocol):
    """Entities, statements, relations and notes derived from the texts of documents."""

    @property
    def entities(self) -> EntityStore:
        """Store of entities and their mentions in documents."""

    @property
    def triples(self) -> TripleStore:
        """Store of the statements of documents, with their validity."""

    @property
    def relations(self) -> RelationStore:
        """Graph between documents."""

    @property
    def notes(self) -> NoteStore:
        """Store of generated metadata about documents."""


class SessionRecords(Protocol):
    """Sessions, the memories captured from them, and the use of documents in them."""

    @property
    def sessions(self) -> SessionStore:
        """Store of sessions."""

    @property
    def captures(self) -> CaptureStore:
        """Sightings captured from conversations, and the readers' positions."""

    @property
    def usage(self) -> UsageStore:
        """Use of documents after they were surfaced."""


class AnswerLog(Protocol):
    """Log of questions and answers."""

    @property
    def telemetry(self) -> Telemetry:
        """Log of queries and their results."""

    @property
    def receipts(self) -> Receipts:
        """Explanations of past answers."""


class ModelRecords(Protocol):
    """Answers, costs and failures of models."""

    @property
    def answers(self) -> ModelAnswers:
        """Cache of model answers."""

    @property
    def ledger(self) -> CostLedger:
        """Cost of model calls."""

    @property
    def model_failures(self) -> ModelFailures:
        """Last failure of each model role."""


class Journals(Protocol):
    """Journals of actions on documents, by request and by automatic maintenance."""

    @property
    def acts(self) -> ActJournal:
        """Journal of actions on documents."""

    @property
    def journal(self) -> Journal:
        """Log of automatic maintenance."""

    @property
    def forgotten_texts(self) -> ForgottenTexts:
        """Fingerprints of bodies forgotten on request."""


class Transactions(Protocol):
    """Reads of one state, and writes that take effect together."""

    def reading(self) -> AbstractContextManager[None]:
        """
        Return a context manager for reads of one thread that see the same state, so that nothing is read twice.

        Changes that are committed during the block are not seen in it. Nested blocks are part of the outermost one.
        Keep the block short, because `scrub` waits for its end.
        """

    def writing(self) -> AbstractContextManager[None]:
        """
        Return a context manager for one transaction: its changes become visible and durable at its end, or not at all.

        Not reentrant: nesting raises RuntimeError. A single write outside a block is a transaction of its
        own.

        Raises:
            VaultLocked: another process kept writing past the busy time-out.
            VaultReadOnly: the vault was opened read-only.
            VaultFull: the disk is full; the transaction was rolled back.
            InterruptedAfterCommit: Ctrl-C arrived during the commit or after it. Any other interrupt rolls back.
        """


class DocumentsWithKnowledge(DocumentRecords, KnowledgeRecords, Protocol):
    """Documents and the knowledge derived from them, without indexes."""


class DocumentsWithSessions(DocumentRecords, SessionRecords, Protocol):
    """Documents, and the conversations in which they were written or used."""


class SearchableDocuments(DocumentRecords, SearchIndexes, Transactions, Protocol):
    """Documents and the indexes that find them, with transactions."""


class SearchableKnowledge(SearchableDocuments, KnowledgeRecords, Protocol):
    """Searchable documents and the knowledge derived from them: the stores that publishing a document changes."""


class KnowledgeWithModels(SearchableKnowledge, ModelRecords, Protocol):
    """Searchable documents and knowledge, with the records of models that answer questions about them."""


class DocumentsWithAnswerLog(SearchableDocuments, AnswerLog, Protocol):
    """Searchable documents, with the log of questions that they answered."""


class LifecycleStores(SearchableKnowledge, SessionRecords, Journals, Protocol):
    """Documents, indexes, knowledge, sessions and journals: the stores that forgetting a document changes."""
