from __future__ import annotations

from pathlib import Path

import pytest
from acme_memory.careless_leases import CarelessLeases

from clawmem.contracts.lease import LeaseContract
from clawmem.ports.storage import LeaseStore


class TestCarelessLeases(LeaseContract):
    @pytest.fixture
    def leases(self, tmp_path: Path) -> LeaseStore:
        return CarelessLeases(tmp_path / "leases.json")
