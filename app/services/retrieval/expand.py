"""Query expansion: reformulations of the question, and the retrievers that search them."""

from functools import partial

from clawmem.app.services.retrieval.models import AnswerCache, Models, reason_of
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrieve import LEXICAL_DEPTH, VECTOR_DEPTH
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, Search, answered
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.domain.retrieval.expansion import (
    MAX_TOKENS,
    TEMPERATURE,
    VariantKind,
    expansion_prompt,
    is_strong_signal,
    read_expansion,
)
from clawmem.domain.retrieval.fusion import lexical_score
from clawmem.domain.retrieval.grains import VARIANT_MARK, VECTOR
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.errors import ClawmemError, ModelAnswerInvalid
from clawmem.ports.models import Embedder
from clawmem.ports.records import Grain, LexicalQuery

EXPANSION = "expansion"
DEADLINE_S = 5.0


def expansion_stage(
    stores: RetrievalStores, models: Models, *, deadline_s: float = DEADLINE_S
) -> dict[str, Stage]:
    """
    Return the stage that puts reformulations of the question into ``Work.variants``; none without a generator.

    The model is not asked if one note stands out that contains every word of the question, unless an intent is given,
    which may mean another note. Failures are reported in ``trace.degraded``, and the search uses the question alone.
    """
    if models.generator is None:
        return {}
    generator, cache = models.generator, AnswerCache(stores.answers, EXPANSION)

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        question = request.question
        if not question.forms.words:
            return work
        every = LexicalQuery(question.forms.relaxed.terms, every=True)
        try:
            hits = [] if request.purpose else stores.lexical.search(every, Grain.DOCUMENT, 2, request.scope)
        except ClawmemError:
            hits = []  # the retriever will fail too, and report it
        if is_strong_signal([lexical_score(hit.score) for hit in hits]):
            trace.note("found by its words: no reformulations needed")
            return work
        prompt = expansion_prompt(question.text, request.purpose)
        try:
            model = generator.fingerprint
            cached = cache.get(model, prompt)
            answer = cached or generator.generate(
                prompt, timeout_s=deadline_s, max_tokens=MAX_TOKENS, temperature=TEMPERATURE
            )
            variants = read_expansion(answer, question.text)
            if not variants:
                raise ModelAnswerInvalid(model, "it holds no other words for the question")
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[EXPANSION] = reason_of(error)
            return work
        if cached is None:
            cache.keep(model, {prompt: answer}, question.now_ms)
        trace.note(*(f"{variant.kind}: {variant.text}" for variant in variants))
        return work._replace(variants=variants)

    return {"expand": stage}


def variant_retrievers(stores: RetrievalStores, embedder: Embedder) -> dict[str, Retriever]:
    """
    Return both retrievers by their names in ``trace.degraded``.

    The lexical one searches documents and passages for any word of each list of keywords. The other finds the fragments
    nearest to each rephrasing and to the hypothetical answer. It never compares different embedding spaces: if the
    vault has vectors of another model it finds nothing, and the retriever of the question itself reports why.
    """
    embeddings = stores.embeddings

    def by_keywords(request: RetrievalRequest, work: Work) -> RetrieverResult:
        searches: dict[str, Search] = {}
        keywords = (variant for variant in work.variants if variant.kind is VariantKind.LEX)
        for number, variant in enumerate(keywords, start=1):
            form = query_forms(variant.text).relaxed
            for grain in (Grain.DOCUMENT, Grain.PASSAGE):
                search = partial(stores.lexical.search, form, grain, LEXICAL_DEPTH[grain], request.scope)
                searches[f"{grain.value}{VARIANT_MARK}{number}"] = search
        return answered(searches)

    def by_vectors(request: RetrievalRequest, work: Work) -> RetrieverResult:
        variants = [variant for variant in work.variants if variant.kind is not VariantKind.LEX]
        if not variants or embeddings.fingerprint() != embedder.fingerprint:
            return RetrieverResult({})
        searches: dict[str, Search] = {}
        for number, variant in enumerate(variants, start=1):
            # A passage is no question: some models embed queries and documents differently.
            is_passage = variant.kind is VariantKind.HYDE
            vector = (
                embedder.embed_documents([variant.text])[0]
                if is_passage
                else embedder.embed_query(variant.text)
            )
            searches[f"{VECTOR}{VARIANT_MARK}{number}"] = partial(
                stores.vectors.search, vector, VECTOR_DEPTH, request.scope
            )
        result = answered(searches)
        is_of_one_space = embeddings.fingerprint() == embedder.fingerprint  # also after the search
        return result if is_of_one_space else RetrieverResult({})

    return {"lexical variants": by_keywords, "vector variants": by_vectors}
