from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from index_vaults import LexicalSuites

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import LexicalCommitContract, LexicalWriterContract
from clawmem.contracts.documents import (
    BodyContract,
    ChronologyContract,
    DocumentIdentityContract,
    DocumentLifecycleContract,
    FragmentContract,
    IdentityContract,
    LookupContract,
)
from clawmem.contracts.embeddings import (
    EmbeddingBuildingContract,
    EmbeddingStateContract,
    EmbeddingStorageContract,
    EmbeddingTakeOverContract,
    EmbeddingWorklistContract,
)
from clawmem.contracts.entities import (
    EntityForgettingContract,
    EntityMentionContract,
    EntityNeighbourContract,
)
from clawmem.contracts.journal import ActContract, JournalContract, TendingContract
from clawmem.contracts.lease import (
    LeaseAcquireContract,
    LeaseFenceContract,
    LeaseHistoryContract,
    LeaseReleaseContract,
)
from clawmem.contracts.links import LinkContract
from clawmem.contracts.notes import LedgerContract, NoteContract
from clawmem.contracts.outbox import OutboxContract, OutboxIndexContract
from clawmem.contracts.properties import PropertyContract
from clawmem.contracts.relations import RelationReadContract, RelationWriteContract
from clawmem.contracts.sessions import (
    CaptureContract,
    CaptureForgettingContract,
    SessionContract,
    SessionForgettingContract,
    UsageContract,
)
from clawmem.contracts.succession import DerivationContract, SuccessionContract
from clawmem.contracts.telemetry import ReceiptContract
from clawmem.contracts.triples import TripleStatementContract, TripleTimeContract
from clawmem.contracts.vault import (
    VaultDurabilityContract,
    VaultReadingContract,
    VaultTransactionContract,
    VaultUpkeepContract,
)
from clawmem.contracts.vector_index import VectorSearchContract
from clawmem.ports.storage import LeaseStore
from clawmem.ports.vault import Vault


class InSqlite:
    """What the vault suites are supplied with: a file of its own for every test."""

    @pytest.fixture
    def vault(self, tmp_path: Path) -> Iterator[Vault]:
        vault = open_vault(str(tmp_path / "vault.sqlite"))
        yield vault
        vault.close()

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Iterator[Callable[[], Vault]]:
        opened: list[Vault] = []

        def reopen() -> Vault:
            opened.append(open_vault(str(tmp_path / "vault.sqlite")))
            return opened[-1]

        yield reopen
        for vault in opened:
            vault.close()

    @pytest.fixture
    def leases(self, vault: Vault) -> LeaseStore:
        return vault.leases


class TestDocuments(
    InSqlite,
    DocumentIdentityContract,
    DocumentLifecycleContract,
    LookupContract,
    BodyContract,
    FragmentContract,
): ...


class TestRelatedDocuments(
    InSqlite,
    IdentityContract,
    LinkContract,
    PropertyContract,
    RelationReadContract,
    RelationWriteContract,
    DerivationContract,
    SuccessionContract,
): ...


class TestIndexes(InSqlite, LexicalSuites, OutboxContract, OutboxIndexContract): ...


class TestLexicalCommit(InSqlite, LexicalCommitContract): ...


class TestLexicalWriter(InSqlite, LexicalWriterContract): ...


class TestVectors(InSqlite, VectorSearchContract): ...


class TestEmbeddings(
    InSqlite,
    EmbeddingWorklistContract,
    EmbeddingStorageContract,
    EmbeddingStateContract,
    EmbeddingBuildingContract,
    EmbeddingTakeOverContract,
): ...


class TestKnowledge(
    InSqlite,
    EntityMentionContract,
    EntityForgettingContract,
    EntityNeighbourContract,
    NoteContract,
    LedgerContract,
    TripleStatementContract,
    TripleTimeContract,
): ...


class TestMemory(
    InSqlite,
    CaptureContract,
    CaptureForgettingContract,
    UsageContract,
    ChronologyContract,
    JournalContract,
    SessionContract,
    SessionForgettingContract,
): ...


class TestDiary(InSqlite, ActContract, TendingContract, ReceiptContract): ...


class TestVault(
    InSqlite, VaultTransactionContract, VaultReadingContract, VaultUpkeepContract, VaultDurabilityContract
): ...


class TestLeases(
    InSqlite, LeaseAcquireContract, LeaseFenceContract, LeaseReleaseContract, LeaseHistoryContract
): ...


def test_sqlite_is_canonical() -> None:
    """The SQLite vault lacks no capability in any suite."""
    for suite in InSqlite.__subclasses__():
        assert_canonical(suite)


@pytest.mark.parametrize("token", ["0" * 31 + "7", "1e" + "0" * 30])
def test_a_token_that_looks_like_a_number(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept as it was drawn: a column of numbers would make another one of it, and its holder would be nobody."""
    monkeypatch.setattr("secrets.token_hex", lambda size: token)
    with closing(open_vault(":memory:")) as vault:
        lease = vault.leases.acquire("index", "a", now_ms=0, ttl_ms=1)

        assert lease is not None
        assert vault.leases.current("index", now_ms=0) == lease
        vault.leases.check(lease, now_ms=0)
