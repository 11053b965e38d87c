"""What a receipt holds, how small it is, and what two of them say about each other."""

from __future__ import annotations

from clawmem.app.services.retrieval.work import DROPS_NAMED, Candidate, StageTrace, Trace
from clawmem.ports.records import FragmentKey


def candidate(number: int, score: float = 0.5) -> Candidate:
    return Candidate(number, FragmentKey(number, 0), score, score)


def test_drops_are_counted_and_the_first_are_named() -> None:
    """Of each reason all are counted and the first few named; nothing dropped leaves nothing."""
    trace = Trace([StageTrace("cut", 0, 0, 0.0)])

    trace.drop(map(candidate, range(3)), "too late")
    trace.drop(map(candidate, range(3, 20)), "too late")
    trace.drop([candidate(99, 0.125)], "too small")
    trace.drop([], "never")

    [stage] = trace.stages
    assert stage.dropped == {"too late": 20, "too small": 1}
    assert [drop["document_id"] for drop in stage.drops] == [*range(DROPS_NAMED), 99]
    assert stage.drops[-1] == {"document_id": 99, "score": 0.125, "reason": "too small"}
