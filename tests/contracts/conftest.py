from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import SqliteVault


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.sqlite"


@pytest.fixture
def vault(path: Path) -> Iterator[SqliteVault]:
    """An empty vault at *path*."""
    vault = SqliteVault(str(path))
    yield vault
    vault.close()
