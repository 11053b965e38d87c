from __future__ import annotations

from pathlib import Path

import pytest
from acme_memory.leases import JsonLeases

from clawmem.contracts.lease import LeaseContract
from clawmem.ports.storage import LeaseStore


class TestJsonLeases(LeaseContract):
    @pytest.fixture
    def leases(self, tmp_path: Path) -> LeaseStore:
        return JsonLeases(tmp_path / "leases.json")
