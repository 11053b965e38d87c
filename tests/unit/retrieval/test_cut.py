"""How many results are shown, and which unlikely ones are hidden."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from clawmem.app.services.retrieval.cut import cut, cut_by_note
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.app.services.retrieval.work import Candidate, Stage, StageTrace, Trace, Work
from clawmem.ports.records import FragmentKey

Line = tuple[int, float | None]
"""The note of a line, and the confidence of the line."""


def request(limit: int = 10, *, show_all: bool = False) -> RetrievalRequest:
    """Return a request for *limit* results."""
    return read_request("who moors the ferry", now_ms=0, limit=limit, show_all=show_all, diverse=False)


def shown(stage: Stage, lines: Sequence[Line], asked: RetrievalRequest) -> list[Line]:
    """Return the lines that *stage* keeps."""
    found = tuple(
        Candidate(note, FragmentKey(note, at), 0.0, 0.0, confidence=confidence)
        for at, (note, confidence) in enumerate(lines)
    )
    trace = Trace([StageTrace("cut", len(found), 0, 0.0)])
    kept = stage(asked, Work(candidates=found), trace).candidates
    return [(one.document_id, one.confidence) for one in kept]


@pytest.mark.parametrize("stage", [cut, cut_by_note])
class TestBoth:
    """What both stages do."""

    def test_the_limit(self, stage: Stage) -> None:
        """No more results than the limit are kept."""
        assert shown(stage, [(1, 0.9), (2, 0.8), (3, 0.7)], request(2)) == [(1, 0.9), (2, 0.8)]

    def test_unlikely_below_likely(self, stage: Stage) -> None:
        """An unlikely note below a likely one is hidden, a possible one is not."""
        lines: list[Line] = [(1, 0.9), (2, 0.05), (3, 0.2)]
        assert shown(stage, lines, request()) == [(1, 0.9), (3, 0.2)]
        assert shown(stage, lines, request(show_all=True)) == lines

    def test_nothing_likely_and_nothing_judged(self, stage: Stage) -> None:
        """Without a likely result, or without confidences, nothing is hidden."""
        for lines in ([(1, 0.3), (2, 0.05)], [(1, None), (2, None)]):
            assert shown(stage, lines, request()) == lines


def test_a_line_of_a_likely_note() -> None:
    """A prompt receives an unlikely line of a likely note; a search by line hides it."""
    lines: list[Line] = [(1, 0.9), (1, 0.05), (2, 0.05)]

    assert shown(cut_by_note, lines, request()) == [(1, 0.9), (1, 0.05)]
    assert shown(cut, lines, request()) == [(1, 0.9)]
