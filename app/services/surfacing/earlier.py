"""A prompt that depends on earlier ones: when they are asked as well, and what that adds."""

from __future__ import annotations

from collections.abc import Callable

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Work
from clawmem.app.services.surfacing.turns import Earlier
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.surfacing.look_back import ADDED_SHARE, LEAST_SHARE, looking_back
from clawmem.domain.surfacing.refers_back import COMPLETE, content_words, refers_back

Ranked = tuple[Work, Trace]


def is_fragment(prompt: str) -> bool:
    """Whether *prompt* points back and names nothing itself: what it finds alone answers nothing."""
    return refers_back(prompt) and content_words(prompt) == 0


def depends_on_earlier(prompt: str, answered: bool) -> bool:
    """
    Whether the prompts before *prompt* are needed to understand it.

    Args:
        answered: Whether it was answered by itself; a single word that was answered needs no other.
    """
    return refers_back(prompt) or not (answered or content_words(prompt) >= COMPLETE)


def with_earlier(
    request: RetrievalRequest, alone: Ranked, earlier: Earlier, rank: Callable[[RetrievalRequest], Ranked]
) -> Ranked:
    """
    Return *alone*, and behind its candidates those that the prompt finds together with the *earlier* ones.

    What earlier prompts were given stands in the conversation already, and is left out.
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
    """*own* in their places, then those *added* that are not among them, less relevant than every one of *own*."""
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
