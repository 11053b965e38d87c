"""The temporal retriever: documents written in the time that the question names."""

from __future__ import annotations

from datetime import datetime, tzinfo

from clawmem.app.services.retrieval.legs.ask_all import Retriever, RetrieverResult
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.grains import TIME
from clawmem.domain.retrieval.temporal import TimeRange, temporal_range
from clawmem.ports.records import FragmentKey, Hit, Scope
from clawmem.ports.vault import Vault

DEPTH = 200  # latest documents of the named time


def temporal_retriever(vault: Vault) -> Retriever:
    """
    Return a retriever for the documents of the time that the question names, each with score 1.0.

    The time contributes to the score and does not filter: a document may be about a time in which it was not written.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        named = temporal_range(request.query, now_ms=request.now_ms, zone=request.zone)
        if named is None:
            return RetrieverResult({})
        written = vault.documents.latest(within(request.scope, named), limit=DEPTH)
        hits = [Hit(FragmentKey(document.id, 0), 1.0) for document in written]
        return RetrieverResult({TIME: hits}, note=f"the time it names: {_said(named, request.zone)}")

    return search


def within(scope: Scope, named: TimeRange) -> Scope:
    """Return *scope*, narrowed to the time that the question names."""
    starts = [moment for moment in (scope.authored_from, named.recorded_from) if moment]
    ends = [moment for moment in (scope.authored_until, named.authored_until) if moment]
    return scope._replace(authored_from=max(starts, default=None), authored_until=min(ends, default=None))


def _said(named: TimeRange, zone: tzinfo) -> str:
    return f"{_day(named.authored_from, zone)} up to {_day(named.authored_until, zone)}"


def _day(moment: str | None, zone: tzinfo) -> str:
    return datetime.fromisoformat(moment).astimezone(zone).date().isoformat() if moment else ""
