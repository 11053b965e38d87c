"""How many results are shown, and which unlikely ones are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import Mock

from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.app.services.retrieval.score import cut
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, StageTrace, Trace, Work
from clawmem.ports.records import FragmentKey

Line = tuple[int, float | None]
"""The note of a line, and the confidence of the line."""


def request(limit: int = 10, *, show_all: bool = False) -> RetrievalRequest:
    return read_request("who moors the ferry", now_ms=0, limit=limit, show_all=show_all, diverse=False)


def shown(lines: Sequence[Line], request: RetrievalRequest) -> list[Line]:
    candidates = tuple(
        Candidate(note, FragmentKey(note, at), 0.0, 0.0, confidence=confidence)
        for at, (note, confidence) in enumerate(lines)
    )
    trace = Trace([StageTrace("cut", len(candidates), 0, 0.0)])
    remaining = cut(request, Work(LoadedTexts(Mock()), candidates=candidates), trace).candidates
    return [(candidate.document_id, candidate.confidence) for candidate in remaining]


def test_the_limit() -> None:
    """No more results than the limit are kept."""
    assert shown([(1, 0.9), (2, 0.8), (3, 0.7)], request(2)) == [(1, 0.9), (2, 0.8)]


def test_unlikely_below_likely() -> None:
    """An unlikely result below a likely one is hidden, a possible one is not."""
    lines: list[Line] = [(1, 0.9), (2, 0.05), (1, 0.05), (3, 0.2)]
    assert shown(lines, request()) == [(1, 0.9), (3, 0.2)]
    assert shown(lines, request(show_all=True)) == lines


def test_nothing_likely_and_nothing_judged() -> None:
    """Without a likely result, or without confidences, nothing is hidden."""
    for lines in ([(1, 0.3), (2, 0.05)], [(1, None), (2, None)]):
        assert shown(lines, request()) == lines
