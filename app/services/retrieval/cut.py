"""The end of a list: near-duplicates last, at most the limit, and no unlikely results below a likely one."""

from collections.abc import Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import HIDDEN, Candidate, Trace, Work
from clawmem.domain.retrieval.diversity import diversify
from clawmem.domain.retrieval.intent import GRAPH_INTENTS
from clawmem.domain.retrieval.relevance import results_to_show

SPREAD = 20  # first candidates that are compared with each other, independent of the limit
READ_FOR_DIVERSITY = 800  # characters compared per text


def cut(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Move near-duplicates of a better document last, keep the first ``limit``, and drop unlikely ones below a likely one.

    No unlikely result is dropped with ``show_all``, if no candidate is likely, or if relations were followed, because a
    cause need not share the subject of the question.
    """
    candidates = _diversified(request, work)
    trace.drop(candidates[request.limit :], "beyond the limit")
    first = candidates[: request.limit]
    has_relations = work.intent is not None and work.intent.intent in GRAPH_INTENTS
    if request.show_all or has_relations:
        return work.with_candidates(first)
    judged = list(zip(first, results_to_show([c.confidence for c in first]), strict=True))
    trace.drop((c for c, is_shown in judged if not is_shown), HIDDEN)
    return work.with_candidates(c for c, is_shown in judged if is_shown)


def _diversified(request: RetrievalRequest, work: Work) -> Sequence[Candidate]:
    if not request.diverse or request.unit is Unit.LINE or work.by_date.order:
        return work.candidates
    head, tail = work.candidates[:SPREAD], work.candidates[SPREAD:]
    bodies = work.texts.bodies(c.document_id for c in head)

    def beginning(candidate: Candidate) -> str:
        title = candidate.document.title if candidate.document else ""
        return f"{title}\n{bodies.get(candidate.document_id, '')[:READ_FOR_DIVERSITY]}"

    distinct, copies = diversify(head, beginning)
    return [*distinct, *copies, *tail]
