"""What a receipt holds, how small it is, and what two of them say about each other."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.app.services.retrieval.receipts import (
    Receipt,
    ReceiptDrop,
    ReceiptItem,
    ReceiptStage,
    RetrieverRank,
    pack,
    unpack,
)
from clawmem.app.services.retrieval.work import DROPS_NAMED, Candidate, StageTrace, Trace
from clawmem.ports.records import FragmentKey

THEN = "2026-03-01T08:00:00.000Z"

numbers = st.floats(-100, 100).map(lambda x: round(x, 4))
names = st.text(max_size=12)
shares = st.dictionaries(names, numbers, max_size=4)
counts = st.integers(0, 10_000)
items = st.builds(
    ReceiptItem,
    counts,
    names,
    names,
    counts,
    counts,
    numbers,
    numbers,
    st.dictionaries(names, st.builds(RetrieverRank, counts, numbers), max_size=4),
    shares,
    shares,
    st.none() | numbers,
)
drops = st.lists(st.builds(ReceiptDrop, counts, numbers, names), max_size=3).map(tuple)
notes = st.lists(names, max_size=2).map(tuple)
tallies = st.dictionaries(names, counts, max_size=3)
stages = st.builds(ReceiptStage, names, counts, counts, numbers, notes, tallies, drops)
receipts = st.builds(
    Receipt,
    names,
    st.text(),
    names,
    numbers,
    names,
    st.none() | names,
    st.dictionaries(names, counts | names, max_size=3),
    st.lists(items, max_size=4).map(tuple),
    st.lists(stages, max_size=3).map(tuple),
    tallies,
    st.dictionaries(names, names, max_size=2),
    st.none() | numbers,
)


@given(receipts)
def test_a_receipt_survives_packing(receipt: Receipt) -> None:
    """Whatever a receipt holds, it comes back as it was."""
    assert unpack(pack(receipt)) == receipt


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain",
        zlib.compress(b"no json"),
        zlib.compress(b"\xff\xfe"),
        zlib.compress(b"{}"),
        zlib.compress(b"[]"),
        zlib.compress(b"[1]"),
        zlib.compress(b"7"),
        zlib.compress(json.dumps([2, ["search"]]).encode()),
        zlib.compress(json.dumps([1, ["search"]]).encode()),
        zlib.compress(json.dumps([1, ["x"] * 11]).encode()),
        zlib.compress(json.dumps([1, [7] * 11]).encode()),
        zlib.compress(json.dumps([1, ["x"] * 13]).encode()),
        pack(Receipt("search", "redis", THEN, 1.0))[:-4],
    ],
    ids=repr,
)
def test_what_is_no_receipt_is_refused(content: bytes) -> None:
    """Damaged, foreign or later content gives no receipt and no error."""
    assert unpack(content) is None


# -- the question -----------------------------------------------------------------------------------------


# -- the trace --------------------------------------------------------------------------------------------


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
    assert [drop.document_id for drop in stage.drops] == [*range(DROPS_NAMED), 99]
    assert stage.drops[-1] == (99, FragmentKey(99, 0), 0.125, "too small")
