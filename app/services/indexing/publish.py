"""The one way a document enters or leaves the vault: records and both indexes, always together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clawmem.domain.documents.entries import lexical_entries
from clawmem.ports.records import Document, Fragment, InactiveReason
from clawmem.ports.succession import NO_CLAIMS, Claims
from clawmem.ports.vault import Vault


def publish(
    vault: Vault, document: Document, body: str, fragments: Sequence[Fragment], claims: Claims = NO_CLAIMS
) -> int:
    """Save a document and everything that it is found through; inside `Vault.writing`. Returns its id."""
    document_id = vault.documents.save(document, body, fragments)
    vault.successions.claim(document_id, claims)
    vault.lexical.remove(document_id)
    vault.lexical.put(list(lexical_entries(replace(document, id=document_id), fragments)))
    vault.vectors.remove(document_id)
    # Texts that were there before, in this document or another, have their vectors already.
    vault.vectors.put(vault.embeddings.of_document(document_id))
    return document_id


def withdraw(vault: Vault, document_ids: Sequence[int], reason: InactiveReason) -> int:
    """
    Stop serving documents, everywhere; inside `Vault.writing`. Returns how many were served.

    What was forgotten has no relations and claims nothing any more; for any other reason both wait until it
    comes back.
    """
    count = vault.documents.deactivate(document_ids, reason)
    for document_id in document_ids:
        vault.lexical.remove(document_id)
        vault.vectors.remove(document_id)
        if reason is InactiveReason.FORGOTTEN:
            vault.relations.forget(document_id)
            vault.successions.claim(document_id, NO_CLAIMS)
    return count
