"""The one way a document enters or leaves the vault: records and both indexes, always together."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.app.services.knowledge.ending import say_again, take_back
from clawmem.domain.documents.entries import lexical_entries
from clawmem.domain.security.origin import is_verified
from clawmem.ports.display import one_line
from clawmem.ports.records import Document, Fragment, InactiveReason
from clawmem.ports.succession import NO_CLAIMS, Claims
from clawmem.ports.vault import Vault

# What was archived or merged is true as ever, and what ended by it stays ended: it is only not served by itself.
_TAKEN_BACK = (InactiveReason.REMOVED, InactiveReason.FORGOTTEN)


def publish(
    vault: Vault,
    document: Document,
    body: str,
    fragments: Sequence[Fragment],
    claims: Claims | None = NO_CLAIMS,
) -> int:
    """
    Save a document and everything that it is found through; inside `Vault.writing`. Returns its id.

    Without *claims* it goes on saying what it said before of whose place it takes. A document supersedes others
    only if the user or an assistant wrote it.
    """
    document = document._replace(title=one_line(document.title), content_type=one_line(document.content_type))
    document_id = vault.documents.save(document, body, fragments)
    if claims is not None:
        vault.successions.claim(document_id, claims if is_verified(document.origin) else NO_CLAIMS)
    vault.lexical.remove(document_id)
    vault.lexical.put(list(lexical_entries(document._replace(id=document_id), fragments)))
    vault.vectors.remove(document_id)
    # Texts that were there before, in this document or another, have their vectors already.
    vault.vectors.put(vault.embeddings.of_document(document_id))
    say_again(vault, document_id)
    return document_id


def withdraw(vault: Vault, document_ids: Sequence[int], reason: InactiveReason) -> int:
    """
    Stop serving documents, everywhere; inside `Vault.writing`. Returns how many were served.

    Of what was forgotten nothing is left but the place; for any other reason all of it waits until it comes back.
    """
    count = vault.documents.deactivate(document_ids, reason)
    for document_id in document_ids:
        vault.lexical.remove(document_id)
        vault.vectors.remove(document_id)
    if reason in _TAKEN_BACK:
        for document_id in document_ids:
            take_back(vault, document_id)
    if reason is InactiveReason.FORGOTTEN:
        _forget(vault, document_ids)
    return count


def drop_knowledge(vault: Vault, document_id: int) -> None:
    """Delete the relations, facts, entities and notes that were made of a document; inside `Vault.writing`."""
    vault.relations.forget(document_id)
    vault.triples.forget(document_id)
    vault.entities.forget(document_id)
    vault.notes.forget(document_id)


def _forget(vault: Vault, document_ids: Sequence[int]) -> None:
    for document in vault.documents.many(document_ids).values():
        drop_knowledge(vault, document.id)
        vault.successions.claim(document.id, NO_CLAIMS)
        vault.captures.forget(document.id)
        vault.acts.forget(document.id)
        vault.sessions.forget(document.display_path)
    vault.documents.forget(document_ids)
    vault.embeddings.clean()
