from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.contracts.assembled import AssembledVault
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import VectorCommitContract
from clawmem.contracts.vector_index import VectorSearchContract, VectorUpkeepContract
from clawmem.ports.vault import Vault


class InSidecar:
    """What the suites are supplied with: records in memory, and vectors in a folder of its own for every test."""

    exact_rows = 100_000

    @pytest.fixture
    def vault(self, tmp_path: Path) -> Iterator[Vault]:
        vault = AssembledVault(SqliteVault(":memory:"), vectors=self.open(tmp_path))
        yield vault
        vault.close()

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Vault]:
        return lambda: AssembledVault(SqliteVault(":memory:"), vectors=self.open(tmp_path))

    def open(self, place: Path) -> SidecarVectorIndex:
        """The index of a test, with a handle of its own."""
        return SidecarVectorIndex(str(place / "vectors"), exact_rows=self.exact_rows)


class BeyondExact(InSidecar):
    """The same where every search is too large to be exact: what is small keeps all of its promises."""

    exact_rows = 0


class TestVectorSearch(InSidecar, VectorSearchContract): ...


class TestVectorUpkeep(InSidecar, VectorUpkeepContract): ...


class TestVectorCommit(InSidecar, VectorCommitContract): ...


class TestVectorSearchBeyondExact(BeyondExact, VectorSearchContract): ...


class TestVectorUpkeepBeyondExact(BeyondExact, VectorUpkeepContract): ...


def test_the_sidecar_is_canonical() -> None:
    """It lacks no capability where it is exact; beyond that `Capability.EXACT` is what `exact_rows` says."""
    for suite in InSidecar.__subclasses__():
        if suite is not BeyondExact:
            assert_canonical(suite)
