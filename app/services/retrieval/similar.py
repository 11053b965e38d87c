"""Documents similar to a document."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.app.services.retrieval.retrievers import VECTOR_ALONE_DEPTH, require_vectors, vector_retriever
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import nearest
from clawmem.app.services.retrieval.stores import RetrievalStores
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.ports.documents import DocumentStore
from clawmem.ports.models import Embedder
from clawmem.ports.records import Document

READ = 1000  # characters of the body that represent a document
SNIPPET = 200  # characters
LIMIT = 5


@dataclass(frozen=True, slots=True)
class Similar:
    """A document and the documents nearest to it, nearest first; the score of each is a cosine."""

    reference: Document
    docid: str
    answer: Answer


class FindSimilar:
    """Searches vectors with the text of a document instead of a question."""

    def __init__(self, stores: RetrievalStores, embedder: Embedder) -> None:
        self._stores = stores
        self._search = RunRetrievers(
            {"vector": vector_retriever(stores.vectors, stores.embeddings, embedder, VECTOR_ALONE_DEPTH)}
        )

    def __call__(self, document: Document, *, now_ms: int, limit: int = LIMIT, as_of: str = "") -> Similar:
        """
        Return the documents nearest to *document*'s title and first thousand characters, without itself.

        Only the distance counts, not age, pins or other metadata.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS``, a limit outside 1..100; an *as_of* that is no date.
            EmbeddingError: the vault holds no vectors, or those of another model.
        """
        require_vectors(self._stores.embeddings, "compared")
        request = read_request(self._said_by(document), now_ms=now_ms, limit=limit, as_of=as_of)
        found = self._beside(document)(request)
        results = tuple(result._replace(shown_length=SNIPPET) for result in found.results)
        answer = Answer(document.display_path, results, found.trace)
        return Similar(document, docids(self._stores.documents, [document])[document.id], answer)

    def _said_by(self, document: Document) -> str:
        body = self._stores.documents.body(document.id) or ""
        text = f"{document.title}\n{body[:READ]}"
        return text[:MAX_QUERY] if text.strip() else document.path

    def _beside(self, document: Document) -> Pipeline:
        return Pipeline(
            self._stores,
            {
                "search": self._search,
                "nearest": nearest(self._stores.documents),
                "others": others(self._stores.documents, document.id),
                "cut": cut,
            },
        )


def others(store: DocumentStore, document_id: int) -> Stage:
    """Return a stage that keeps every served document except *document_id*."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        documents = store.many({c.document_id for c in work.candidates} - {document_id})
        served = {number: found for number, found in documents.items() if found.inactive is None}
        return work.with_candidates(
            [c._replace(document=served[c.document_id]) for c in work.candidates if c.document_id in served]
        )

    return stage
