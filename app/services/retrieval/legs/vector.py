"""The vector retriever."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import Retriever, RetrieverResult, answered
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Work
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ClawmemError, ModelMismatch
from clawmem.ports.vault import Vault

VECTOR_DEPTH = 100
VECTOR_ALONE_DEPTH = 600  # fragments; a document may have several, and no other retriever adds documents

VECTOR = "vector"

ATTEMPTS = 3  # attempts within one embedding space; a change of space is rare, so one retry usually suffices


def vector_retriever(vault: Vault, embedder: Embedder, depth: int = VECTOR_DEPTH) -> Retriever:
    """
    Return a retriever for the fragments nearest to the question.

    It raises `ModelMismatch` rather than compare two embedding spaces. If another model's vectors take over during a
    search, it discards the hits and searches again.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        if not request.forms.words:
            return RetrieverResult({})  # punctuation has a vector too, but a meaningless one
        for _ in range(ATTEMPTS - 1):
            stored = vault.embeddings.fingerprint()
            try:
                answer = within(stored, request)
            except ClawmemError:
                if vault.embeddings.fingerprint() == stored:
                    raise
            else:
                if vault.embeddings.fingerprint() == stored:
                    return answer
        return within(vault.embeddings.fingerprint(), request)

    def within(stored: str | None, request: RetrievalRequest) -> RetrieverResult:
        if stored is None:
            return RetrieverResult({})
        if stored != embedder.fingerprint:
            raise ModelMismatch(stored, embedder.fingerprint)
        vector = embedder.embed_query(request.query)
        found = answered({VECTOR: lambda: vault.vectors.search(vector, depth, request.scope)})
        missing = _missing_vectors(vault)
        reasons = "; ".join(filter(None, (found.degraded, missing)))
        return found._replace(degraded=reasons, note=_still_serving(vault, stored))

    return search


def _missing_vectors(vault: Vault) -> str:
    """Return a sentence about documents that vector search misses; empty if every document has its vectors."""
    count = vault.embeddings.documents_without()
    if not count:
        return ""
    documents = "1 document has" if count == 1 else f"{count} documents have"
    return f"{documents} text without vectors and may be missed. Run: clawmem embed"


def _still_serving(vault: Vault, stored: str) -> str:
    """Return a note if vectors of another model are being built; else an empty text."""
    building = vault.embeddings.building()
    if building is None:
        return ""
    return f"the vectors are of {stored!r}; those of {building.fingerprint!r} are {building.share:.0%} made"
