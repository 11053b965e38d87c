"""As many as were asked for."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work


def cut(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """The first ``limit``."""
    trace.drop(work.candidates[request.limit :], "beyond the limit")
    return work.with_candidates(work.candidates[: request.limit])
