"""Selection of the text of each candidate that a reranker reads."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.unchanged import unchanged
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval import chunk_choice
from clawmem.domain.retrieval.chunk_choice import CHUNK_CHARS, OVERLAP_CHARS, intent_terms
from clawmem.ports.records import FragmentKey, Span
from clawmem.ports.reranker import Reranker
from clawmem.ports.vault import Vault

RERANKED = 40  # candidates to rerank, independent of the limit, so that the first results do not depend on it
LINE_CHARS = 400  # characters around a line; with more, lines of one note would get the same text


def choose_chunk(vault: Vault, reranker: Reranker | None) -> Stage:
    """
    Return a stage that gives the first candidates the text for *reranker* to read; without one it does nothing.

    It applies to `RERANKED` candidates, or to the ``candidate_limit`` of the request.
    """
    if reranker is None:
        return unchanged
    readable = reranker.max_document_chars

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        most_read = request.candidate_limit or RERANKED
        head, tail = work.candidates[:most_read], work.candidates[most_read:]
        spans = vault.documents.spans(candidate.best for candidate in head)
        most = min(readable, CHUNK_CHARS if request.unit is Unit.DOCUMENT else LINE_CHARS)
        wanted = intent_terms(request.purpose) if request.unit is Unit.DOCUMENT else ()
        chosen = [c._replace(chunk=_chunk(vault, c, spans, request.forms.words, wanted, most)) for c in head]
        return work.with_candidates([*chosen, *tail])

    return stage


def _chunk(
    vault: Vault,
    candidate: Candidate,
    spans: Mapping[FragmentKey, Span],
    terms: tuple[str, ...],
    wanted: tuple[str, ...],
    chars: int,
) -> str:
    span = spans.get(candidate.best)
    return chunk_choice.choose_chunk(
        vault.documents.body(candidate.document_id) or "",
        terms,
        wanted,
        around=(span.start, span.end) if span and span.end > span.start else None,
        chars=chars,
        overlap=min(OVERLAP_CHARS, chars // 2),
    )
