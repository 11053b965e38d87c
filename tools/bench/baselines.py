"""What the figures have to be compared with: the simplest things that find something."""

from __future__ import annotations

from vault_stores import retrieval_stores

from clawmem.app.services.retrieval.compare import nearest
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrieve import (
    VECTOR_ALONE_DEPTH,
    Retriever,
    RetrieverResult,
    answered,
    run_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.score import cut
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.ports.models import Embedder
from clawmem.ports.records import Grain
from clawmem.ports.vault import Vault

FOUND = "found"


def plain_bm25(vault: Vault) -> Pipeline:
    """FTS5 with any content word of the question, at the grain of the answer and no other."""

    def leg(request: RetrievalRequest, work: Work) -> RetrieverResult:
        grain = Grain.DOCUMENT if request.unit is Unit.DOCUMENT else Grain.LINE
        query, scope = request.question.forms.relaxed, request.scope
        return answered({FOUND: lambda: vault.lexical.search(query, grain, request.limit, scope)})

    return _alone(vault, leg)


def embedder_alone(vault: Vault, embedder: Embedder) -> Pipeline:
    """The nearest fragments by cosine; a document by its nearest one."""
    search = run_retrievers(
        {"vector": vector_retriever(vault.vectors, vault.embeddings, embedder, VECTOR_ALONE_DEPTH)}
    )
    return Pipeline(
        retrieval_stores(vault),
        {"search": search, "nearest": nearest, "records": records(vault), "cut": cut},
    )


def records(vault: Vault) -> Stage:
    """Candidates with their documents, in the order that they have: no metadata counts."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:

        documents = vault.documents.many({c.document_id for c in work.candidates})
        return work.with_candidates([c._replace(document=documents[c.document_id]) for c in work.candidates])

    return stage


def _alone(vault: Vault, leg: Retriever) -> Pipeline:
    found = run_retrievers({FOUND: leg})
    return Pipeline(
        retrieval_stores(vault),
        {"search": found, "as found": _as_found(vault), "records": records(vault), "cut": cut},
    )


def _as_found(vault: Vault) -> Stage:
    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        hits = work.legs.get(FOUND, ())
        spans = vault.documents.spans(hit.key for hit in hits) if request.unit is Unit.LINE else {}
        return work.with_candidates(
            [Candidate(h.key.document_id, h.key, h.score, h.score, span=spans.get(h.key)) for h in hits]
        )

    return stage
