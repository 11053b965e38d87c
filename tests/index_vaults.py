"""The contract suites of indexes, and what they are supplied with for an index outside of the vault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.vector_index import VectorSearchContract, VectorUpkeepContract
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.vault import Vault


def truncate(folder: Path, part: str) -> None:
    """Cut the files of an index that match off after ten bytes."""
    files = [file for file in folder.glob(part) if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:10])


class OverIndex:
    """Records in memory, and an index at a place of its own for every test."""

    @pytest.fixture
    def reopen(self, place: IndexPlace) -> Iterator[Callable[[], Vault]]:
        with ExitStack() as stack:

            def reopen() -> Vault:
                vault = replace(open_vault(":memory:"), **self.opened(place))
                return stack.enter_context(closing(vault))

            yield reopen

    @pytest.fixture
    def vault(self, reopen: Callable[[], Vault]) -> Vault:
        return reopen()

    def opened(self, place: IndexPlace) -> dict[str, Any]:
        raise NotImplementedError


class VectorSuites(VectorSearchContract, VectorUpkeepContract):
    """All suites of a vector index but that of commits."""
