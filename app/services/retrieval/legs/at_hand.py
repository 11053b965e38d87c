"""The legs that no thread is needed for."""

from __future__ import annotations

from clawmem.ports.embedder import Embedder
from clawmem.ports.in_process import is_in_process
from clawmem.ports.vault import Vault


def legs_at_hand(vault: Vault, embedder: Embedder) -> set[str]:
    """Those of words, meaning and time that nothing outside of this process can keep waiting, as things are now."""
    found = {"temporal"}
    if is_in_process(vault.lexical):
        found.add("lexical")
    if is_in_process(embedder) and is_in_process(vault.vectors):
        found.add("vector")
    return found
