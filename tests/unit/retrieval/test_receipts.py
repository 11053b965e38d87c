"""What a receipt holds, how small it is, and what two of them say about each other."""

from __future__ import annotations

import json
import zlib
from typing import Any

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
    request_from_json,
    request_to_json,
    unpack,
)
from clawmem.app.services.retrieval.replay import ChangeKind, SilenceChange, compared
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.work import DROPS_NAMED, Candidate, StageTrace, Trace
from clawmem.ports.records import Document, FragmentKey, InactiveReason, Scope

THEN = "2026-03-01T08:00:00.000Z"
LATER = "2026-03-02T08:00:00.000Z"
EARLIER = "2026-02-01T08:00:00.000Z"
NOW_MS = 1_772_352_000_000

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


def test_a_receipt_of_before_can_be_read() -> None:
    """One that was written before anybody judged answers has nothing to say of that, and all the rest."""
    written = [1, [*receipt(item(1))[:-1]]]
    written[1][7] = [list(item(1))[:-1]]

    assert unpack(zlib.compress(json.dumps(written, default=dict).encode())) == receipt(item(1))


def test_half_a_character_survives_packing() -> None:
    """A question that is no valid Unicode does not stop its receipt."""
    receipt = Receipt("search", "caf\udce9", THEN, 1.0)

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
    """Damaged, foreign or later content is a ValueError and nothing else."""
    with pytest.raises(ValueError):
        unpack(content)


# -- the question -----------------------------------------------------------------------------------------


def test_usual_parameters_are_not_written_down() -> None:
    """A question as most are asked needs nothing beside its words."""
    assert request_to_json(read_request("redis", now_ms=NOW_MS)) == {}


def test_every_parameter_is_asked_again() -> None:
    """A request through JSON and back is the same at another time, every field of it and of its scope."""
    request = read_request("redis", now_ms=NOW_MS, limit=3, min_score=0.25, unit=Unit.LINE)._replace(
        scope=Scope(frozenset({"work", "notes"}), EARLIER, THEN), ranking=Ranking.PUBLISHED, diverse=False
    )

    again = request_from_json("redis", json.loads(json.dumps(request_to_json(request))), NOW_MS + 1)

    assert again == request._replace(question=request.question.at(NOW_MS + 1))
    assert isinstance(again.unit, Unit) and isinstance(again.scope.collections, frozenset)


def test_every_field_has_a_usual_value() -> None:
    """What is not the question itself has a default that can be compared: else it cannot be left out."""
    assert {*RetrievalRequest._fields} - {*RetrievalRequest._field_defaults} == {"question"}


def test_a_parameter_of_another_version() -> None:
    """One that nobody knows any more is left out; a value that nobody knows is refused."""
    assert request_from_json("redis", {"limit": 3, "moon": "full"}, NOW_MS).limit == 3
    with pytest.raises(ValueError):
        request_from_json("redis", {"unit": "sentence"}, NOW_MS)


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


def test_a_stage_by_itself_drops_in_silence() -> None:
    """A stage that is called without a pipeline has nobody to tell."""
    trace = Trace()

    trace.drop([candidate(1)], "too late")

    assert trace.stages == []


# -- comparing --------------------------------------------------------------------------------------------


def item(number: int, score: float = 0.5, line: int = 1, content: str = "") -> ReceiptItem:
    return ReceiptItem(number, content or f"{number:06x}", f"notes/{number}.md", line, line, score, score)


def receipt(*given: ReceiptItem, **more: Any) -> Receipt:
    return Receipt("query", "redis", THEN, 1.0, "0.1.0", "model", items=given)._replace(**more)


def document(number: int, **more: Any) -> Document:
    known = Document("notes", f"{number}.md", "A", f"{number:06x}ff", "s", EARLIER, EARLIER, EARLIER)
    return known._replace(id=number, **more)


def fates(then: Receipt, now: Receipt, *documents: Document, limit: int = 10) -> list[tuple[str, str, str]]:
    """What became of each answer: which, what, why."""
    known = {one.id: one for one in documents}
    return [(c.file, c.fate, c.reason) for c in compared(then, now, known, limit).changes]


def test_nothing_changed() -> None:
    """The same answers in the same order are the same, whatever their scores."""
    replay = compared(receipt(item(1, 0.9), item(2)), receipt(item(1, 0.8), item(2)), {}, 10)

    assert [change.fate for change in replay.changes] == [ChangeKind.SAME, ChangeKind.SAME]
    assert (replay.changes[0].score_then, replay.changes[0].score_now) == (0.9, 0.8)
    assert replay.circumstances == ()


def test_answers_move() -> None:
    """Two that changed places both moved; the ranks of then and now are told."""
    replay = compared(receipt(item(1), item(2)), receipt(item(2), item(1)), {}, 10)

    assert [(c.file, c.fate, c.rank_then, c.rank_now) for c in replay.changes] == [
        ("notes/2.md", ChangeKind.MOVED, 2, 1),
        ("notes/1.md", ChangeKind.MOVED, 1, 2),
    ]


def test_another_text_is_told_by_its_docid() -> None:
    """A document that was edited is recognised although it stayed in its place; a longer docid is no edit."""
    then, now = receipt(item(1), item(2)), receipt(item(1, content="abcdef"), item(2, content="00000299"))

    assert [reason for _, _, reason in fates(then, now)] == ["changed since", ""]


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ([], "no longer in the vault"),
        ([document(1, inactive=InactiveReason.REMOVED)], "its file is gone"),
        ([document(1, inactive=InactiveReason.ARCHIVED)], "archived"),
        ([document(1, inactive=InactiveReason.FORGOTTEN)], "forgotten"),
        ([document(1, inactive=InactiveReason.SUPERSEDED)], "superseded"),
        ([document(1, hash="ab" * 32)], "changed since"),
        ([document(1)], ""),
    ],
)
def test_why_an_answer_is_gone(known: list[Document], reason: str) -> None:
    """What became of its document is the reason; where nothing did, nothing is made up."""
    assert fates(receipt(item(1)), receipt(), *known) == [("notes/1.md", ChangeKind.GONE, reason)]


def test_an_answer_that_would_be_silent_now() -> None:
    """That nothing is said any more, or something is again, is a change of its own, and the floor is its reason."""
    judged = ReceiptStage("judge", 9, 0, 0.1, dropped={"below the floor": 9})
    given, silent = receipt(item(1), answered=0.9), receipt(answered=0.2, stages=(judged,))

    assert compared(given, silent, {1: document(1)}, 10).voice is SilenceChange.FELL_SILENT
    assert compared(silent, given, {1: document(1)}, 10).voice is SilenceChange.SPEAKS
    assert compared(given, given, {}, 10).voice is compared(silent, silent, {}, 10).voice is None
    assert fates(given, silent, document(1)) == [("notes/1.md", ChangeKind.GONE, "now below the floor")]
    assert fates(silent, given, document(1)) == [("notes/1.md", ChangeKind.NEW, "then below the floor")]


def test_an_answer_that_others_pushed_out() -> None:
    """Where the list is full others came first; where a stage named it, the stage's reason is better."""
    named = ReceiptStage("score", 2, 1, 0.1, drops=(ReceiptDrop(1, 0.01, "below the minimum score"),))

    full = fates(receipt(item(1)), receipt(item(2)), document(1), document(2), limit=1)
    told = fates(receipt(item(1)), receipt(item(2), stages=(named,)), document(1), document(2), limit=1)

    assert full[-1] == ("notes/1.md", ChangeKind.GONE, "others come first")
    assert told[-1] == ("notes/1.md", ChangeKind.GONE, "now below the minimum score")


def test_why_an_answer_is_new() -> None:
    """Indexed since, changed since, or there then and cut off; else nothing is known."""
    cut = ReceiptStage("cut", 5, 1, 0.1, drops=(ReceiptDrop(4, 0.2, "beyond the limit"),))
    known = [
        document(2, indexed_at=LATER),
        document(3, indexed_at=LATER, revision_count=2),
        *map(document, (4, 5)),
    ]

    found = fates(receipt(stages=(cut,)), receipt(*map(item, (2, 3, 4, 5))), *known)

    assert [fate for _, fate, _ in found] == [ChangeKind.NEW] * 4
    assert [why for _, _, why in found] == ["indexed since", "changed since", "then beyond the limit", ""]


def test_lines_are_told_apart() -> None:
    """Where lines are answers two of one document are two; where documents are, the line does not matter."""
    then, now = (item(1, line=3), item(1, line=9)), (item(1, line=9), item(1, line=4))
    by_line = compared(receipt(*then, asked={"unit": "line"}), receipt(*now, asked={"unit": "line"}), {}, 10)
    whole = compared(receipt(then[0]), receipt(now[0]), {}, 10)

    assert [(c.fate, c.start_line) for c in by_line.changes] == [
        (ChangeKind.MOVED, 9),
        (ChangeKind.NEW, 4),
        (ChangeKind.GONE, 3),
    ]
    assert [c.fate for c in whole.changes] == [ChangeKind.SAME]


def test_what_may_move_every_answer_is_told() -> None:
    """Another model, another version, and legs that were or are missing."""
    then = receipt(version="0.0.9", model=None, degraded={"vector": "no vectors"})
    now = receipt(degraded={"lexical": "too slow"})

    assert compared(then, now, {}, 10).circumstances == (
        "vectors of none then, of model now",
        "answered by clawmem 0.0.9 then, 0.1.0 now",
        "degraded then: vector: no vectors",
        "degraded now: lexical: too slow",
    )


@given(st.lists(st.integers(1, 12), unique=True), st.lists(st.integers(1, 12), unique=True))
def test_nothing_is_lost_in_a_comparison(before: list[int], after: list[int]) -> None:
    """Every answer of then or now appears once, those of now first and in their order."""
    then, now = receipt(*map(item, before)), receipt(*map(item, after))

    changes = compared(then, now, {}, 10).changes

    assert [c.rank_now for c in changes if c.rank_now] == [*range(1, len(after) + 1)]
    assert {c.rank_then for c in changes if c.rank_then} == {*range(1, len(before) + 1)}
    assert len(changes) == len({*before, *after})
    assert {c.file for c in changes if c.fate is ChangeKind.NEW} == {
        item(n).file for n in {*after} - {*before}
    }
