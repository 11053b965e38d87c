"""Measures against values worked by hand, and judged collections that are not as they should be."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from clawmem.app.bench.collection import JudgedCollection, JudgedQuery, load_collection
from clawmem.app.bench.retrieval import measure, percentile, unrolled
from clawmem.ports.errors import InvalidInput


class TestMeasure:
    def test_worked_by_hand(self) -> None:
        """Two of three answers among the first five, at ranks 2 and 4, of grades 1 and 3; the third is of 2."""
        ranking = ["x", "one", "y", "three", "z"]

        found = measure(ranking, {"one": 1, "three": 3, "two": 2})

        gained = 1 / math.log2(3) + 3 / math.log2(5)
        ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
        assert found == pytest.approx(
            {
                "recall@1": 0.0,
                "hit@1": 0.0,
                "recall@5": 2 / 3,
                "hit@5": 1.0,
                "recall@10": 2 / 3,
                "hit@10": 1.0,
                "ndcg@10": gained / ideal,
                "mrr@10": 0.5,
            }
        )
        assert found["ndcg@10"] == pytest.approx(0.403825, abs=1e-6)


class TestSpreadOfValues:
    @pytest.mark.parametrize(
        ("values", "share", "expected"),
        [
            ([], 0.5, 0.0),
            ([7.0], 0.5, 7.0),
            ([7.0], 0.95, 7.0),
            ([2.0, 1.0], 0.5, 1.0),
            ([3.0, 1.0, 2.0], 0.5, 2.0),
            ([4.0, 3.0, 1.0, 2.0], 0.5, 2.0),
            ([4.0, 3.0, 1.0, 2.0], 0.51, 3.0),
            ([4.0, 3.0, 1.0, 2.0], 1.0, 4.0),
            ([float(n) for n in range(1, 21)], 0.95, 19.0),
            ([float(n) for n in range(1, 22)], 0.95, 20.0),
            ([float(n) for n in range(1, 101)], 0.95, 95.0),
        ],
    )
    def test_percentile(self, values: list[float], share: float, expected: float) -> None:
        """It is one of the values: the smallest that the share of all do not exceed; 0 of none."""
        assert percentile(values, share) == expected


QUESTION = {"qid": "q1", "text": "who barks", "category": "easy", "scope": "pets"}


def judged(folder: Path) -> Path:
    (folder / "corpus").mkdir(parents=True)
    (folder / "queries.jsonl").write_text(json.dumps(QUESTION), "utf-8")
    (folder / "qrels.tsv").write_text("q1\tpets/dogs\t1\nq1\tpets/cats\t0\n", "utf-8")
    (folder / "turns.tsv").write_text("t2\tpets/dogs\t9\nt1\tpets/dogs\t3\tmore\n", "utf-8")
    (folder / "qrels_turn.tsv").write_text("q1\tt1\t2\n", "utf-8")
    return folder


class TestCollection:
    def test_documents(self, tmp_path: Path) -> None:
        """Questions with judgements, grades above 0, and no turns unless they are asked for."""
        loaded = load_collection(judged(tmp_path), turns=False)

        assert loaded.corpus == tmp_path / "corpus"
        assert loaded.queries == (JudgedQuery("q1", "who barks", "easy", "pets"),)
        assert loaded.grades == {"q1": {"pets/dogs": 1}}
        assert loaded.turn_lines == {}

    def test_turns(self, tmp_path: Path) -> None:
        """Turns come in the order of their lines, whatever that of the file; further columns are left out."""
        loaded = load_collection(judged(tmp_path), turns=True)

        assert loaded.grades == {"q1": {"t1": 2}}
        assert loaded.turn_lines == {"pets/dogs": [(3, "t1"), (9, "t2")]}

    @pytest.mark.parametrize(
        ("turns", "part"),
        [
            (False, "queries.jsonl"),
            (False, "qrels.tsv"),
            (True, "queries.jsonl"),
            (True, "turns.tsv"),
            (True, "qrels_turn.tsv"),
        ],
    )
    def test_a_part_is_missing(self, tmp_path: Path, turns: bool, part: str) -> None:
        """The message names the part, and says what a collection needs."""
        (judged(tmp_path) / part).unlink()

        with pytest.raises(InvalidInput, match=f"no judged collection: {part} is missing. It needs corpus/"):
            load_collection(tmp_path, turns=turns)


class TestRun:
    def test_spans_become_turns(self) -> None:
        """Each span stands for the turns that begin in it, in line order, each turn once."""
        turns = {"a": [(3, "t1"), (5, "t2"), (7, "t3")], "b:c": [(1, "u1"), (2, "u2")]}
        collection = JudgedCollection(Path("corpus"), (), {}, turns)

        assert unrolled(["a:5-5", "b:c:1-2", "a:3-7"], collection) == ["t2", "u1", "u2", "t1", "t3"]
        assert unrolled(["a:4-4", "a:8-9", "a:1-2", "unknown:1-9"], collection) == []
        assert unrolled(["a:4-6", "a:6-7"], collection) == ["t2", "t3"]
        assert unrolled([], collection) == []
