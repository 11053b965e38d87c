"""Short ids for people: as short as they can be without meaning two documents."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.documents.identity import DOCID_LENGTH, docid
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document


def docids(store: DocumentStore, documents: Sequence[Document]) -> dict[int, str]:
    """The shortest unique prefix of each document's hash, by document id."""
    others = store.hash_prefixes(DOCID_LENGTH, {document.hash for document in documents})
    return {document.id: docid(document.hash, others) for document in documents}
