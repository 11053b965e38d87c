"""Query expansion: reformulations of the question, and the retrievers that search them."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.app.services.retrieval.models import (
    AnswerCache,
    DeadlineExecutor,
    Left,
    Models,
    reason_of,
)
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrievers import LEXICAL_DEPTH, VECTOR, VECTOR_DEPTH
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, Search, answered
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.domain.retrieval.bm25 import lexical_score
from clawmem.domain.retrieval.expansion import (
    MAX_TOKENS,
    STRONG_GAP,
    STRONG_SCORE,
    TEMPERATURE,
    Variant,
    VariantKind,
    expansion_prompt,
    is_strong_signal,
    read_expansion,
)
from clawmem.domain.retrieval.grains import VARIANT_MARK
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, ModelAnswerInvalid
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.models import Embedder, Generator, ModelAnswers
from clawmem.ports.records import Grain, Hit, LexicalQuery

EXPANSION = "expansion"
DEADLINE_S = 5.0
GRAINS = (Grain.DOCUMENT, Grain.PASSAGE)


def expansion_stage(lexical: LexicalIndex, answers: ModelAnswers, models: Models) -> dict[str, Stage]:
    """Return the stage before retrieval that reformulates the question; none without a generator."""
    if models.generator is None or models.clock is None:
        return {}
    return {"expand": expand(lexical, models.generator, answers, models.clock)}


def expand(
    lexical: LexicalIndex,
    generator: Generator,
    answers: ModelAnswers,
    clock: Clock,
    *,
    deadline_s: float = DEADLINE_S,
    strong_score: float = STRONG_SCORE,
    strong_gap: float = STRONG_GAP,
) -> Stage:
    """
    Return a stage that puts reformulations of the question into ``Work.variants``.

    The model is not asked if one note stands out that contains every word of the question, unless an intent is given,
    which may mean another note. Failures are reported in ``trace.degraded``, and the search uses the question alone.
    """
    in_time = DeadlineExecutor(EXPANSION, deadline_s)
    expansion = _Expansion(generator, AnswerCache(answers, clock, EXPANSION))

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        purpose = request.purpose
        if not request.question.forms.words:
            return work
        if not purpose and is_strong_signal(_probe(lexical, request), score=strong_score, gap=strong_gap):
            trace.stages[-1].notes.append("found by its words: no reformulations needed")
            return work
        try:
            variants = in_time(lambda left: expansion(request.question.text, purpose, left))
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[EXPANSION] = reason_of(error)
            return work
        trace.stages[-1].notes += [f"{variant.kind}: {variant.text}" for variant in variants]
        return work._replace(variants=variants)

    return stage


class _Expansion:
    """Cached reformulations of questions by a model."""

    def __init__(self, generator: Generator, remembered: AnswerCache) -> None:
        self._generator = generator
        self._remembered = remembered

    def __call__(self, query: str, intent: str, left: Left) -> tuple[Variant, ...]:
        prompt = expansion_prompt(query, intent)
        model = self._generator.fingerprint
        known = self._remembered.get(model, prompt)
        answer = self._asked(prompt, left) if known is None else known
        variants = read_expansion(answer, query)
        if not variants:
            raise ModelAnswerInvalid(model, "it holds no other words for the question")
        if known is None:
            self._remembered.keep(model, {prompt: answer})
        return variants

    def _asked(self, prompt: str, left: Left) -> str:
        return self._generator.generate(
            prompt, timeout_s=left(), max_tokens=MAX_TOKENS, temperature=TEMPERATURE
        )


def _probe(lexical: LexicalIndex, request: RetrievalRequest) -> list[float]:
    """Return the scores of the two best notes that contain every word of the question."""
    every = LexicalQuery(request.question.forms.relaxed.terms, every=True)
    try:
        hits = lexical.search(every, Grain.DOCUMENT, 2, request.scope)
    except ClawmemError:
        return []  # the retriever will fail too, and report it
    return [lexical_score(hit.score) for hit in hits]


def variant_name(leg: str, number: int) -> str:
    """Return the name of the *number*-th variant, from 1, of a retriever: ``document~1``, ``vector~2``."""
    return f"{leg}{VARIANT_MARK}{number}"


def variant_retrievers(
    lexical: LexicalIndex, vectors: VectorSearch, embeddings: EmbeddingStore, embedder: Embedder
) -> dict[str, Retriever]:
    """Return both retrievers by their names in ``trace.degraded``."""
    return {
        "lexical variants": lexical_variants(lexical),
        "vector variants": vector_variants(vectors, embeddings, embedder),
    }


def lexical_variants(lexical: LexicalIndex) -> Retriever:
    """Return a retriever for any word of each list of keywords, in documents and passages."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        def at(query: LexicalQuery, grain: Grain) -> Search:
            return lambda: lexical.search(query, grain, LEXICAL_DEPTH[grain], request.scope)

        searches: dict[str, Search] = {}
        for number, variant in enumerate(_of(work, VariantKind.LEX), start=1):
            query = query_forms(variant.text).relaxed
            searches |= {variant_name(grain.value, number): at(query, grain) for grain in GRAINS}
        return answered(searches)

    return search


def vector_variants(vectors: VectorSearch, embeddings: EmbeddingStore, embedder: Embedder) -> Retriever:
    """
    Return a retriever for the fragments nearest to each rephrasing and to the hypothetical answer.

    Different embedding spaces are never compared: if the vault has vectors of another model nothing is found, and
    the retriever of the question itself reports why.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        def near(variant: Variant) -> Search:
            return lambda: _nearest(vectors, embedder, variant, request)

        variants = _of(work, VariantKind.VEC, VariantKind.HYDE)
        if not variants or not is_of_one_space():
            return RetrieverResult({})
        found = answered({variant_name(VECTOR, n): near(v) for n, v in enumerate(variants, start=1)})
        return found if is_of_one_space() else RetrieverResult({})  # the embedding space changed

    def is_of_one_space() -> bool:
        return embeddings.fingerprint() == embedder.fingerprint

    return search


def _of(work: Work, *kinds: VariantKind) -> list[Variant]:
    return [variant for variant in work.variants if variant.kind in kinds]


def _nearest(
    vectors: VectorSearch, embedder: Embedder, variant: Variant, request: RetrievalRequest
) -> Sequence[Hit]:
    # A passage is no question: some models embed queries and documents differently.
    is_passage = variant.kind is VariantKind.HYDE
    vector = embedder.embed_documents([variant.text])[0] if is_passage else embedder.embed_query(variant.text)
    return vectors.search(vector, VECTOR_DEPTH, request.scope)
