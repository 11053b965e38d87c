"""Short document ids: the shortest unambiguous prefixes of content hashes."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.documents.identity import DOCID_LENGTH, docid
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document


def docids(store: DocumentStore, documents: Sequence[Document]) -> dict[int, str]:
    """Return the shortest unique prefix of each document's hash, by document id."""
    alike: dict[str, list[str]] = {}
    for other in store.hash_prefixes(DOCID_LENGTH, {document.hash for document in documents}):
        alike.setdefault(other[:DOCID_LENGTH], []).append(other)
    return {one.id: docid(one.hash, alike.get(one.hash[:DOCID_LENGTH], ())) for one in documents}
