"""The one way a document enters or leaves the vault: records and both indexes, always together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clawmem.domain.documents.entries import lexical_entries
from clawmem.ports.records import Document, Fragment, InactiveReason
from clawmem.ports.vault import Vault


def publish(vault: Vault, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
    """Save a document and everything that is found through; inside `Vault.writing`. Returns its id."""
    document_id = vault.documents.save(document, body, fragments)
    vault.lexical.remove(document_id)
    vault.lexical.put(list(lexical_entries(replace(document, id=document_id), fragments)))
    vault.vectors.remove(document_id)
    # Texts that were there before, in this document or another, have their vectors already.
    vault.vectors.put(vault.embeddings.of_document(document_id))
    return document_id


def withdraw(vault: Vault, document_ids: Sequence[int], reason: InactiveReason) -> int:
    """Stop serving documents, everywhere; inside `Vault.writing`. Returns how many were served."""
    count = vault.documents.deactivate(document_ids, reason)
    for document_id in document_ids:
        vault.lexical.remove(document_id)
        vault.vectors.remove(document_id)
    return count
