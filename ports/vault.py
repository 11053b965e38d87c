"""A vault: the record of all stores and indexes that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from clawmem.ports.captures import CaptureStore, UsageStore
from clawmem.ports.documents import Chronology, DocumentStore
from clawmem.ports.embeddings import EmbeddingStore
from clawmem.ports.entities import EntityStore
from clawmem.ports.forget_log import ForgottenTexts
from clawmem.ports.journal import ActJournal, Journal
from clawmem.ports.lease import LeaseStore
from clawmem.ports.lexical_index import LexicalIndex, LexicalTail
from clawmem.ports.links import LinkStore
from clawmem.ports.model_records import CostLedger, ModelAnswers, ModelFailures
from clawmem.ports.notes import NoteStore
from clawmem.ports.outbox import Outbox
from clawmem.ports.properties import PropertyStore
from clawmem.ports.records import LexicalEntry
from clawmem.ports.relations import RelationStore
from clawmem.ports.sessions import SessionStore
from clawmem.ports.sketches import SketchStore
from clawmem.ports.status import VaultInfo
from clawmem.ports.succession import SuccessionStore
from clawmem.ports.telemetry import Receipts, Telemetry
from clawmem.ports.triples import TripleStore
from clawmem.ports.vector_index import VectorSearch


class Transactions(Protocol):
    """Reads of one state, and writes that take effect together."""

    def reading(self) -> AbstractContextManager[None]:
        """
        Return a context manager for reads of one thread that see the same state, so that nothing is read twice.

        Changes that are committed during the block are not seen in it. Nested blocks are part of the outermost one.
        Keep the block short, because `Storage.scrub` waits for its end.
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


class Storage(Protocol):
    """The file or database that holds the stores of a vault."""

    def info(self) -> VaultInfo:
        """Return the backend, location, schema and size."""

    def scrub(self) -> None:
        """
        Overwrite deleted data, so that no byte of it remains in free pages or logs; call it outside of `writing`.

        This rewrites the whole vault and takes time proportional to its size.

        Raises:
            VaultLocked: another process is reading or writing; the call may be repeated.
            VaultReadOnly, VaultFull: nothing was changed.
        """

    def check(self) -> list[str]:
        """
        Return the defects of the storage itself (integrity, ranking self-test) as sentences; an empty list if
        it is sound.
        """

    def check_words(self, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
        """
        Compare the vault's own lexical index, word by word, with the entries that it must hold, given in batches.

        Return the differences as sentences without a full stop. This finds what no other check finds, for example
        one wrong bit in the place of a word. An index outside of the vault is not compared: its files have
        checksums, which `clawmem.ports.derived_index.DerivedIndex.faults` verifies.
        """

    def scratch_lexical(self) -> LexicalIndex:
        """Return an empty in-memory lexical index that splits and ranks words like the vault's own index."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""


@dataclass(frozen=True)
class Vault:
    """
    Records and indexes that belong together, with transactions across all of them.

    A service receives the stores that it uses. Only use cases that change everything, such as forgetting, receive the
    whole vault. ``lexical`` and ``vectors`` are the serving indexes; ``tail`` is the vault's own lexical index, which
    holds the newest changes while an external index serves.
    """

    transactions: Transactions
    storage: Storage

    # documents and their declarations
    documents: DocumentStore
    chronology: Chronology
    successions: SuccessionStore
    links: LinkStore
    properties: PropertyStore

    # indexes, and what they are made from
    lexical: LexicalIndex
    tail: LexicalTail
    vectors: VectorSearch
    embeddings: EmbeddingStore
    sketches: SketchStore
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

    def close(self) -> None:
        """Close the serving indexes, then the storage; a second call does nothing."""
        self.lexical.close()
        self.vectors.close()
        self.storage.close()
