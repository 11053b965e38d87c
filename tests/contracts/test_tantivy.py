from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.contracts.assembled import AssembledVault
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import LexicalCommitContract
from clawmem.contracts.lexical_index import LexicalMatchingContract
from clawmem.contracts.lexical_ranking import LexicalRankingContract, LexicalScopeContract
from clawmem.contracts.lexical_upkeep import LexicalUpkeepContract
from clawmem.ports.vault import Vault


class InTantivy:
    """What the suites of the lexical index are supplied with: a folder of its own for every test."""

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Iterator[Callable[[], Vault]]:
        opened: list[Vault] = []

        def reopen() -> Vault:
            index = TantivyLexicalIndex(str(tmp_path / "lexical"))
            opened.append(AssembledVault(SqliteVault(":memory:"), lexical=index))
            return opened[-1]

        yield reopen
        for vault in opened:
            vault.close()

    @pytest.fixture
    def vault(self, reopen: Callable[[], Vault]) -> Vault:
        return reopen()


class TestLexicalMatching(InTantivy, LexicalMatchingContract): ...


class TestLexicalRanking(InTantivy, LexicalRankingContract): ...


class TestLexicalScope(InTantivy, LexicalScopeContract): ...


class TestLexicalUpkeep(InTantivy, LexicalUpkeepContract): ...


class TestLexicalCommit(InTantivy, LexicalCommitContract): ...


def test_tantivy_is_canonical() -> None:
    """The tantivy index lacks no capability in any suite."""
    assert len(InTantivy.__subclasses__()) == 5
    for suite in InTantivy.__subclasses__():
        assert_canonical(suite)
