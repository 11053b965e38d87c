"""The leg of meaning."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import Leg, LegAnswer, answered
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Work
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.vault import Vault

VECTOR_DEPTH = 100
VECTOR_ALONE_DEPTH = 600  # fragments; several lie in one document, and nothing else adds documents

VECTOR = "vector"


def vector_leg(vault: Vault, embedder: Embedder, depth: int = VECTOR_DEPTH) -> Leg:
    """Meaning: the fragments nearest to the question. Raises `ModelMismatch` rather than compare two spaces."""

    def search(request: RetrievalRequest, work: Work) -> LegAnswer:
        stored = vault.embeddings.fingerprint()
        if stored is None or not request.forms.words:
            return LegAnswer({})  # punctuation has a vector too, near to nothing in particular
        if stored != embedder.fingerprint:
            raise ModelMismatch(stored, embedder.fingerprint)
        vector = embedder.embed_query(request.query)
        return answered({VECTOR: lambda: vault.vectors.search(vector, depth, request.scope)})

    return search
