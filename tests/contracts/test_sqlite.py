from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import LexicalCommitContract
from clawmem.contracts.documents import DocumentContract
from clawmem.contracts.embeddings import EmbeddingContract
from clawmem.contracts.entities import EntityContract
from clawmem.contracts.journal import ActContract, JournalContract, TendingContract
from clawmem.contracts.lease import LeaseContract
from clawmem.contracts.lexical_index import LexicalContract
from clawmem.contracts.links import LinkContract
from clawmem.contracts.notes import LedgerContract, NoteContract
from clawmem.contracts.outbox import OutboxContract
from clawmem.contracts.properties import PropertyContract
from clawmem.contracts.relations import RelationContract
from clawmem.contracts.sessions import CaptureContract, SessionContract, UsageContract
from clawmem.contracts.succession import SuccessionContract
from clawmem.contracts.telemetry import ReceiptContract
from clawmem.contracts.triples import TripleContract
from clawmem.contracts.vault import WholeVaultContract
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


class TestDocuments(InSqlite, DocumentContract): ...


class TestRelatedDocuments(
    InSqlite, LinkContract, PropertyContract, RelationContract, SuccessionContract
): ...


class TestIndexes(InSqlite, LexicalContract, OutboxContract): ...


class TestLexicalCommit(InSqlite, LexicalCommitContract): ...


class TestVectors(InSqlite, VectorSearchContract): ...


class TestEmbeddings(InSqlite, EmbeddingContract): ...


class TestKnowledge(InSqlite, EntityContract, NoteContract, LedgerContract, TripleContract): ...


class TestMemory(InSqlite, CaptureContract, UsageContract, JournalContract, SessionContract): ...


class TestDiary(InSqlite, ActContract, TendingContract, ReceiptContract): ...


class TestVault(InSqlite, WholeVaultContract): ...


class TestLeases(InSqlite, LeaseContract): ...


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
