"""The pipelines: the same steps with other retrievers, fusion and models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.compare import compare, weigh_vectors
from clawmem.app.services.retrieval.confidence import confidence
from clawmem.app.services.retrieval.cut import cut
from clawmem.app.services.retrieval.dates import select_by_date
from clawmem.app.services.retrieval.expand import expansion_stage, variant_retrievers
from clawmem.app.services.retrieval.fuse import fuse, nearest
from clawmem.app.services.retrieval.graph import classify, follow_relations, fuse_by_intent
from clawmem.app.services.retrieval.models import NO_MODELS, Models
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.rerank import reranking_stages
from clawmem.app.services.retrieval.retrieve import (
    VECTOR_ALONE_DEPTH,
    in_named_time,
    lexical_retriever,
    require_vectors,
    temporal_retriever,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, answered, run_retrievers
from clawmem.app.services.retrieval.score import score
from clawmem.app.services.retrieval.supersede import mark_changes, supersede
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Stage, Trace, Work
from clawmem.domain.openclaw import CANDIDATES_PER_RESULT, ranked
from clawmem.domain.retrieval.grains import PASSAGE, VECTOR
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.query_forms import MAX_QUERY, MAX_TERMS
from clawmem.domain.text.words import fold, words
from clawmem.ports.errors import InvalidInput
from clawmem.ports.models import Embedder, LateInteraction, is_in_process
from clawmem.ports.records import Document, FragmentKey, FragmentKind, Grain, LexicalQuery, Term

READ_OF_DOCUMENT = 1000  # characters of the body that represent a document
SNIPPET = 200  # characters of a similar document
SIMILAR = 5


def retrieval(
    stores: RetrievalStores,
    embedder: Embedder | None,
    legs: Iterable[str],
    more: Mapping[str, Retriever] = MappingProxyType({}),
    **options: Any,
) -> Stage:
    """
    Return the stage that runs the retrievers *legs*, of ``lexical``, ``vector`` and ``temporal``, and *more*.

    *options* are those of `run_retrievers`.
    """
    known: dict[str, Retriever] = {
        "lexical": lexical_retriever(stores.lexical),
        "temporal": temporal_retriever(stores.documents),
    }
    if embedder is not None:
        known["vector"] = vector_retriever(stores.vectors, stores.embeddings, embedder)

    def at_hand() -> set[str]:
        """Return the retrievers that currently wait for nothing outside this process."""
        is_local = is_in_process(embedder) and is_in_process(stores.vectors)
        waiting = {"lexical": not is_in_process(stores.lexical), "vector": not is_local, "temporal": False}
        return {name for name in waiting if not waiting[name]}

    return run_retrievers({name: known[name] for name in legs} | dict(more), at_hand=at_hand, **options)


def nearest_vectors(stores: RetrievalStores, embedder: Embedder) -> Stage:
    """Return the stage that searches vectors alone, deep enough that several fragments of a document leave room for others."""
    retriever = vector_retriever(stores.vectors, stores.embeddings, embedder, VECTOR_ALONE_DEPTH)
    return run_retrievers({"vector": retriever})


def ending(stores: RetrievalStores, late: LateInteraction | None = None) -> dict[str, Stage]:
    """Return the steps from one relevance to the list: dates, score, supersession, confidence and cut."""
    return {
        "dates": select_by_date(stores),
        "score": score,
        "supersede": supersede(stores),
        "changes": mark_changes,
        "confidence": confidence(stores.lexical, late),
        "cut": cut,
    }


def search(stores: RetrievalStores) -> Pipeline:
    """Return a pipeline that searches words at every granularity and adds up the scores; it uses no model."""
    return Pipeline(stores, {"search": retrieval(stores, None, ["lexical"]), "fuse": fuse, **ending(stores)})


def vsearch(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline for the nearest fragment per document. It computes no confidence, and refuses a floor."""
    run = nearest_vectors(stores, embedder)

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.floor:
            raise InvalidInput(
                "INVALID_INPUT",
                "Vector search alone cannot tell how likely an answer is. Ask with query, or without a floor.",
            )
        return run(request, work, trace)

    steps: dict[str, Stage] = {"search": stage, "nearest": nearest, **ending(stores)}
    del steps["confidence"]
    return Pipeline(stores, steps)


def query(
    stores: RetrievalStores,
    embedder: Embedder,
    late: LateInteraction | None = None,
    models: Models = NO_MODELS,
) -> Pipeline:
    """
    Return a pipeline that runs all retrievers, compares the best candidates word by word, and fuses the scores.

    With a generator the question is also searched in reformulations, with a reranker the best candidates are reranked;
    without them these stages are left out.
    """
    variants = variant_retrievers(stores, embedder) if models.generator else {}
    comparison: Mapping[str, Stage] = {"compare": compare(stores, late, embedder)} if late else {}
    return Pipeline(
        stores,
        {
            **expansion_stage(stores, models),
            "search": retrieval(stores, embedder, ["lexical", "vector", "temporal"], variants),
            "fuse": fuse,
            **comparison,
            "weigh vectors": weigh_vectors(stores.lexical),
            **reranking_stages(stores, models),
            **ending(stores, late),
        },
        asks_models=models.are_asked,
    )


def intent_search(
    stores: RetrievalStores,
    embedder: Embedder,
    *,
    intent: Intent | None = None,
    with_graph: bool = True,
    models: Models = NO_MODELS,
) -> Pipeline:
    """
    Return a pipeline in which the intent decides the weights of retrievers and the relations to follow.

    Args:
        intent: The intent, if it is known.
        models: The generator classifies questions whose words leave the intent open; the reranker reorders the best
            candidates before scoring.
    """
    legs = {
        "lexical": in_named_time(lexical_retriever(stores.lexical)),
        "vector": in_named_time(vector_retriever(stores.vectors, stores.embeddings, embedder)),
    }
    relations: Mapping[str, Stage] = {"graph": follow_relations(stores, embedder)} if with_graph else {}
    return Pipeline(
        stores,
        {
            "classify": classify(stores.answers, intent, models.generator),
            "search": retrieval(stores, embedder, (), legs),
            "fuse": fuse_by_intent,
            **relations,
            **reranking_stages(stores, models),
            **ending(stores),
        },
        asks_models=models.are_asked,
    )


def openclaw(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline that ranks passages as OpenClaw does: by cosine, and by the rank among those with every word."""

    def with_every_word(request: RetrievalRequest, work: Work) -> RetrieverResult:
        every = dict.fromkeys(words(request.question.text))  # function words included
        query = LexicalQuery(tuple(Term(fold(word)) for word in every)[:MAX_TERMS], every=True)
        depth = CANDIDATES_PER_RESULT * request.limit
        return answered({PASSAGE: partial(stores.lexical.search, query, Grain.PASSAGE, depth, request.scope)})

    def nearest_passages(request: RetrievalRequest, work: Work) -> RetrieverResult:
        depth = CANDIDATES_PER_RESULT * request.limit
        return vector_retriever(stores.vectors, stores.embeddings, embedder, depth)(request, work)

    legs = {"passage": with_every_word, "vector": nearest_passages}
    return Pipeline(stores, {"search": retrieval(stores, embedder, (), legs), "merge": merge_passages})


def merge_passages(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Make candidates from passages by `ranked`; of documents, each has its best passage."""
    spans = work.texts.spans(hit.key for hits in work.legs.values() for hit in hits)
    passages = {key for key, span in spans.items() if span.kind is FragmentKind.PASSAGE}
    cosines = {hit.key: hit.score for hit in work.legs.get(VECTOR, ()) if hit.key in passages}
    by_keyword = [hit.key for hit in work.legs.get(PASSAGE, ()) if hit.key in passages]
    is_line = request.unit is Unit.LINE
    most = request.limit * (1 if is_line else CANDIDATES_PER_RESULT)
    merged = ranked(cosines, by_keyword, most=most, least=request.min_score)
    documents = work.texts.documents(passage.key.document_id for passage in merged)
    served: dict[FragmentKey | int, Candidate] = {}  # of active documents, as `spans` has no others
    for passage in merged:
        number = passage.key.document_id
        if document := documents.get(number):
            parts = {VECTOR: passage.vector_score, PASSAGE: passage.text_score}
            legs = {name: score for name, score in parts.items() if score is not None}
            candidate = Candidate(
                number,
                passage.key,
                passage.score,
                passage.score,
                legs,
                document=document,
                span=spans[passage.key] if is_line else None,
            )
            served.setdefault(passage.key if is_line else number, candidate)
    candidates = list(served.values())
    trace.drop(candidates[request.limit :], "beyond the limit")
    return work.with_candidates(candidates[: request.limit])


class FindSimilar:
    """Searches vectors with the text of a document instead of a question."""

    def __init__(self, stores: RetrievalStores, embedder: Embedder) -> None:
        self._stores = stores
        self._search = nearest_vectors(stores, embedder)

    def __call__(self, document: Document, *, now_ms: int, limit: int = SIMILAR, as_of: str = "") -> Answer:
        """
        Return the documents nearest to *document*'s title and first thousand characters, without itself.

        Only the distance counts, not age, pins or other metadata.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS``, a limit outside 1..100; an *as_of* that is no date.
            EmbeddingError: the vault holds no vectors, or those of another model.
        """
        require_vectors(self._stores.embeddings, "compared")
        text = f"{document.title}\n{(self._stores.documents.body(document.id) or '')[:READ_OF_DOCUMENT]}"
        query = text[:MAX_QUERY] if text.strip() else document.path
        request = read_request(query, now_ms=now_ms, limit=limit, as_of=as_of)._replace(diverse=False)

        def others(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
            documents = work.texts.documents({c.document_id for c in work.candidates} - {document.id})
            return work.with_candidates(
                c._replace(document=other)
                for c in work.candidates
                if (other := documents.get(c.document_id)) and other.inactive is None
            )

        steps: dict[str, Stage] = {"search": self._search, "nearest": nearest, "others": others, "cut": cut}
        found = Pipeline(self._stores, steps)(request)
        results = tuple(replace(result, shown_length=SNIPPET) for result in found.results)
        return Answer(document.display_path, results, found.trace)
