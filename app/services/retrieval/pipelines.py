"""Pipelines: stages that record a trace, with various retrievers, fusion and models."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from time import perf_counter
from types import MappingProxyType
from typing import Any

from clawmem.app.services.documents.days import within_days
from clawmem.app.services.documents.listing import documents_with
from clawmem.app.services.retrieval.answer import Answer, describe
from clawmem.app.services.retrieval.changes import mark_changes
from clawmem.app.services.retrieval.compare import compare, fuse, nearest, weigh_vectors
from clawmem.app.services.retrieval.confidence import confidence
from clawmem.app.services.retrieval.dates import select_by_date
from clawmem.app.services.retrieval.graph import classify, follow_relations, fuse_by_intent
from clawmem.app.services.retrieval.models import (
    NO_MODELS,
    Models,
    expansion_stage,
    reranking_stages,
    variant_retrievers,
)
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request, rewind_request
from clawmem.app.services.retrieval.retrieve import (
    VECTOR_ALONE_DEPTH,
    Retriever,
    RetrieverResult,
    answered,
    in_named_time,
    in_time,
    lexical_retriever,
    require_vectors,
    run_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.score import cut, score
from clawmem.app.services.retrieval.supersede import supersede
from clawmem.app.services.retrieval.tasks import tasks_first
from clawmem.app.services.retrieval.work import (
    Candidate,
    LoadedTexts,
    RetrievalStores,
    Stage,
    StageTrace,
    Trace,
    Work,
)
from clawmem.domain.openclaw import CANDIDATES_PER_RESULT, ranked
from clawmem.domain.retrieval.grains import PASSAGE, VECTOR
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.query_forms import MAX_QUERY, MAX_TERMS
from clawmem.domain.text import spelling
from clawmem.domain.text.words import FUNCTION_FORMS, search_text, words
from clawmem.ports.errors import ClawmemError, InvalidInput
from clawmem.ports.indexes import SpellingIndex
from clawmem.ports.models import Embedder, LateInteraction, is_in_process
from clawmem.ports.records import Document, FragmentKey, FragmentKind, Grain, LexicalQuery, Term

SIMILAR = 5


@dataclass(frozen=True)
class Pipeline:
    """Named stages in order, for one vault. While they wait for a model, no state of the vault is held."""

    stores: RetrievalStores
    stages: Mapping[str, Stage]
    asks_models: bool = False

    def rank(
        self, request: RetrievalRequest, work: Work | None = None, before: Trace | None = None
    ) -> tuple[Work, Trace]:
        """Run every stage; return the candidates and the trace. *work* and *before* are of another pipeline."""
        request, notes = narrowed(self.stores, rewind_request(request)), list[str]()
        work = work or Work(LoadedTexts(self.stores.documents))
        trace = before or Trace()
        if not before:
            lexical, corrected = self.stores.lexical, dict[str, str]()
            with suppress(ClawmemError):  # the lexical retriever reports it
                question = request.question
                topic = frozenset(map(search_text, question.topic))
                # Beside a named time, words such as "passiert" are no misspelt words of notes.
                every = (t for t in question.forms.relaxed.terms if FUNCTION_FORMS.get(t.text[:-2]) != t.text)
                terms = [term for term in every if not question.named_time or term.text in topic]
                unknown = lexical.unknown_words(terms) if terms and isinstance(lexical, SpellingIndex) else {}
                for word, near in islice(unknown.items(), spelling.MOST_CORRECTED):
                    best = spelling.best_spelling(word, near.stem, near.alike)
                    spellings = spelling.full_words(word, near.stem, best) if best else []
                    readings = chain(zip(spellings), spelling.compound_parts(word))
                    known = (r for r in readings if all(lexical.holding(Term(w), Grain.DOCUMENT) for w in r))
                    if reading := next(known, None):
                        corrected[word] = " ".join(reading)
                trace.corrected.update(corrected)
            notes = [f"{word!r} read as {reading!r}" for word, reading in trace.corrected.items()]
        request = request.asking(spelling.with_corrections(request.question.text, trace.corrected))
        for name, stage in self.stages.items():
            began = perf_counter()
            trace.stages.append(StageTrace(name, len(work.candidates), 0, 0.0, notes))
            notes = []
            work = stage(request, work, trace)
            trace.stages[-1].went_out = len(work.candidates)
            trace.stages[-1].ms = (perf_counter() - began) * 1000
        trace.legs = work.legs
        return work, trace

    def __call__(self, request: RetrievalRequest) -> Answer:
        """Return the answer to a question, with locations, snippets, and the intent if a stage recognised it."""
        stores = self.stores
        with nullcontext() if self.asks_models else stores.transactions.reading():
            work, trace = self.rank(request)
            if request.as_of is not None:
                # A note without a date counts as written when its file last changed; what it said before is unknown.
                scope = request.scope._replace(authored_from=request.as_of, authored_until=None)
                conditions = request.tags, request.where, request.content_types
                later = documents_with(stores.documents, stores.properties, scope, *conditions)
                undated = sum(not note.has_own_date for note in stores.documents.many(later).values())
                if undated:
                    trace.degraded["as of"] = f"left out {undated} without a date of their own, changed since"
            # With the words that were searched.
            shown = request.asking(spelling.with_corrections(request.question.text, trace.corrected))
            results = describe(work.texts, stores, shown, work.candidates)
        intent, confidence = work.intent or (None, None)
        return Answer(request.question.text, results, trace, work.answered, intent, confidence)


def narrowed(stores: RetrievalStores, request: RetrievalRequest) -> RetrievalRequest:
    """Restrict *request* to documents of its days, types, tags and properties, and without excluded words."""
    scope, sections = request.scope, request.sections
    if request.days:
        scope, sections = within_days(stores.documents, scope, request.days)
    if request.content_types or request.tags or request.where:
        conditions = request.tags, request.where, request.content_types
        matching = documents_with(stores.documents, stores.properties, scope, *conditions)
        scope = scope._replace(documents=matching)
    if excluded := request.question.forms.excluded:
        query = LexicalQuery(tuple(map(Term, excluded)))
        hits = stores.lexical.search(query, Grain.DOCUMENT, 10_000, scope)
        every = stores.documents.ids(scope) if scope.documents is None else scope.documents
        scope = scope._replace(documents=every - {hit.key.document_id for hit in hits})
    allowed = sections.keys() if scope.documents is None else sections.keys() & scope.documents
    return request._replace(scope=scope, sections={number: sections[number] for number in allowed})


def retrieval(
    stores: RetrievalStores,
    embedder: Embedder | None,
    legs: Iterable[str],
    more: Mapping[str, Retriever] = MappingProxyType({}),
    **options: Any,
) -> Stage:
    """Return the stage of the retrievers *legs* (lexical, vector, temporal) and *more*; see `run_retrievers`."""
    known: dict[str, tuple[Retriever, list[object]]] = {  # with the indexes and models that they use
        "lexical": (lexical_retriever(stores.lexical), [stores.lexical]),
        "temporal": (partial(in_time, stores.documents), []),
    }
    if embedder is not None:
        by_vector = vector_retriever(stores.vectors, stores.embeddings, embedder)
        known["vector"] = by_vector, [embedder, stores.vectors]
    return run_retrievers(
        {name: known[name][0] for name in legs} | dict(more),
        # Those that currently wait for nothing outside this process.
        at_hand=lambda: {name for name, (_, used) in known.items() if all(map(is_in_process, used))},
        **options,
    )


def nearest_vectors(stores: RetrievalStores, embedder: Embedder) -> Stage:
    """Return the stage that searches vectors alone, deep enough that several fragments of a document leave room for others."""
    retriever = vector_retriever(stores.vectors, stores.embeddings, embedder, VECTOR_ALONE_DEPTH)
    return run_retrievers({"vector": retriever})


def ending(stores: RetrievalStores, late: LateInteraction | None = None) -> dict[str, Stage]:
    """Return the steps from one relevance to the list: dates, score, supersession, confidence and cut."""
    return {
        "dates": partial(select_by_date, stores),
        "score": score,
        "supersede": partial(supersede, stores),
        "changes": partial(mark_changes, stores),
        "confidence": partial(confidence, stores.lexical, late),
        "cut": cut,
        "tasks": partial(tasks_first, stores),
    }


def search(stores: RetrievalStores) -> Pipeline:
    """Return a pipeline that searches words at every granularity and adds up the scores; it uses no model."""
    return Pipeline(stores, {"search": retrieval(stores, None, ["lexical"]), "fuse": fuse, **ending(stores)})


def vsearch(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline for the nearest fragment per document. It computes no confidence, and refuses a floor."""
    run = nearest_vectors(stores, embedder)

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.floor:
            reason = "Vector search cannot tell how likely an answer is. Ask with query, or without a floor."
            raise InvalidInput("INVALID_INPUT", reason)
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
    """Return a pipeline of all retrievers, a comparison word by word, and the *models* that exist."""
    variants = variant_retrievers(stores, embedder) if models.generator else {}
    comparison: Mapping[str, Stage] = {"compare": partial(compare, late)} if late else {}
    return Pipeline(
        stores,
        {
            **expansion_stage(stores, models),
            "search": retrieval(stores, embedder, ["lexical", "vector", "temporal"], variants),
            "fuse": fuse,
            **comparison,
            "weigh vectors": partial(weigh_vectors, stores.lexical),
            **reranking_stages(stores, models),
            **ending(stores, late),
        },
        asks_models=bool(models.generator or models.reranker),
    )


def intent_search(
    stores: RetrievalStores,
    embedder: Embedder,
    *,
    intent: Intent | None = None,
    with_graph: bool = True,
    models: Models = NO_MODELS,
) -> Pipeline:
    """Return a pipeline whose intent, given or recognised, decides weights and the relations to follow."""
    legs = {
        "lexical": partial(in_named_time, lexical_retriever(stores.lexical)),
        "vector": partial(in_named_time, vector_retriever(stores.vectors, stores.embeddings, embedder)),
    }
    graph: dict[str, Stage] = {"graph": partial(follow_relations, stores, embedder)} if with_graph else {}
    return Pipeline(
        stores,
        {
            "classify": partial(classify, stores.answers, intent, models.generator),
            "search": retrieval(stores, embedder, (), legs),
            "fuse": fuse_by_intent,
            **graph,
            **reranking_stages(stores, models),
            **ending(stores),
        },
        asks_models=bool(models.generator or models.reranker),
    )


def openclaw(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline that ranks passages as OpenClaw does: by cosine, and by the rank among those with every word."""

    def with_every_word(request: RetrievalRequest, work: Work) -> RetrieverResult:
        every = dict.fromkeys(words(request.question.text))  # function words included
        query = LexicalQuery(tuple(Term(search_text(word)) for word in every)[:MAX_TERMS], every=True)
        depth = CANDIDATES_PER_RESULT * request.limit
        return answered({PASSAGE: partial(stores.lexical.search, query, Grain.PASSAGE, depth, request.scope)})

    def merge(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        """Make candidates from passages by `ranked`; of documents, each has its best passage."""
        spans = work.texts.spans(hit.key for hits in work.legs.values() for hit in hits)
        passages = {key for key, span in spans.items() if span.kind is FragmentKind.PASSAGE}
        cosines = {hit.key: hit.score for hit in work.legs.get(VECTOR, ()) if hit.key in passages}
        by_keyword = [hit.key for hit in work.legs.get(PASSAGE, ()) if hit.key in passages]
        is_line = request.unit is Unit.LINE
        most = request.limit * (1 if is_line else CANDIDATES_PER_RESULT)
        served: dict[FragmentKey | int, Candidate] = {}
        merged = ranked(cosines, by_keyword, most=most, least=request.min_score)
        documents = work.texts.documents(passage.key.document_id for passage in merged)
        for key, total, vector_score, text_score in merged:
            scores = {VECTOR: vector_score, PASSAGE: text_score}
            parts = {name: part for name, part in scores.items() if part is not None}
            document = documents[key.document_id]  # active, as `spans` has no others
            span = spans[key] if is_line else None
            candidate = Candidate(document.id, key, total, total, parts, document=document, span=span)
            served.setdefault(key if is_line else document.id, candidate)
        candidates = list(served.values())
        trace.drop(candidates[request.limit :], "beyond the limit")
        return work.with_candidates(candidates[: request.limit])

    nearest_to = partial(vector_retriever, stores.vectors, stores.embeddings, embedder)
    legs: dict[str, Retriever] = {
        "passage": with_every_word,
        "vector": lambda request, work: nearest_to(CANDIDATES_PER_RESULT * request.limit)(request, work),
    }
    return Pipeline(stores, {"search": retrieval(stores, embedder, (), legs), "merge": merge})


def find_similar(
    document: Document,
    *,
    now_ms: int,
    limit: int = SIMILAR,
    as_of: str | None = None,
    stores: RetrievalStores,
    embedder: Embedder,
) -> Answer:
    """
    Return the documents nearest to *document*'s title and first thousand characters, by the distance alone.

    Raises:
        InvalidInput: ``OUT_OF_BOUNDS``, a limit outside 1..100.
        EmbeddingError: the vault holds no vectors, or those of another model.
    """
    require_vectors(stores.embeddings, "compared")
    text = f"{document.title}\n{(stores.documents.body(document.id) or '')[:1000]}"
    query = text[:MAX_QUERY] if text.strip() else document.path
    request = read_request(query, now_ms=now_ms, limit=limit)._replace(diverse=False, as_of=as_of)

    def others(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        documents = work.texts.documents({c.document_id for c in work.candidates} - {document.id})
        return work.with_candidates(
            c._replace(document=other)
            for c in work.candidates
            if (other := documents.get(c.document_id)) and other.inactive is None
        )

    search = nearest_vectors(stores, embedder)
    steps: dict[str, Stage] = {"search": search, "nearest": nearest, "others": others, "cut": cut}
    answer = Pipeline(stores, steps)(request)
    results = tuple(replace(result, shown_length=200) for result in answer.results)
    return Answer(document.display_path, results, answer.trace)
