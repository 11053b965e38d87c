"""A vault: the record of all stores and indexes that belong together."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from clawmem.ports.documents import DerivationStore, DocumentStore, LinkStore, PropertyStore, SuccessionStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, Outbox, VectorSearch
from clawmem.ports.journal import ActJournal, ForgottenTexts, Journal
from clawmem.ports.knowledge import EntityStore, NoteStore, RelationStore, TripleStore
from clawmem.ports.models import CostLedger, ModelAnswers, ModelFailures
from clawmem.ports.sessions import CaptureStore, SessionStore, UsageStore
from clawmem.ports.storage import LeaseStore, Storage, Transactions
from clawmem.ports.telemetry import Receipts, Telemetry


@dataclass(frozen=True)
class Vault(AbstractContextManager["Vault"]):
    """
    Records and indexes that belong together, with transactions across all of them.

    ``lexical`` and ``vectors`` are the serving indexes. In all stores, a limit below 1 returns nothing, and an unknown
    id changes nothing. ``close`` releases all resources; a second call does nothing.
    """

    close: Callable[[], None]
    transactions: Transactions
    storage: Storage

    # documents and their declarations
    documents: DocumentStore
    successions: SuccessionStore
    derivations: DerivationStore
    links: LinkStore
    properties: PropertyStore

    # indexes, and what they are made from
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    outbox: Outbox

    # knowledge derived from the texts of documents
    entities: EntityStore
    triples: TripleStore
    relations: RelationStore
    notes: NoteStore

    # sessions, the memories captured from them, and the use of documents in them
    sessions: SessionStore
    captures: CaptureStore
    usage: UsageStore

    # logs of questions, models, actions and maintenance
    telemetry: Telemetry
    receipts: Receipts
    answers: ModelAnswers
    ledger: CostLedger
    model_failures: ModelFailures
    acts: ActJournal
    journal: Journal
    forgotten_texts: ForgottenTexts
    leases: LeaseStore

    def __exit__(self, *error: object) -> None:
        self.close()
