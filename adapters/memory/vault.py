from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clawmem.adapters.memory.acts import MemoryActs
from clawmem.adapters.memory.captures import MemoryCaptures
from clawmem.adapters.memory.chronology import MemoryChronology
from clawmem.adapters.memory.documents import MemoryDocuments
from clawmem.adapters.memory.embeddings import MemoryEmbeddings
from clawmem.adapters.memory.entities import MemoryEntities
from clawmem.adapters.memory.forgotten_texts import MemoryForgottenTexts
from clawmem.adapters.memory.journal import MemoryJournal
from clawmem.adapters.memory.leases import MemoryLeases
from clawmem.adapters.memory.ledger import MemoryLedger
from clawmem.adapters.memory.lexical_index import MemoryLexicalIndex
from clawmem.adapters.memory.model_answers import MemoryModelAnswers
from clawmem.adapters.memory.model_failures import MemoryModelFailures
from clawmem.adapters.memory.notes import MemoryNotes
from clawmem.adapters.memory.outbox import MemoryOutbox
from clawmem.adapters.memory.receipts import MemoryReceipts
from clawmem.adapters.memory.relations import MemoryRelations
from clawmem.adapters.memory.sessions import MemorySessions
from clawmem.adapters.memory.sketches import MemorySketches
from clawmem.adapters.memory.succession import MemorySuccessions
from clawmem.adapters.memory.tables import Tables
from clawmem.adapters.memory.telemetry import MemoryTelemetry
from clawmem.adapters.memory.triples import MemoryTriples
from clawmem.adapters.memory.usage import MemoryUsage
from clawmem.adapters.memory.vector_index import MemoryVectorIndex
from clawmem.ports.acts import ActJournal
from clawmem.ports.captures import CaptureStore, UsageStore
from clawmem.ports.chronology import Chronology
from clawmem.ports.documents import DocumentStore
from clawmem.ports.embeddings import EmbeddingStore
from clawmem.ports.entities import EntityStore
from clawmem.ports.forgotten_texts import ForgottenTexts
from clawmem.ports.journal import Journal
from clawmem.ports.lease import LeaseStore
from clawmem.ports.ledger import CostLedger
from clawmem.ports.lexical_index import LexicalIndex, LexicalTail
from clawmem.ports.model_answers import ModelAnswers
from clawmem.ports.model_failures import ModelFailures
from clawmem.ports.notes import NoteStore
from clawmem.ports.outbox import Outbox
from clawmem.ports.receipts import Receipts
from clawmem.ports.relations import RelationStore
from clawmem.ports.sessions import SessionStore
from clawmem.ports.sketches import SketchStore
from clawmem.ports.succession import SuccessionStore
from clawmem.ports.telemetry import Telemetry
from clawmem.ports.triples import TripleStore
from clawmem.ports.vault_info import VaultInfo
from clawmem.ports.vector_index import VectorIndex


class MemoryVault:
    """
    Reference ``Vault`` that exists only in memory.

    A transaction copies records and indexes at its start and restores the copies if it fails. Leases are not
    part of the transaction, because a token must never be issued twice.
    """

    def __init__(self) -> None:
        self._tables = Tables()
        self._is_writing = False
        self._documents = MemoryDocuments(self._tables)
        self._lexical = MemoryLexicalIndex()
        self._vectors = MemoryVectorIndex()
        self._embeddings = MemoryEmbeddings(self._tables)
        self._sketches = MemorySketches(self._tables)
        self._leases = MemoryLeases()
        self._receipts = MemoryReceipts()
        self._telemetry = MemoryTelemetry(self._receipts)
        self._answers = MemoryModelAnswers()
        self._model_failures = MemoryModelFailures()
        self._relations = MemoryRelations(self._tables)
        self._successions = MemorySuccessions(self._tables)
        self._sessions = MemorySessions(self._tables)
        self._acts = MemoryActs(self._tables)
        self._journal = MemoryJournal(self._tables)
        self._forgotten_texts = MemoryForgottenTexts(self._tables)
        self._entities = MemoryEntities(self._tables)
        self._triples = MemoryTriples(self._tables)
        self._notes = MemoryNotes(self._tables)
        self._ledger = MemoryLedger()
        self._captures = MemoryCaptures(self._tables)
        self._usage = MemoryUsage(self._tables)
        self._chronology = MemoryChronology(self._tables)
        self._outbox = MemoryOutbox(self._tables)

    @property
    def documents(self) -> DocumentStore:
        return self._documents

    @property
    def lexical(self) -> LexicalTail:
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        return self._vectors

    @property
    def embeddings(self) -> EmbeddingStore:
        return self._embeddings

    @property
    def sketches(self) -> SketchStore:
        return self._sketches

    @property
    def leases(self) -> LeaseStore:
        return self._leases

    @property
    def outbox(self) -> Outbox:
        return self._outbox

    @property
    def telemetry(self) -> Telemetry:
        return self._telemetry

    @property
    def receipts(self) -> Receipts:
        return self._receipts

    @property
    def answers(self) -> ModelAnswers:
        return self._answers

    @property
    def relations(self) -> RelationStore:
        return self._relations

    @property
    def successions(self) -> SuccessionStore:
        return self._successions

    @property
    def acts(self) -> ActJournal:
        return self._acts

    @property
    def forgotten_texts(self) -> ForgottenTexts:
        return self._forgotten_texts

    @property
    def journal(self) -> Journal:
        return self._journal

    @property
    def sessions(self) -> SessionStore:
        return self._sessions

    @property
    def entities(self) -> EntityStore:
        return self._entities

    @property
    def triples(self) -> TripleStore:
        return self._triples

    @property
    def notes(self) -> NoteStore:
        return self._notes

    @property
    def ledger(self) -> CostLedger:
        return self._ledger

    @property
    def captures(self) -> CaptureStore:
        return self._captures

    @property
    def usage(self) -> UsageStore:
        return self._usage

    @property
    def chronology(self) -> Chronology:
        return self._chronology

    @property
    def model_failures(self) -> ModelFailures:
        return self._model_failures

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self._is_writing:
            raise RuntimeError("A transaction is open already; writing() is not reentrant.")
        undo = (self._tables.snapshot(), self._lexical.snapshot(), self._vectors.snapshot())
        self._is_writing = True
        try:
            yield
        except BaseException:
            for restore in undo:
                restore()
            raise
        finally:
            self._is_writing = False

    def info(self) -> VaultInfo:
        return VaultInfo(
            backend="memory",
            location=":memory:",
            schema=0,
            size_bytes=sum(len(body.encode()) for body in self._tables.bodies.values()),
            read_only=False,
            lexical_method=self._lexical.method,
            vector_method=self._vectors.method,
        )

    def scrub(self) -> None:
        """Do nothing: deleted data does not remain in memory."""

    def scratch_lexical(self) -> LexicalIndex:
        return MemoryLexicalIndex()

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
