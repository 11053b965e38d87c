"""What a door shows: every ranked candidate with its place and the lines that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.app.services.documents.docids import docids
from clawmem.app.services.retrieval.request import RetrievalRequest, as_it_was
from clawmem.app.services.retrieval.stages.signals import age_days
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate
from clawmem.domain.retrieval.chunk_choice import intent_terms
from clawmem.domain.retrieval.snippets import Snippet, snippet
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Document, FragmentKey, Span
from clawmem.ports.vault import Vault


class Result(NamedTuple):
    """One answer as a door shows it."""

    document: Document
    docid: str
    score: float
    relevance: float
    start_line: int
    end_line: int
    heading: str
    snippet: Snippet
    age_days: float
    legs: Mapping[str, float]
    terms: Mapping[str, float]
    body: str  # the document's text, whole
    confidence: float | None = None  # the probability that it answers, in [0, 1]


class Answer:
    """
    All answers, best first, with the trace of how they were found.

    ``answered`` is the probability that any of them answers, in [0, 1]; None where no stage judged.
    """

    def __init__(
        self, query: str, results: tuple[Result, ...], trace: Trace, *, answered: float | None = None
    ) -> None:
        self.query = query
        self.results = results
        self.trace = trace
        self.answered = answered


def describe(vault: Vault, request: RetrievalRequest, candidates: Sequence[Candidate]) -> tuple[Result, ...]:
    """Look up where each candidate lies and show the lines that answer; ages count from when it is asked of."""
    request = as_it_was(request)
    spans = vault.documents.spans(c.best for c in candidates)
    documents = [c.document for c in candidates if c.document is not None]
    names = docids(vault.documents, documents)
    return tuple(
        _result(vault, request, candidate, candidate.document, spans, names[candidate.document.id])
        for candidate in candidates
        if candidate.document is not None
    )


def _result(
    vault: Vault,
    request: RetrievalRequest,
    candidate: Candidate,
    document: Document,
    spans: dict[FragmentKey, Span],
    docid: str,
) -> Result:
    span = spans.get(candidate.best)
    body = vault.documents.body(document.id) or ""
    shown = snippet(
        body,
        request.forms.words,
        intent_terms=intent_terms(request.intent) if request.intent else (),
        around=(span.start, span.end) if span and span.end > span.start else None,
        first_line=document.body_line,
    )
    return Result(
        document=document,
        docid=docid,
        score=min(1.0, max(0.0, candidate.score)),
        relevance=candidate.relevance,
        start_line=span.start_line if span else document.body_line,
        end_line=span.end_line if span else document.body_line,
        heading=span.heading if span else "",
        snippet=shown,
        age_days=age_days(document.authored_at, request.now_ms),
        legs=candidate.legs,
        terms=candidate.terms,
        body=body,
        confidence=candidate.confidence,
    )
