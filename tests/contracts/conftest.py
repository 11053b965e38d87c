from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.vault import Vault


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.sqlite"


@pytest.fixture
def vault(path: Path) -> Iterator[Vault]:
    """An empty vault at *path*."""
    vault = open_vault(str(path))
    yield vault
    vault.close()
