from __future__ import annotations

from collections.abc import Iterable

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.forgotten_texts import forgotten_text


class MemoryForgottenTexts:
    """Reference ``ForgottenTexts`` over a set."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, hashes: Iterable[str]) -> None:
        marks = {forgotten_text(self._tables.vault_id, one) for one in hashes}
        self._tables.forgotten_texts = self._tables.forgotten_texts | marks

    def holds(self, hash: str) -> bool:
        salts = {mark.salt for mark in self._tables.forgotten_texts}
        return any(forgotten_text(salt, hash) in self._tables.forgotten_texts for salt in salts)
