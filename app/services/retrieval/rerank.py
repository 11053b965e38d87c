"""Reranking by a model that reads a part of each candidate together with the question."""

from collections.abc import Sequence
from hashlib import sha256
from time import perf_counter

from clawmem.app.services.retrieval.models import AnswerCache, Models, reason_of
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.domain.retrieval import fusion
from clawmem.domain.retrieval.snippets import CHUNK_CHARS, OVERLAP_CHARS, choose_chunk, intent_terms
from clawmem.ports.errors import InputTooLong
from clawmem.ports.models import is_in_process, is_remote

# Candidates to rerank, independent of the limit, so that the first results do not depend on it; fewer where the model
# takes the time of this process, 30 ms for each.
RERANKED, IN_PROCESS = 40, 12
PASSAGE_CHARS = 600  # of a document, for a model in this process, which reads 256 tokens
LINE_CHARS = 400  # characters around a line; with more, lines of one note would get the same text

# A large model may produce any order. A small cross-encoder knows chats and questions, but not which of two notes holds.
SMALL, SMALL_SHARES = "ms-marco:", {Unit.DOCUMENT: 0.2, Unit.LINE: 0.5}

RERANKER = "reranker"
PURPOSE = "rerank"
DEADLINE_S = 5.0
BATCH = 4  # texts per call; small enough for common context sizes and for the deadline
SHORT_CHARS = 400  # characters per text if the model rejects the whole texts as too long


def reranking_stages(
    stores: RetrievalStores, models: Models, *, most: int = RERANKED, deadline_s: float = DEADLINE_S
) -> dict[str, Stage]:
    """
    Return the stage between fusion and scoring in which a reranker reads the best candidates; none without one.

    It reads *most* candidates, or the ``candidate_limit`` of the request. Equal texts are scored once, as `RERANKER` in
    ``legs``, and scores are cached. Either all are scored or none: after a failure, reported in ``trace.degraded``,
    the order is unchanged. Scores computed before the failure remain cached. Relevance and scores are blended at last.
    """
    if models.reranker is None:
        return {}
    reranker, cache = models.reranker, AnswerCache(stores.answers, PURPOSE)

    def rerank(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        chunks = chosen_chunks(request, work)
        texts = list(dict.fromkeys(chunk for chunk in chunks if chunk.strip()))
        if not texts:
            return work
        try:
            scores = scored(request, texts)
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[RERANKER] = reason_of(error)
            return work
        reranked = {place: scores[chunk] for place, chunk in enumerate(chunks) if chunk in scores}
        share = fusion.RERANKER_SHARE
        if reranker.fingerprint.startswith(SMALL):
            share = SMALL_SHARES[request.unit]
        fused = {n: c.relevance for n, c in enumerate(work.candidates)}
        relevance = fusion.blend(fused, reranked, share)
        relevance |= {n: fused[n] for n, chunk in enumerate(chunks) if not chunk}  # private ones keep theirs
        return work.with_candidates(
            work.candidates[n].with_relevance(
                relevance[n], **({RERANKER: reranked[n]} if n in reranked else {})
            )
            for n in sorted(relevance, key=lambda n: (-relevance[n], n))
        )

    def chosen_chunks(request: RetrievalRequest, work: Work) -> list[str]:
        """Return the text to read of each of the first candidates; empty for one that must not leave this machine."""
        is_local, is_document = is_in_process(reranker), request.unit is Unit.DOCUMENT
        head = work.candidates[: min(request.candidate_limit or most, IN_PROCESS if is_local else most)]
        chars = (PASSAGE_CHARS if is_local else CHUNK_CHARS) if is_document else LINE_CHARS
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
        return chunks

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
                short = [text[:SHORT_CHARS] for text in batch]
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
