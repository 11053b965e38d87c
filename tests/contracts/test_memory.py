from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from index_vaults import LexicalSuites, VectorSuites

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.indexes import MemoryLexicalIndex, MemoryVectorIndex
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.base import ALL, Capability
from clawmem.contracts.clock import ClockContract
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.contracts.models import EmbedderContract
from clawmem.ports.clock import Clock
from clawmem.ports.models import Embedder
from clawmem.ports.vault import Vault


class LexicalInMemory:
    """Records in SQLite, and the words in the index of tests."""

    capabilities = ALL - {Capability.DURABILITY}  # the index ends with its process

    @pytest.fixture
    def vault(self) -> Iterator[Vault]:
        with closing(open_vault(":memory:")) as records:
            yield replace(records, lexical=MemoryLexicalIndex())


class VectorsInMemory:
    """Records in SQLite, and the vectors in the index of tests."""

    capabilities = ALL - {Capability.DURABILITY}

    @pytest.fixture
    def vault(self) -> Iterator[Vault]:
        with closing(open_vault(":memory:")) as records:
            yield replace(records, vectors=MemoryVectorIndex())


class TestLexical(LexicalInMemory, LexicalSuites): ...


class TestLexicalCommit(LexicalInMemory, LexicalCommitContract): ...


class TestVectors(VectorsInMemory, VectorSuites): ...


class TestVectorCommit(VectorsInMemory, VectorCommitContract): ...


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
