from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a cold search imports what it uses, and no more
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


class Vault(Protocol):
    """Records and indexes that belong together, and the one way to change them together."""

    @property
    def documents(self) -> DocumentStore:
        """Records: documents, bodies, fragments."""
        ...

    @property
    def lexical(self) -> LexicalIndex:
        """Words to fragments."""
        ...

    @property
    def vectors(self) -> VectorIndex:
        """Vectors to fragments, derived."""
        ...

    @property
    def embeddings(self) -> EmbeddingStore:
        """The canonical vectors and their worklist."""
        ...

    @property
    def sketches(self) -> SketchStore:
        """What a model makes of each line, in bits."""
        ...

    @property
    def outbox(self) -> Outbox:
        """What indexes outside of the records still have to see, and which of them there are."""
        ...

    @property
    def telemetry(self) -> Telemetry:
        """What was asked and what was given in answer."""
        ...

    @property
    def receipts(self) -> Receipts:
        """How answers came about."""
        ...

    @property
    def relations(self) -> RelationStore:
        """The graph between documents."""
        ...

    @property
    def successions(self) -> SuccessionStore:
        """Which document holds instead of which."""
        ...

    @property
    def sessions(self) -> SessionStore:
        """Who worked when."""
        ...

    @property
    def entities(self) -> EntityStore:
        """Which documents speak of what."""
        ...

    @property
    def triples(self) -> TripleStore:
        """What documents say of things, and when it held."""
        ...

    @property
    def notes(self) -> NoteStore:
        """What is made of each document to find it by."""
        ...

    @property
    def ledger(self) -> CostLedger:
        """What asking models costs."""
        ...

    @property
    def captures(self) -> CaptureStore:
        """What was taken from conversations, and how far they are read."""
        ...

    @property
    def usage(self) -> UsageStore:
        """What became of documents that were given."""
        ...

    @property
    def chronology(self) -> Chronology:
        """Which document was changed before which."""
        ...

    @property
    def acts(self) -> ActJournal:
        """Who did what to which document."""
        ...

    @property
    def forgotten_texts(self) -> ForgottenTexts:
        """Marks of bodies that were forgotten on request."""
        ...

    @property
    def journal(self) -> Journal:
        """What upkeep did by itself."""
        ...

    @property
    def model_failures(self) -> ModelFailures:
        """What went wrong last with each model."""
        ...

    @property
    def answers(self) -> ModelAnswers:
        """What models said before."""
        ...

    @property
    def leases(self) -> LeaseStore:
        """Who may do what only one may do."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """
        One transaction: everything inside becomes visible and durable when the block ends, or nothing does.

        Not reentrant: inside another it raises RuntimeError. A single write outside of a block is its own transaction.

        Raises:
            VaultLocked: another process kept writing past the busy time-out.
            VaultReadOnly: the vault was opened for reading.
            VaultFull: no space; rolled back.
        """
        ...

    def info(self) -> VaultInfo:
        """Kind, place, schema and size."""
        ...

    def scrub(self) -> None:
        """
        Leave no byte of what was deleted, in no free page and no log; outside of `writing`.

        It rewrites the vault, and takes as long as that takes.

        Raises:
            VaultLocked: another process reads or writes; it may be asked again.
            VaultReadOnly, VaultFull: nothing was changed.
        """
        ...

    def check(self) -> list[str]:
        """What is wrong inside the storage itself (integrity, ranking self-test), in sentences; empty when sound."""
        ...

    def close(self) -> None:
        """Give everything back; a second call does nothing."""
        ...


class RecordVault(Vault, Protocol):
    """A vault that can do everything by itself, and whose own index can be the tail of one outside."""

    @property
    def lexical(self) -> LexicalTail:
        """Words to fragments."""
        ...

    def scratch_lexical(self) -> LexicalIndex:
        """Make an empty lexical index in memory; it splits and ranks words as the vault's own index does."""
        ...


class VaultOver:
    """A vault that leaves everything to another one: the base of those that put something else in a part's place."""

    def __init__(self, records: Vault) -> None:
        self._records = records

    @property
    def documents(self) -> DocumentStore:
        """The other's."""
        return self._records.documents

    @property
    def lexical(self) -> LexicalIndex:
        """The other's."""
        return self._records.lexical

    @property
    def vectors(self) -> VectorIndex:
        """The other's."""
        return self._records.vectors

    @property
    def embeddings(self) -> EmbeddingStore:
        """The other's."""
        return self._records.embeddings

    @property
    def sketches(self) -> SketchStore:
        """The other's."""
        return self._records.sketches

    @property
    def leases(self) -> LeaseStore:
        """The other's."""
        return self._records.leases

    @property
    def outbox(self) -> Outbox:
        """The other's."""
        return self._records.outbox

    @property
    def telemetry(self) -> Telemetry:
        """The other's."""
        return self._records.telemetry

    @property
    def answers(self) -> ModelAnswers:
        """The other's."""
        return self._records.answers

    @property
    def receipts(self) -> Receipts:
        """The other's."""
        return self._records.receipts

    @property
    def relations(self) -> RelationStore:
        """The other's."""
        return self._records.relations

    @property
    def successions(self) -> SuccessionStore:
        """The other's."""
        return self._records.successions

    @property
    def sessions(self) -> SessionStore:
        """The other's."""
        return self._records.sessions

    @property
    def entities(self) -> EntityStore:
        """The other's."""
        return self._records.entities

    @property
    def triples(self) -> TripleStore:
        """The other's."""
        return self._records.triples

    @property
    def notes(self) -> NoteStore:
        """The other's."""
        return self._records.notes

    @property
    def ledger(self) -> CostLedger:
        """The other's."""
        return self._records.ledger

    @property
    def captures(self) -> CaptureStore:
        """The other's."""
        return self._records.captures

    @property
    def usage(self) -> UsageStore:
        """The other's."""
        return self._records.usage

    @property
    def chronology(self) -> Chronology:
        """The other's."""
        return self._records.chronology

    @property
    def acts(self) -> ActJournal:
        """The other's."""
        return self._records.acts

    @property
    def forgotten_texts(self) -> ForgottenTexts:
        """The other's."""
        return self._records.forgotten_texts

    @property
    def journal(self) -> Journal:
        """The other's."""
        return self._records.journal

    @property
    def model_failures(self) -> ModelFailures:
        """The other's."""
        return self._records.model_failures

    def writing(self) -> AbstractContextManager[None]:
        """The other's transaction."""
        return self._records.writing()

    def info(self) -> VaultInfo:
        """What the other says of itself, with the methods of the indexes that are in its place."""
        from dataclasses import replace

        return replace(
            self._records.info(), lexical_method=self.lexical.method, vector_method=self.vectors.method
        )

    def scrub(self) -> None:
        """The other's."""
        self._records.scrub()

    def check(self) -> list[str]:
        """The other's faults; the indexes report theirs themselves."""
        return self._records.check()

    def close(self) -> None:
        """Close the indexes, then the other."""
        for part in (self.lexical, self.vectors, self._records):
            part.close()
