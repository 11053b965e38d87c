"""Documents similar to a document."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.cut import cut
from clawmem.app.services.retrieval.fuse import nearest
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.app.services.retrieval.retrievers import VECTOR_ALONE_DEPTH, require_vectors, vector_retriever
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.domain.retrieval.query_forms import MAX_QUERY
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
        text = f"{document.title}\n{(self._stores.documents.body(document.id) or '')[:READ]}"
        query = text[:MAX_QUERY] if text.strip() else document.path
        request = read_request(query, now_ms=now_ms, limit=limit, as_of=as_of)._replace(diverse=False)
        steps: dict[str, Stage] = {
            "search": self._search,
            "nearest": nearest,
            "others": others(document.id),
            "cut": cut,
        }
        found = Pipeline(self._stores, steps)(request)
        results = tuple(result._replace(shown_length=SNIPPET) for result in found.results)
        answer = Answer(document.display_path, results, found.trace)
        return Similar(document, docids(self._stores.documents, [document])[document.id], answer)


def others(document_id: int) -> Stage:
    """Return a stage that keeps every served document except *document_id*."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        documents = work.texts.documents({c.document_id for c in work.candidates} - {document_id})
        return work.with_candidates(
            c._replace(document=document)
            for c in work.candidates
            if (document := documents.get(c.document_id)) and document.inactive is None
        )

    return stage
