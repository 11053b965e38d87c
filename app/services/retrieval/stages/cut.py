"""As many results as were asked for, without unlikely ones below a likely one."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import HIDDEN, Trace
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.intent import GRAPH_INTENTS
from clawmem.domain.retrieval.relevance import worth_showing


def cut(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Keep the first ``limit`` candidates; of these hide the unlikely ones that stand below a likely one.

    With ``show_all``, and where nothing is likely, nothing is hidden; nor where relations were followed, because a cause
    need not share the subject of the question.
    """
    trace.drop(work.candidates[request.limit :], "beyond the limit")
    first = work.candidates[: request.limit]
    if request.show_all or (work.intent is not None and work.intent.intent in GRAPH_INTENTS):
        return work.with_candidates(first)
    shown = worth_showing([one.confidence for one in first])
    trace.drop((one for one, is_shown in zip(first, shown, strict=True) if not is_shown), HIDDEN)
    return work.with_candidates([one for one, is_shown in zip(first, shown, strict=True) if is_shown])
