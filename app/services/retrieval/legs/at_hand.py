"""Detection of retrievers that need no thread of their own."""

from __future__ import annotations

from clawmem.ports.embedder import Embedder
from clawmem.ports.in_process import is_in_process
from clawmem.ports.vault import Vault


def local_retrievers(vault: Vault, embedder: Embedder | None) -> set[str]:
    """Return the retrievers that currently wait for nothing outside this process."""
    found = {"temporal"}
    if is_in_process(vault.lexical):
        found.add("lexical")
    if is_in_process(embedder) and is_in_process(vault.vectors):
        found.add("vector")
    return found
