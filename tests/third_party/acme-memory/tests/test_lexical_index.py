from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from acme_memory.lexical_index import JsonLexicalIndex

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.base import ALL, Capability
from clawmem.contracts.derived_index import LexicalCommitContract
from clawmem.contracts.lexical_index import LexicalContract
from clawmem.ports.vault import Vault

LACKING = frozenset({Capability.STEMMING, Capability.PHRASE})


class TestJsonLexicalIndex(LexicalCommitContract, LexicalContract):
    capabilities: ClassVar[frozenset[Capability]] = ALL - LACKING

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Vault]:
        records = open_vault(":memory:")
        return lambda: replace(records, lexical=JsonLexicalIndex(tmp_path))

    @pytest.fixture
    def vault(self, reopen: Callable[[], Vault]) -> Vault:
        return reopen()
