"""How good the gates of upkeep are, on pairs and drafts that were written for it; policies themselves have vectors."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.maintenance import deduction
from clawmem.domain.maintenance.deduction import Candidate
from clawmem.domain.maintenance.merge_gate import (
    SAME_MATTER,
    ObservationText,
    StatementIndex,
    decide_merge,
    long_words,
    replacement_objection,
    similarity,
)
from clawmem.domain.maintenance.patterns import read_patterns
from clawmem.domain.text.likeness import jaccard

DATA = Path(__file__).parents[2] / "data"


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def merged_by_model(pair: dict[str, Any]) -> bool:
    sources = [ObservationText(pair["one"]), ObservationText(pair["other"])]
    return any(not replacement_objection(one.observation, sources) for one in read_patterns(pair, 2))


def test_what_is_not_the_same_is_never_merged() -> None:
    """Other names, numbers, denials and matters stay apart, by words and whatever a careless model says."""
    others = [pair for pair in read("merge_pairs.jsonl") if pair["kind"] != "same"]

    assert len(others) == 80
    assert [
        pair
        for pair in others
        if decide_merge(ObservationText(pair["one"]), ObservationText(pair["other"])).accepted
    ] == []
    assert [pair for pair in others if merged_by_model(pair)] == []


def test_what_is_the_same_is_mostly_merged() -> None:
    """At least 0.70 of what a model rightly takes for the same; by words alone only what is nearly verbatim."""
    same = [pair for pair in read("merge_pairs.jsonl") if pair["kind"] == "same"]
    by_words = sum(
        decide_merge(ObservationText(pair["one"]), ObservationText(pair["other"])).accepted for pair in same
    )
    by_model = sum(map(merged_by_model, same))

    assert by_model >= 0.70 * len(same), f"{by_model} of {len(same)} merged"
    assert by_words >= 3


def test_no_contaminated_conclusion_is_kept() -> None:
    """Though the model that judges them is lenient; what is supported is kept, also when that model is silent."""
    counted: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for row in read("deduction_drafts.jsonl"):
        pool = [Candidate(number, text) for number, text in enumerate(row["pool"], start=1)]
        for draft in deduction.read_drafts({"deductions": [row["draft"]]}):
            outcomes = deduction.judge_draft(draft, pool, row["answer"])
            counted.update(outcomes)
            kept[row["kind"]] += deduction.ACCEPTED in outcomes

    assert kept == {"supported": 20, "contaminated": 0, "invented": 0, "contradictory": 0}
    assert counted == {
        "accepted": 20,
        "contaminationRejects": 16,
        "invalidIndexRejects": 3,
        "unsupportedRejects": 20,
        "emptyRejects": 1,
        "validatorFallbackAccepts": 2,
    }


@given(st.text(), st.text())
def test_the_gate_takes_no_side(one: str, other: str) -> None:
    """Merging has no order, a text is as similar to itself as can be, and nothing is more than that."""
    assert decide_merge(ObservationText(one), ObservationText(other)) == decide_merge(
        ObservationText(other), ObservationText(one)
    )
    assert 0.0 <= similarity(one, other) <= 1.0 + 1e-9


SENTENCES = st.lists(st.sampled_from("alpha bravo carol delta echoes foxtrot".split()), max_size=6).map(
    " ".join
)


@given(st.lists(SENTENCES, max_size=12), SENTENCES)
def test_nothing_near_is_overlooked(statements: list[str], text: str) -> None:
    """What is found by a few words is what comparing with each of them finds."""
    near = StatementIndex(enumerate(statements)).near(text)

    words = frozenset(long_words(text))
    alike = (jaccard(words, frozenset(long_words(one))) for one in statements)
    assert near == [number for number, share in enumerate(alike) if share > SAME_MATTER]


def test_evidence_shares_two_words() -> None:
    """A sentence with one word of the conclusion is none, whatever its document says besides."""
    cited = [Candidate(1, "The checkout is slow. Nobody likes the slow checkout on Fridays. It rains.")]

    found = deduction.evidence("Fridays make the checkout fail", cited)

    assert found == ["Nobody likes the slow checkout on Fridays."]


def test_what_was_concluded_before_is_known_unless_it_is_denied() -> None:
    """More than half of the long words are shared; a contradiction is news."""
    titles = ["Slow evenings cost card payments"]

    assert deduction.is_known("Slow evenings cost many card payments", titles)
    assert not deduction.is_known("Slow evenings never cost card payments", titles)
    assert not deduction.is_known("Oslo needs another printer", titles)
