from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from clawmem.ports.stores import AnswerLog, LifecycleStores, ModelRecords

if TYPE_CHECKING:  # keeps the imports of a cold search minimal
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
    from clawmem.ports.vector_index import VectorIndex


class Vault(LifecycleStores, AnswerLog, ModelRecords, Protocol):
    """Records and indexes that belong together, with transactions across all of them. Services receive parts of it."""

    @property
    def outbox(self) -> Outbox:
        """Log of changes for external indexes, and the register of these indexes."""

    @property
    def leases(self) -> LeaseStore:
        """Leases for work that only one process may do at a time."""

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

    def close(self) -> None:
        """Release all resources; a second call does nothing."""


class RecordVault(Vault, Protocol):
    """Vault that needs no external index, and whose own index can be the tail of an external one."""

    @property
    def lexical(self) -> LexicalTail:
        """Full-text index of fragments, usable as the tail of an external index."""

    def scratch_lexical(self) -> LexicalIndex:
        """Return an empty in-memory lexical index that splits and ranks words like the vault's own index."""


class DelegatingVault:
    """Vault that delegates everything to another one: base class of vaults that replace single parts."""

    documents: DocumentStore
    embeddings: EmbeddingStore
    sketches: SketchStore
    leases: LeaseStore
    outbox: Outbox
    telemetry: Telemetry
    answers: ModelAnswers
    receipts: Receipts
    relations: RelationStore
    successions: SuccessionStore
    links: LinkStore
    properties: PropertyStore
    sessions: SessionStore
    entities: EntityStore
    triples: TripleStore
    notes: NoteStore
    ledger: CostLedger
    captures: CaptureStore
    usage: UsageStore
    chronology: Chronology
    acts: ActJournal
    forgotten_texts: ForgottenTexts
    journal: Journal
    model_failures: ModelFailures

    def __init__(self, records: Vault) -> None:
        self._records = records

    def __getattr__(self, name: str) -> object:
        """Return a store of the wrapped vault."""
        return getattr(self._records, name)

    @property
    def lexical(self) -> LexicalIndex:
        """Return the wrapped vault's lexical index."""
        return self._records.lexical

    @property
    def vectors(self) -> VectorIndex:
        """Return the wrapped vault's vector index."""
        return self._records.vectors

    def reading(self) -> AbstractContextManager[None]:
        """Let the wrapped vault's reads see the same state."""
        return self._records.reading()

    def writing(self) -> AbstractContextManager[None]:
        """Return the transaction of the wrapped vault."""
        return self._records.writing()

    def info(self) -> VaultInfo:
        """Return the wrapped vault's info, with the methods of the actual indexes."""
        from dataclasses import replace

        return replace(
            self._records.info(), lexical_method=self.lexical.method, vector_method=self.vectors.method
        )

    def scrub(self) -> None:
        """Scrub the wrapped vault."""
        self._records.scrub()

    def check(self) -> list[str]:
        """Return the defects of the wrapped vault; the indexes report theirs through `DerivedIndex.faults`."""
        return self._records.check()

    def check_words(self, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
        """Compare the words of the wrapped vault."""
        return self._records.check_words(entries)

    def close(self) -> None:
        """Close the indexes, then the wrapped vault."""
        for part in (self.lexical, self.vectors, self._records):
            part.close()
