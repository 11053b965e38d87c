"""A pipeline is a row of stages; running one writes its trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter

from clawmem.app.services.retrieval.answer import Answer, describe
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import StageTrace, Trace
from clawmem.app.services.retrieval.work import Stage, Work
from clawmem.ports.vault import Vault


class Pipeline:
    """Named stages in their order, over one vault."""

    def __init__(self, vault: Vault, stages: Mapping[str, Stage]) -> None:
        self._vault = vault
        self._stages = stages

    def rank(self, request: RetrievalRequest) -> tuple[Work, Trace]:
        """Run every stage; the candidates as they stand at the end, and how they came there."""
        request = _narrowed(self._vault, request)
        work, trace = Work(), Trace()
        for name, stage in self._stages.items():
            began = perf_counter()
            trace.stages.append(StageTrace(name, len(work.candidates), 0, 0.0))
            work = stage(request, work, trace)
            trace.stages[-1].went_out = len(work.candidates)
            trace.stages[-1].ms = (perf_counter() - began) * 1000
        trace.legs = work.legs
        return work, trace

    def __call__(self, request: RetrievalRequest) -> Answer:
        """Answer a question, with places and snippets."""
        work, trace = self.rank(request)
        return Answer(
            request.query, describe(self._vault, request, work.candidates), trace, answered=work.answered
        )


def _narrowed(vault: Vault, request: RetrievalRequest) -> RetrievalRequest:
    """Kinds and tags as the documents that have them: what every index can keep to before it cuts."""
    if not request.content_types and not request.tags:
        return request
    found = vault.documents.ids(request.scope, content_types=request.content_types, tags=request.tags)
    return replace(request, scope=replace(request.scope, documents=found))
