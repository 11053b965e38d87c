"""The legs that no thread is needed for."""

from __future__ import annotations

from clawmem.ports.at_hand import is_at_hand
from clawmem.ports.embedder import Embedder
from clawmem.ports.vault import Vault


def legs_at_hand(vault: Vault, embedder: Embedder) -> set[str]:
    """Those of words, meaning and time that nothing outside of this process can keep waiting, as things are now."""
    found = {"temporal"}
    if is_at_hand(vault.lexical):
        found.add("lexical")
    if is_at_hand(embedder) and is_at_hand(vault.vectors):
        found.add("vector")
    return found
