"""Replacement for a stage whose model is missing."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work


def unchanged(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Return *work* unchanged."""
    return work
