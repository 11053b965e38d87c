"""Follow-up prompts: retrieve with the earlier prompts of the session when a prompt depends on them."""

from __future__ import annotations

from collections.abc import Callable

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Trace, Work
from clawmem.app.services.surfacing.turns import Earlier
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.surfacing.look_back import ADDED_SHARE, LEAST_SHARE, looking_back
from clawmem.domain.surfacing.refers_back import COMPLETE, content_words, refers_back

Ranked = tuple[Work, Trace]


def is_fragment(prompt: str) -> bool:
    """Whether *prompt* refers back and has no content words, so that its results alone are meaningless."""
    return refers_back(prompt) and content_words(prompt) == 0


def depends_on_earlier(prompt: str, answered: bool) -> bool:
    """
    Whether *prompt* must be retrieved together with earlier prompts.

    Args:
        answered: Whether *prompt* alone found candidates; then even a single content word is enough.
    """
    return refers_back(prompt) or not (answered or content_words(prompt) >= COMPLETE)


def with_earlier(
    request: RetrievalRequest, alone: Ranked, earlier: Earlier, rank: Callable[[RetrievalRequest], Ranked]
) -> Ranked:
    """
    Return *alone*, followed by the candidates that the prompt finds in combination with *earlier* prompts.

    Candidates that were surfaced for an earlier prompt are already in the conversation and are dropped.
    """
    text = looking_back(request.query, earlier.questions)
    if text == request.query:
        return alone
    found, trace = rank(request._replace(query=text, forms=query_forms(text)))
    least = LEAST_SHARE * max((c.relevance for c in found.candidates), default=0.0)
    new = [c for c in found.candidates if c.relevance >= least and _place(c) not in earlier.places]
    trace.drop([c for c in found.candidates if _place(c) in earlier.places], "given a moment ago")
    if not alone[0].candidates:
        return found.with_candidates(new), trace
    return alone[0].with_candidates(_behind(alone[0].candidates, new)), alone[1]


def _behind(own: tuple[Candidate, ...], added: list[Candidate]) -> list[Candidate]:
    """Return *own* unchanged, then the new ones of *added* with a relevance below every one of *own*."""
    known = {c.best for c in own}
    least = ADDED_SHARE * min(c.relevance for c in own)
    return [
        *own,
        *(
            c._replace(relevance=least * c.relevance, score=least * c.relevance)
            for c in added
            if c.best not in known
        ),
    ]


def _place(candidate: Candidate) -> tuple[int, int]:
    return candidate.document_id, candidate.span.start_line if candidate.span else 0
