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


class Catalogue(Protocol):
    """Documents, and what they declare about themselves and each other."""

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


class Knowledge(Protocol):
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


class Activity(Protocol):
    """Conversations, the memories captured from them, and the use of documents in them."""

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
        """


class CatalogueWithKnowledge(Catalogue, Knowledge, Protocol):
    """Documents with the knowledge derived from them."""


class Chronicle(Catalogue, Activity, Protocol):
    """Documents with the conversations around them."""


class Searchable(Catalogue, SearchIndexes, Transactions, Protocol):
    """Documents that can be searched."""


class Enriched(Searchable, Knowledge, Protocol):
    """Searchable documents with the knowledge derived from them: everything that publishing changes."""


class Holdings(Enriched, Activity, Journals, Protocol):
    """Everything kept about documents: forgetting one changes all of it."""


class Modelled(Enriched, ModelRecords, Protocol):
    """Enriched documents with the records of models."""


class Recalled(Searchable, AnswerLog, Protocol):
    """Searchable documents with the questions that they answered."""


class Digested(Holdings, ModelRecords, Protocol):
    """Everything kept about documents, with the records of models."""
