"""What a receipt holds, how small it is, and what two of them say about each other."""

from __future__ import annotations

import json
import zlib

from clawmem.app.services.retrieval.receipts import Receipt, pack, unpack
from clawmem.app.services.retrieval.work import DROPS_NAMED, Candidate, StageTrace, Trace
from clawmem.ports.records import FragmentKey

THEN = "2026-03-01T08:00:00.000Z"


def test_what_is_no_receipt_is_refused() -> None:
    """A receipt comes back as it was; damaged, foreign or later content gives none and no error."""
    receipt = Receipt(
        verb="search",
        question="redis",
        asked_at=THEN,
        took_ms=1.0,
        version="1",
        model=None,
        asked={"limit": 4},
        items=[{"document_id": 1}],
        stages=[],
        hits={"line": 2},
        degraded={},
        answered=None,
    )
    later = zlib.compress(json.dumps({**receipt.model_dump(), "new": 1}).encode())
    assert unpack(pack(receipt)) == receipt
    for content in (b"", b"plain", zlib.compress(b"\xff"), zlib.compress(b"[1]"), later, pack(receipt)[:-4]):
        assert unpack(content) is None


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
