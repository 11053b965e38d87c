from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.contracts.acts import ActContract, TendingContract
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.captures import CaptureContract, CaptureForgettingContract, UsageContract
from clawmem.contracts.chronology import ChronologyContract
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.contracts.documents import DocumentIdentityContract, DocumentLifecycleContract
from clawmem.contracts.documents_lookup import LookupContract
from clawmem.contracts.documents_text import BodyContract, FragmentContract
from clawmem.contracts.embeddings import EmbeddingStorageContract, EmbeddingWorklistContract
from clawmem.contracts.embeddings_beside import EmbeddingBesideContract, EmbeddingTakeOverContract
from clawmem.contracts.embeddings_state import EmbeddingStateContract
from clawmem.contracts.entities import (
    EntityForgettingContract,
    EntityMentionContract,
    EntityNeighbourContract,
)
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
from clawmem.contracts.links import LinkContract
from clawmem.contracts.notes import LedgerContract, NoteContract
from clawmem.contracts.outbox import OutboxContract, OutboxIndexContract
from clawmem.contracts.properties import PropertyContract
from clawmem.contracts.receipts import ReceiptContract
from clawmem.contracts.relations import RelationReadContract, RelationWriteContract
from clawmem.contracts.sessions import SessionContract, SessionForgettingContract
from clawmem.contracts.sketches import SketchContract
from clawmem.contracts.succession import SuccessionContract
from clawmem.contracts.triples import TripleStatementContract, TripleTimeContract
from clawmem.contracts.vault import (
    VaultDurabilityContract,
    VaultTransactionContract,
    VaultUpkeepContract,
    VaultWordsContract,
)
from clawmem.contracts.vault_reading import VaultReadingContract
from clawmem.contracts.vector_index import VectorSearchContract, VectorUpkeepContract
from clawmem.ports.lease import LeaseStore
from clawmem.ports.vault import Vault


class InSqlite:
    """What the vault suites are supplied with: a file of its own for every test."""

    vector_extension = True

    @pytest.fixture
    def vault(self, tmp_path: Path) -> Iterator[Vault]:
        vault = SqliteVault(str(tmp_path / "vault.sqlite"), vector_extension=self.vector_extension)
        yield vault
        vault.close()

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Iterator[Callable[[], Vault]]:
        opened: list[Vault] = []

        def reopen() -> Vault:
            opened.append(SqliteVault(str(tmp_path / "vault.sqlite"), vector_extension=self.vector_extension))
            return opened[-1]

        yield reopen
        for vault in opened:
            vault.close()

    @pytest.fixture
    def leases(self, vault: Vault) -> LeaseStore:
        return vault.leases


class WithoutExtension(InSqlite):
    """The same where sqlite-vec cannot be loaded."""

    vector_extension = False


class TestDocumentIdentity(InSqlite, DocumentIdentityContract): ...


class TestCaptures(InSqlite, CaptureContract): ...


class TestCaptureForgetting(InSqlite, CaptureForgettingContract): ...


class TestUsage(InSqlite, UsageContract): ...


class TestActs(InSqlite, ActContract): ...


class TestIdentities(InSqlite, IdentityContract): ...


class TestTending(InSqlite, TendingContract): ...


class TestJournal(InSqlite, JournalContract): ...


class TestLinks(InSqlite, LinkContract): ...


class TestProperties(InSqlite, PropertyContract): ...


class TestDocumentLifecycle(InSqlite, DocumentLifecycleContract): ...


class TestBody(InSqlite, BodyContract): ...


class TestFragment(InSqlite, FragmentContract): ...


class TestLookup(InSqlite, LookupContract): ...


class TestLexicalMatching(InSqlite, LexicalMatchingContract): ...


class TestLexicalRanking(InSqlite, LexicalRankingContract): ...


class TestLexicalScope(InSqlite, LexicalScopeContract): ...


class TestLexicalUpkeep(InSqlite, LexicalUpkeepContract): ...


class TestVectorSearch(InSqlite, VectorSearchContract): ...


class TestVectorUpkeep(InSqlite, VectorUpkeepContract): ...


class TestVectorSearchByScan(WithoutExtension, VectorSearchContract): ...


class TestVectorUpkeepByScan(WithoutExtension, VectorUpkeepContract): ...


class TestEmbeddingWorklist(InSqlite, EmbeddingWorklistContract): ...


class TestEmbeddingStorage(InSqlite, EmbeddingStorageContract): ...


class TestEmbeddingState(InSqlite, EmbeddingStateContract): ...


class TestEmbeddingBeside(InSqlite, EmbeddingBesideContract): ...


class TestEmbeddingTakeOver(InSqlite, EmbeddingTakeOverContract): ...


class TestLexicalCommit(InSqlite, LexicalCommitContract): ...


class TestVectorCommit(InSqlite, VectorCommitContract): ...


class TestOutbox(InSqlite, OutboxContract): ...


class TestOutboxIndexes(InSqlite, OutboxIndexContract): ...


class TestReceipts(InSqlite, ReceiptContract): ...


class TestRelationWrites(InSqlite, RelationWriteContract): ...


class TestRelationReads(InSqlite, RelationReadContract): ...


class TestSessions(InSqlite, SessionContract): ...


class TestSessionForgetting(InSqlite, SessionForgettingContract): ...


class TestSuccessions(InSqlite, SuccessionContract): ...


class TestChronology(InSqlite, ChronologyContract): ...


class TestEntityMentions(InSqlite, EntityMentionContract): ...


class TestEntityForgetting(InSqlite, EntityForgettingContract): ...


class TestEntityNeighbours(InSqlite, EntityNeighbourContract): ...


class TestSketches(InSqlite, SketchContract): ...


class TestNotes(InSqlite, NoteContract): ...


class TestLedger(InSqlite, LedgerContract): ...


class TestTripleStatements(InSqlite, TripleStatementContract): ...


class TestTripleTimes(InSqlite, TripleTimeContract): ...


class TestVaultTransaction(InSqlite, VaultTransactionContract): ...


class TestVaultReading(InSqlite, VaultReadingContract): ...


class TestVectorCommitByScan(WithoutExtension, VectorCommitContract): ...


class TestVaultTransactionByScan(WithoutExtension, VaultTransactionContract): ...


class TestVaultUpkeep(InSqlite, VaultUpkeepContract): ...


class TestVaultWords(InSqlite, VaultWordsContract): ...


class TestVaultDurability(InSqlite, VaultDurabilityContract): ...


class TestLeaseAcquire(InSqlite, LeaseAcquireContract): ...


class TestLeaseRenew(InSqlite, LeaseRenewContract): ...


class TestLeaseFence(InSqlite, LeaseFenceContract): ...


class TestLeaseRelease(InSqlite, LeaseReleaseContract): ...


def test_sqlite_is_canonical() -> None:
    """The SQLite vault lacks no capability in any suite."""
    for suite in [*InSqlite.__subclasses__(), *WithoutExtension.__subclasses__()]:
        if suite is not WithoutExtension:
            assert_canonical(suite)


@pytest.mark.parametrize("token", ["0" * 31 + "7", "1e" + "0" * 30])
def test_a_token_that_looks_like_a_number(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept as it was drawn: a column of numbers would make another one of it, and its holder would be nobody."""
    monkeypatch.setattr("secrets.token_hex", lambda size: token)
    with closing(SqliteVault(":memory:")) as vault:
        lease = vault.leases.acquire("index", "a", now_ms=0, ttl_ms=1)

        assert lease is not None
        assert vault.leases.current("index", now_ms=0) == lease
        vault.leases.check(lease, now_ms=0)
