"""Trust in collections, recorded as the origin of their documents."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.app.services.indexing.chunks import apply_in_chunks
from clawmem.app.services.knowledge.ending import reapply_facts, reopen_ended_facts
from clawmem.domain.capture.own_collection import OWN_COLLECTION
from clawmem.domain.security.origin import is_verified, origin_of
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document
from clawmem.ports.succession import NO_CLAIMS
from clawmem.ports.vault import Vault


def trust_of(collection: str, trust: Origin) -> Origin:
    """Return the origin of notes in *collection*: *trust*, or `Origin.ASSISTANT` for the collection of clawmem."""
    return Origin.ASSISTANT if collection == OWN_COLLECTION else trust


def record_trust(vault: Vault, documents: Iterable[Document], trust: Origin) -> int:
    """
    Record *trust* in *documents* of one collection, whose records may be outdated.

    Returns how many documents had another origin.
    """

    def expected(document: Document) -> Origin:
        return origin_of(document.tags, trust_of(document.collection, trust))

    def record(document_id: int) -> int:
        found = vault.documents.get(document_id)
        if found is None:
            return 0
        changed = vault.documents.set_origin([document_id], expected(found))
        if is_verified(expected(found)):
            reapply_facts(vault, document_id)
        else:
            vault.successions.claim(document_id, NO_CLAIMS)
            reopen_ended_facts(vault, document_id)
        return changed

    wrong = [one.id for one in documents if one.origin is not expected(one)]
    return sum(apply_in_chunks(vault, wrong, record)) if wrong else 0
