"""What a door shows: every ranked candidate with its place and the lines that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.app.services.documents.docids import docids
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import RetrievalRequest, as_it_was
from clawmem.app.services.retrieval.stages.signals import age_days
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate
from clawmem.domain.retrieval.chunk_choice import intent_terms
from clawmem.domain.retrieval.snippets import Snippet, snippet
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Document, Span
from clawmem.ports.vault import Vault


class Result(NamedTuple):
    """One answer as a door shows it."""

    document: Document
    docid: str
    score: float
    relevance: float
    span: Span | None  # where in the document; None where that is not known any more
    age_days: float
    legs: Mapping[str, float]
    terms: Mapping[str, float]
    body: str  # the document's text, whole
    words: Sequence[str]  # of the question
    purpose: Sequence[str] = ()  # the words of what the answer is wanted for
    confidence: float | None = None  # the probability that it answers, in [0, 1]
    shown_length: int = 0  # characters, where it is always shown in short
    superseded_by: Document | None = None  # the note that holds instead

    @property
    def start_line(self) -> int:
        """The first line of it, from 1."""
        return self.span.start_line if self.span else self.document.body_line

    @property
    def end_line(self) -> int:
        """The last line of it."""
        return self.span.end_line if self.span else self.document.body_line

    @property
    def heading(self) -> str:
        """Under which it stands."""
        return self.span.heading if self.span else ""

    def snippet(self) -> Snippet:
        """The lines that answer. Cut out anew each time: not every door shows them."""
        if self.shown_length:
            return self.in_short(self.shown_length)
        span = self.span
        return snippet(
            self.body,
            self.words,
            intent_terms=self.purpose,
            around=(span.start, span.end) if span and span.end > span.start else None,
            first_line=self.document.body_line,
        )

    def in_short(self, max_length: int) -> Snippet:
        """The best lines of the whole document, so many characters."""
        return snippet(self.body, self.words, max_length=max_length, first_line=self.document.body_line)


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
    """Look up where each candidate lies and what it says; ages count from when it is asked of."""
    request = as_it_was(request)
    spans = vault.documents.spans(c.best for c in candidates)
    found = [(c, c.document) for c in candidates if c.document is not None]
    bodies = vault.documents.bodies({document.id for _, document in found})
    names = docids(vault.documents, [document for _, document in found])
    newer = current_successors(vault, [document.id for _, document in found], request.as_of)
    purpose = intent_terms(request.intent) if request.intent else ()
    return tuple(
        Result(
            document=document,
            docid=names[document.id],
            score=min(1.0, max(0.0, candidate.score)),
            relevance=candidate.relevance,
            span=spans.get(candidate.best),
            age_days=age_days(document.authored_at, request.now_ms),
            legs=candidate.legs,
            terms=candidate.terms,
            body=bodies.get(document.id, ""),
            words=request.forms.words,
            purpose=purpose,
            confidence=candidate.confidence,
            superseded_by=newer.get(document.id),
        )
        for candidate, document in found
    )
