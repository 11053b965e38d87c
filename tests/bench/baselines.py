"""What the figures have to be compared with: the simplest things that find something."""

from __future__ import annotations

from vault_stores import retrieval_stores

from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import VECTOR_ALONE_DEPTH, vector_retriever
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, RunRetrievers, answered
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import nearest
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.ports.models import Embedder
from clawmem.ports.records import FragmentKey, FragmentKind, Grain, Hit, Scope
from clawmem.ports.vault import Vault

FOUND = "found"


def grep(vault: Vault) -> Pipeline:
    """How many different content words of the question occur, as ``grep -iF`` would find them."""
    texts = _Texts(vault)

    def leg(request: RetrievalRequest, work: Work) -> RetrieverResult:
        wanted = set(request.question.forms.words)
        every = texts.of(request.unit, request.scope)
        counts = [Hit(key, float(sum(word in text for word in wanted))) for key, text in every]
        ranked = sorted((hit for hit in counts if hit.score), key=lambda hit: -hit.score)
        return RetrieverResult({FOUND: ranked[: request.limit]})

    return _alone(vault, leg)


def plain_bm25(vault: Vault) -> Pipeline:
    """FTS5 with any content word of the question, at the grain of the answer and no other."""

    def leg(request: RetrievalRequest, work: Work) -> RetrieverResult:
        grain = Grain.DOCUMENT if request.unit is Unit.DOCUMENT else Grain.LINE
        query, scope = request.question.forms.relaxed, request.scope
        return answered({FOUND: lambda: vault.lexical.search(query, grain, request.limit, scope)})

    return _alone(vault, leg)


def embedder_alone(vault: Vault, embedder: Embedder) -> Pipeline:
    """The nearest fragments by cosine; a document by its nearest one."""
    search = RunRetrievers(
        {"vector": vector_retriever(vault.vectors, vault.embeddings, embedder, VECTOR_ALONE_DEPTH)}
    )
    return Pipeline(
        retrieval_stores(vault),
        {"search": search, "nearest": nearest(vault.documents), "records": records(vault), "cut": cut},
    )


def records(vault: Vault) -> Stage:
    """Candidates with their documents, in the order that they have: no metadata counts."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:

        documents = vault.documents.many({c.document_id for c in work.candidates})
        return work.with_candidates([c._replace(document=documents[c.document_id]) for c in work.candidates])

    return stage


def _alone(vault: Vault, leg: Retriever) -> Pipeline:
    found = RunRetrievers({FOUND: leg})
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


class _Texts:
    """The lower-case texts of all documents or lines of a scope, in the order of their paths; read once."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._known: dict[tuple[Unit, Scope], list[tuple[FragmentKey, str]]] = {}

    def of(self, unit: Unit, scope: Scope) -> list[tuple[FragmentKey, str]]:
        if (unit, scope) not in self._known:
            documents = sorted(self._vault.documents.latest(scope), key=lambda d: d.display_path)
            parts = self._document if unit is Unit.DOCUMENT else self._lines
            self._known[unit, scope] = [part for document in documents for part in parts(document.id)]
        return self._known[unit, scope]

    def _document(self, document_id: int) -> list[tuple[FragmentKey, str]]:
        return [(FragmentKey(document_id, 0), (self._vault.documents.body(document_id) or "").lower())]

    def _lines(self, document_id: int) -> list[tuple[FragmentKey, str]]:
        parts = self._vault.documents.fragments(document_id)
        lines = [part for part in parts if part.kind is FragmentKind.LINE]
        return [(FragmentKey(document_id, part.seq), part.text.lower()) for part in lines]
