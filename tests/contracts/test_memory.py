from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.memory.files import MemoryFiles
from clawmem.adapters.memory.leases import MemoryLeases
from clawmem.adapters.memory.vault import MemoryVault
from clawmem.contracts.acts import ActContract, TendingContract
from clawmem.contracts.base import Contract
from clawmem.contracts.captures import CaptureContract, CaptureForgettingContract, UsageContract
from clawmem.contracts.chronology import ChronologyContract
from clawmem.contracts.clock import ClockContract
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.contracts.documents import DocumentIdentityContract, DocumentLifecycleContract
from clawmem.contracts.documents_lookup import LookupContract
from clawmem.contracts.documents_text import BodyContract, FragmentContract
from clawmem.contracts.embedder import EmbedderContract
from clawmem.contracts.embeddings import EmbeddingStorageContract, EmbeddingWorklistContract
from clawmem.contracts.embeddings_beside import EmbeddingBesideContract, EmbeddingTakeOverContract
from clawmem.contracts.embeddings_state import EmbeddingStateContract
from clawmem.contracts.entities import (
    EntityForgettingContract,
    EntityMentionContract,
    EntityNeighbourContract,
)
from clawmem.contracts.files import FileLinkContract, FileReadContract, FileScanContract, FileSealContract
from clawmem.contracts.identities import IdentityContract
from clawmem.contracts.journal import JournalContract
from clawmem.contracts.lease import (
    LeaseAcquireContract,
    LeaseFenceContract,
    LeaseReleaseContract,
    LeaseRenewContract,
)
from clawmem.contracts.lexical_index import LexicalMatchingContract
from clawmem.contracts.lexical_ranking import LexicalRankingContract, LexicalScopeContract
from clawmem.contracts.lexical_upkeep import LexicalUpkeepContract
from clawmem.contracts.notes import LedgerContract, NoteContract
from clawmem.contracts.outbox import OutboxContract, OutboxIndexContract
from clawmem.contracts.receipts import ReceiptContract
from clawmem.contracts.relations import RelationReadContract, RelationWriteContract
from clawmem.contracts.sessions import SessionContract, SessionForgettingContract
from clawmem.contracts.sketches import SketchContract
from clawmem.contracts.succession import SuccessionContract
from clawmem.contracts.triples import TripleStatementContract, TripleTimeContract
from clawmem.contracts.vault import VaultDurabilityContract, VaultTransactionContract, VaultUpkeepContract
from clawmem.contracts.vector_index import VectorSearchContract, VectorUpkeepContract
from clawmem.ports.capability import ALL, Capability
from clawmem.ports.clock import Clock
from clawmem.ports.embedder import Embedder
from clawmem.ports.files import FileSource
from clawmem.ports.lease import LeaseStore
from clawmem.ports.vault import Vault


class InMemory:
    """What the vault suites are supplied with."""

    capabilities = ALL - {Capability.DURABILITY}  # memory is gone with its process

    @pytest.fixture
    def vault(self) -> Vault:
        return MemoryVault()


class TestDocumentIdentity(InMemory, DocumentIdentityContract): ...


class TestCaptures(InMemory, CaptureContract): ...


class TestCaptureForgetting(InMemory, CaptureForgettingContract): ...


class TestUsage(InMemory, UsageContract): ...


class TestActs(InMemory, ActContract): ...


class TestIdentities(InMemory, IdentityContract): ...


class TestTending(InMemory, TendingContract): ...


class TestJournal(InMemory, JournalContract): ...


class TestDocumentLifecycle(InMemory, DocumentLifecycleContract): ...


class TestBody(InMemory, BodyContract): ...


class TestFragment(InMemory, FragmentContract): ...


class TestLookup(InMemory, LookupContract): ...


class TestLexicalMatching(InMemory, LexicalMatchingContract): ...


class TestLexicalRanking(InMemory, LexicalRankingContract): ...


class TestLexicalScope(InMemory, LexicalScopeContract): ...


class TestLexicalUpkeep(InMemory, LexicalUpkeepContract): ...


class TestVectorSearch(InMemory, VectorSearchContract): ...


class TestVectorUpkeep(InMemory, VectorUpkeepContract): ...


class TestEmbeddingWorklist(InMemory, EmbeddingWorklistContract): ...


class TestEmbeddingStorage(InMemory, EmbeddingStorageContract): ...


class TestEmbeddingState(InMemory, EmbeddingStateContract): ...


class TestEmbeddingBeside(InMemory, EmbeddingBesideContract): ...


class TestEmbeddingTakeOver(InMemory, EmbeddingTakeOverContract): ...


class TestLexicalCommit(InMemory, LexicalCommitContract): ...


class TestVectorCommit(InMemory, VectorCommitContract): ...


class TestOutbox(InMemory, OutboxContract): ...


class TestOutboxIndexes(InMemory, OutboxIndexContract): ...


class TestReceipts(InMemory, ReceiptContract): ...


class TestRelationWrites(InMemory, RelationWriteContract): ...


class TestRelationReads(InMemory, RelationReadContract): ...


class TestSessions(InMemory, SessionContract): ...


class TestSessionForgetting(InMemory, SessionForgettingContract): ...


class TestSuccessions(InMemory, SuccessionContract): ...


class TestChronology(InMemory, ChronologyContract): ...


class TestEntityMentions(InMemory, EntityMentionContract): ...


class TestEntityForgetting(InMemory, EntityForgettingContract): ...


class TestEntityNeighbours(InMemory, EntityNeighbourContract): ...


class TestSketches(InMemory, SketchContract): ...


class TestNotes(InMemory, NoteContract): ...


class TestLedger(InMemory, LedgerContract): ...


class TestTripleStatements(InMemory, TripleStatementContract): ...


class TestTripleTimes(InMemory, TripleTimeContract): ...


class TestVaultTransaction(InMemory, VaultTransactionContract): ...


class TestVaultUpkeep(InMemory, VaultUpkeepContract): ...


class TestVaultDurability(InMemory, VaultDurabilityContract): ...


class LeasesInMemory:
    @pytest.fixture
    def leases(self) -> LeaseStore:
        return MemoryLeases()


class TestLeaseAcquire(LeasesInMemory, LeaseAcquireContract): ...


class TestLeaseRenew(LeasesInMemory, LeaseRenewContract): ...


class TestLeaseFence(LeasesInMemory, LeaseFenceContract): ...


class TestLeaseRelease(LeasesInMemory, LeaseReleaseContract): ...


class FilesInMemory:
    """Every tree is placed below a folder of its own."""

    @pytest.fixture
    def files(self) -> FileSource:
        return MemoryFiles()

    @pytest.fixture
    def place(self, files: MemoryFiles) -> Callable[[Mapping[str, bytes]], str]:
        def place(tree: Mapping[str, bytes]) -> str:
            files.make_folder("/home/ann/notes")
            for path, content in tree.items():
                files.write(f"/home/ann/notes/{path}", content)
            return "/home/ann/notes"

        return place

    @pytest.fixture
    def link(self, files: MemoryFiles) -> Callable[[str, str, str], None]:
        return lambda root, path, target: files.link(f"{root}/{path}")

    @pytest.fixture
    def seal(self, files: MemoryFiles) -> Callable[[str, str], None]:
        return lambda root, path: files.seal(f"{root}/{path}")


class TestFileScan(FilesInMemory, FileScanContract): ...


class TestFileRead(FilesInMemory, FileReadContract): ...


class TestFileLink(FilesInMemory, FileLinkContract): ...


class TestFileSeal(FilesInMemory, FileSealContract): ...


class TestClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return ManualClock()


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashingEmbedder()


def test_manual_clock_moves_when_told() -> None:
    """The manual clock stands, goes forward by `advance`, and anywhere by `set`."""
    clock = ManualClock(1_000)

    clock.advance(5)
    assert (clock.now_ms(), clock.now_ms()) == (1_005, 1_005)
    clock.set(7)
    assert clock.now_ms() == 7


def test_memory_lacks_durability_alone() -> None:
    """Of all capabilities the memory vault lacks the one that it cannot have."""
    suites = [suite for suite in InMemory.__subclasses__() if issubclass(suite, Contract)]

    assert len(suites) == 45
    assert {ALL - suite.capabilities for suite in suites} == {frozenset({Capability.DURABILITY})}
