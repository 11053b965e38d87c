"""Optional models of retrieval: query expansion, reranking, and their cached answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from time import perf_counter
from typing import NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrieve import (
    LEXICAL_DEPTH,
    VECTOR_DEPTH,
    Retriever,
    RetrieverResult,
    Search,
    answered,
)
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval import expansion, fusion
from clawmem.domain.retrieval.fusion import lexical_score
from clawmem.domain.retrieval.grains import VARIANT_MARK, VECTOR
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.text.parts import CHUNK_CHARS, OVERLAP_CHARS, choose_chunk, intent_terms
from clawmem.ports.errors import ClawmemError, InputTooLong, ModelAnswerInvalid, ModelError
from clawmem.ports.models import Embedder, Generator, ModelAnswers, Reranker, is_in_process, is_remote
from clawmem.ports.records import Grain, LexicalQuery

# Names in `Trace.degraded`.
LATE_INTERACTION, EXPANSION, RERANKER = "late interaction", "expansion", "reranker"
DEADLINE_S = 5.0
PURPOSE = "rerank"  # of cached answers

# Candidates to rerank, independent of the limit, so that the first results do not depend on it; fewer where the model
# takes the time of this process, 30 ms for each.
RERANKED, IN_PROCESS = 40, 12
LINE_CHARS = 400  # characters around a line; with more, lines of one note would get the same text

# A large model may produce any order. A small cross-encoder knows chats and questions, but not which of two notes holds.
SMALL, SMALL_SHARES = "ms-marco:", {Unit.DOCUMENT: 0.2, Unit.LINE: 0.5}

BATCH = 4  # texts per call; small enough for common context sizes and for the deadline


class AnswerCache(NamedTuple):
    """Cache of model answers for one purpose. Its errors are ignored, because the model can be asked again."""

    answers: ModelAnswers
    purpose: str

    def get(self, model: str, question: str) -> str | None:
        """Return the cached answer, or ``None``."""
        with suppress(Exception):
            return self.answers.get(model, self.purpose, question)
        return None

    def keep(self, model: str, answers: Mapping[str, str], now_ms: int) -> None:
        """Cache *answers* by their questions."""
        with suppress(Exception):
            self.answers.keep(model, self.purpose, answers, at=iso_utc(now_ms))


def reason_of(error: Exception) -> str:
    """Return the reason why a model call failed, as a sentence for the trace."""
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"


class Models(NamedTuple):
    """Optional models for retrieval."""

    generator: Generator | None = None
    reranker: Reranker | None = None
    withheld: Callable[..., Collection[int]] = frozenset  # documents that no server of another machine reads


NO_MODELS = Models()


def expansion_stage(
    stores: RetrievalStores, models: Models, *, deadline_s: float = DEADLINE_S
) -> dict[str, Stage]:
    """
    Return the stage that puts reformulations of the question into ``Work.variants``; none without a generator.

    The model is not asked if one note stands out that has every word of the question, unless a purpose is given, which
    may mean another note. Failures are reported, and the search uses the question alone.
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
        if expansion.is_strong_signal([lexical_score(hit.score) for hit in hits]):
            trace.note("found by its words: no reformulations needed")
            return work
        prompt = expansion.expansion_prompt(question.text, request.purpose)
        try:
            model = generator.fingerprint
            cached = cache.get(model, prompt)
            answer = cached or generator.generate(
                prompt,
                timeout_s=deadline_s,
                max_tokens=expansion.MAX_TOKENS,
                temperature=expansion.TEMPERATURE,
            )
            variants = expansion.read_expansion(answer, question.text)
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
    Return both retrievers of reformulations by their names in ``trace.degraded``.

    Keywords are searched in documents and passages; rephrasings and the hypothetical answer by their vectors, unless
    the vault has those of another model, which the retriever of the question itself reports.
    """
    embeddings = stores.embeddings

    def by_keywords(request: RetrievalRequest, work: Work) -> RetrieverResult:
        searches: dict[str, Search] = {}
        keywords = (variant for variant in work.variants if variant.kind is expansion.VariantKind.LEX)
        for number, variant in enumerate(keywords, start=1):
            form = query_forms(variant.text).relaxed
            for grain in (Grain.DOCUMENT, Grain.PASSAGE):
                search = partial(stores.lexical.search, form, grain, LEXICAL_DEPTH[grain], request.scope)
                searches[f"{grain.value}{VARIANT_MARK}{number}"] = search
        return answered(searches)

    def by_vectors(request: RetrievalRequest, work: Work) -> RetrieverResult:
        variants = [variant for variant in work.variants if variant.kind is not expansion.VariantKind.LEX]
        if not variants or embeddings.fingerprint() != embedder.fingerprint:
            return RetrieverResult({})
        searches: dict[str, Search] = {}
        for number, variant in enumerate(variants, start=1):
            # Some models embed queries and passages differently.
            is_passage, text = variant.kind is expansion.VariantKind.HYDE, variant.text
            vector = embedder.embed_documents([text])[0] if is_passage else embedder.embed_query(text)
            searches[f"{VECTOR}{VARIANT_MARK}{number}"] = partial(
                stores.vectors.search, vector, VECTOR_DEPTH, request.scope
            )
        result = answered(searches)
        is_of_one_space = embeddings.fingerprint() == embedder.fingerprint  # also after the search
        return result if is_of_one_space else RetrieverResult({})

    return {"lexical variants": by_keywords, "vector variants": by_vectors}


def reranking_stages(
    stores: RetrievalStores, models: Models, *, most: int = RERANKED, deadline_s: float = DEADLINE_S
) -> dict[str, Stage]:
    """
    Return the stage between fusion and scoring in which a reranker reads the best candidates; none without one.

    It reads *most* candidates, or the ``candidate_limit`` of the request, but none that must not leave this machine.
    Scores are cached, also those before a failure, after which the order is unchanged.
    """
    if models.reranker is None:
        return {}
    reranker, cache = models.reranker, AnswerCache(stores.answers, PURPOSE)

    def rerank(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        is_local, is_document = is_in_process(reranker), request.unit is Unit.DOCUMENT
        head = work.candidates[: min(request.candidate_limit or most, IN_PROCESS if is_local else most)]
        # A model in this process reads 256 tokens.
        chars = (600 if is_local else CHUNK_CHARS) if is_document else LINE_CHARS
        bodies, spans = work.texts.bodies(c.document_id for c in head), work.texts.spans(c.best for c in head)
        titled = work.texts.documents(c.document_id for c in head) if is_document and is_local else {}
        private = models.withheld() if is_remote(reranker) else ()
        chunks = []
        for candidate in head:
            if candidate.document_id in private:
                chunks.append("")
                continue
            span = candidate.span or spans.get(candidate.best)
            chunk = choose_chunk(
                bodies.get(candidate.document_id, ""),
                request.question.forms.words,
                intent_terms(request.purpose) if is_document else (),
                around=(span.start, span.end) if span and span.end > span.start else None,
                chars=chars,
                overlap=min(OVERLAP_CHARS, chars // 2),
            )
            document = titled.get(candidate.document_id)
            chunks.append(f"{document.title}\n{chunk}" if document and document.title else chunk)
        texts = list(dict.fromkeys(chunk for chunk in chunks if chunk.strip()))
        if not texts:
            return work
        try:
            scores = scored(request, texts)
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[RERANKER] = reason_of(error)
            return work
        reranked = {place: scores[chunk] for place, chunk in enumerate(chunks) if chunk in scores}
        is_small = reranker.fingerprint.startswith(SMALL)
        share = SMALL_SHARES[request.unit] if is_small else fusion.RERANKER_SHARE
        fused = {n: c.relevance for n, c in enumerate(work.candidates)}
        relevance = fusion.blend(fused, reranked, share)
        relevance |= {n: fused[n] for n, chunk in enumerate(chunks) if not chunk}  # private ones keep theirs
        return work.with_candidates(
            work.candidates[n].with_relevance(
                relevance[n], **({RERANKER: reranked[n]} if n in reranked else {})
            )
            for n in sorted(relevance, key=lambda n: (-relevance[n], n))
        )

    def scored(request: RetrievalRequest, texts: Sequence[str]) -> dict[str, float]:
        until, model, purpose = perf_counter() + deadline_s, reranker.fingerprint, request.purpose.strip()
        question = f"{purpose}\n\n{request.question.text}" if purpose else request.question.text
        names = {
            text: f"{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}\n{question}" for text in texts
        }
        scores = {text: float(score) for text, name in names.items() if (score := cache.get(model, name))}
        unread = [text for text in texts if text not in scores]
        for start in range(0, len(unread), BATCH):
            batch = unread[start : start + BATCH]
            try:
                answers = reranker.rerank(question, batch, timeout_s=until - perf_counter())
            except InputTooLong:
                short = [text[:400] for text in batch]
                if short == batch:
                    raise
                answers = reranker.rerank(question, short, timeout_s=until - perf_counter())
            new = dict(zip(batch, answers, strict=True))
            cache.keep(
                model, {names[text]: repr(score) for text, score in new.items()}, request.question.now_ms
            )
            scores |= new
        return scores

    return {"rerank": rerank}
