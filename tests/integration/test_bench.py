"""Measuring a small judged collection from end to end, and what the command line makes of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ablation
import notes
import pytest
import quality
from artefacts import FOLDER, RankedAnswer, read_table
from command_line import Invoke, ask_json, write_notes
from vault_stores import retrieval_stores
from wired import embed_pending, update_collection
from write_benchmarks import PAGE, written

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.bench.collection import load_collection
from clawmem.app.bench.retrieval import BenchReport, measure_retrieval
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import Ranking
from clawmem.domain.retrieval import grains
from clawmem.ports.vault import Vault

# Both folders know a Rex: what he does depends on whose he is.
CORPUS = {
    "ann/monday.md": "# Monday\n\n**Ann:** Rex chewed a slipper.\n\n**Bob:** Which one?\n\n**Ann:** The red one.\n",
    "ann/friday.md": "# Friday\n\n**Ann:** We bought bread.\n\n**Bob:** And olives.\n",
    "cleo/monday.md": "# Monday\n\n**Cleo:** Rex chewed a slipper and slept.\n\n**Dan:** Good dog.\n",
    "cleo/friday.md": "# Friday\n\n**Cleo:** The ferry was late.\n\n**Dan:** As ever.\n",
}
QUESTIONS = [
    {"qid": "q1", "text": "what did Rex do with the slipper", "category": "pets", "scope": "ann"},
    {"qid": "q2", "text": "what did Rex do with the slipper", "category": "pets", "scope": "cleo"},
    {"qid": "q3", "text": "was the ferry late", "category": "travel", "scope": "cleo"},
    {"qid": "q4", "text": "did anybody judge this", "category": "travel", "scope": "cleo"},
]
QRELS = {"q1": "ann/monday", "q2": "cleo/monday", "q3": "cleo/friday"}
QRELS_TURN = {"q1": "a1", "q2": "c1", "q3": "c3"}
TURNS = [
    ("a1", "ann/monday", 3),
    ("a2", "ann/monday", 5),
    ("a3", "ann/monday", 7),
    ("a4", "ann/friday", 3),
    ("a5", "ann/friday", 5),
    ("c1", "cleo/monday", 3),
    ("c2", "cleo/monday", 5),
    ("c3", "cleo/friday", 3),
    ("c4", "cleo/friday", 5),
]


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A judged collection of two people's chats."""
    folder = tmp_path / "judged"
    write_notes(folder / "corpus", CORPUS)
    parts = {
        "queries.jsonl": [json.dumps(question) for question in QUESTIONS],
        "qrels.tsv": [f"{qid}\t{item}\t1" for qid, item in QRELS.items()],
        "qrels_turn.tsv": [f"{qid}\t{item}\t1" for qid, item in QRELS_TURN.items()],
        "turns.tsv": [f"{turn}\t{document}\t{line}" for turn, document, line in TURNS],
    }
    for name, lines in parts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def measured(vault: Vault, judged: Path, *, turns: bool = False, pooled: bool = False) -> BenchReport:
    embedder = HashingEmbedder()
    return measure_retrieval(
        update_collection(vault, DiskFiles(), ManualClock(), parse_front_matter),
        embed_pending(vault, embedder),
        query(retrieval_stores(vault), embedder),
        START_MS,
        load_collection(judged, turns=turns),
        turns=turns,
        pooled=pooled,
    )


class TestUseCase:
    @pytest.mark.parametrize("pooled", [True, False])
    def test_turns(self, vault: Vault, judged: Path, pooled: bool) -> None:
        """By turn the items are spans of lines, and are judged by the turns that they hold."""
        report = measured(vault, judged, turns=True, pooled=pooled)

        mean: Any = report.groups["travel"]["mean"]
        assert report.run["q3"][0][0] == "cleo/friday:3-3"
        assert mean["recall@1"] == 1.0
        assert all(":" in item for ranking in report.run.values() for item, _ in ranking)
        if not pooled:
            assert {qid: ranking[0][0] for qid, ranking in report.run.items()} == {
                "q1": "ann/monday:3-3",
                "q2": "cleo/monday:3-3",
                "q3": "cleo/friday:3-3",
            }

    def test_by_words_and_by_the_published_policy(self, vault: Vault, judged: Path) -> None:
        """Without an embedder nothing is embedded, and the policy is the one that was asked for."""
        update = update_collection(vault, DiskFiles(), ManualClock(), parse_front_matter)
        pipeline = query(retrieval_stores(vault), HashingEmbedder())
        system = update, None, pipeline, START_MS, load_collection(judged, turns=False)

        published = measure_retrieval(*system, turns=False, pooled=False, ranking=Ranking.PUBLISHED)
        calibrated = measure_retrieval(*system, turns=False, pooled=False)

        assert vault.vectors.count() == 0
        assert published.embed_s == 0.0
        assert calibrated.documents == 0  # the second time they are there already
        assert published.run["q3"][0][0] == calibrated.run["q3"][0][0] == "cleo/friday"
        assert published.run["q3"][0][1] < calibrated.run["q3"][0][1]


class TestCommand:
    @pytest.mark.parametrize("pooled", [True, False])
    def test_documents(self, invoke: Invoke, judged: Path, pooled: bool) -> None:
        """--json gives figures, groups and the run."""
        figures = ask_json(invoke, "bench", "retrieval", judged, *(["--pooled"] if pooled else []))

        assert (figures["mode"], figures["unit"], figures["pooled"]) == ("hybrid", "doc", pooled)
        assert (figures["documents"], figures["questions"]) == (4, 3)
        assert set(figures["groups"]) == {"all", "pets", "travel"}
        assert figures["groups"]["travel"]["mean"]["recall@1"] == 1.0
        assert figures["groups"]["pets"]["mean"]["recall@1"] == (0.5 if pooled else 1.0)
        assert set(figures["run"]) == set(QRELS)

    def test_a_missing_package_is_named(
        self, invoke: Invoke, judged: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without the extra the message says how to install it."""
        for name in [name for name in sys.modules if name.startswith(("ir_measures.", "clawmem.app.bench."))]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "ir_measures", None)

        done = invoke("bench", "retrieval", judged)

        assert done.exit_code == 4
        assert "pip install './clawmem[bench]" in done.stderr


class TestArtefacts:
    def test_the_page_is_made_from_what_is_kept(self) -> None:
        """The tables of the page can be made again without any collection, byte for byte."""
        page = PAGE.read_text("utf-8")

        assert written(page, FOLDER) == page


class TestQuality:
    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Figures of a test are none to keep."""
        monkeypatch.setattr(quality, "TABLES", tmp_path / "tables")
        monkeypatch.setattr(quality, "FACTS", tmp_path / "facts.json")

    def test_every_setting_and_system(self, judged: Path, tmp_path: Path) -> None:
        """Documents and turns, scoped and pooled, each system a column; those that need no vectors included."""
        quality.run("pets", judged, tmp_path, "*[!m]", keep=False)
        tables = {path.stem: read_table(path) for path in (tmp_path / "tables").iterdir()}

        assert set(tables) == {
            f"pets.{unit}.{way}" for unit in ("doc", "turn") for way in ("scoped", "pooled")
        }
        for table in tables.values():
            assert list(table.systems) == ["plain BM25", "search", "vectors static", "query static"]
            assert [question.qid for question in table.questions] == list(QRELS)
        for system in ("plain BM25", "search", "query static"):
            assert tables["pets.doc.scoped"].systems[system] == {qid: (RankedAnswer(1, 1),) for qid in QRELS}


class TestNotes:
    def test_what_a_person_sees(self, tmp_path: Path) -> None:
        """A right first note with its answer, a trap above the other, and prompts that no note answers."""
        folder = tmp_path / "garden/dev"
        write_notes(
            folder / "corpus",
            {
                "roses.md": "# Roses\n\nWe prune the **old roses** in March.\n",
                "hens.md": "# Hens\n\nThe hens get oats at noon.\n",
                "hens-draft.md": "# Feeding\n\nWhat do the hens get: barley at dusk?\n",
            },
        )
        questions = {"q1": "when do we prune the old roses", "q2": "barley at dusk: what do the hens get"}
        files = {
            "queries.jsonl": "".join(f"{json.dumps({'qid': q, 'text': t})}\n" for q, t in questions.items()),
            "qrels.tsv": "q1\troses\t2\nq2\thens\t2\n",
            "answers.tsv": "q1\told roses in March\nq2\toats at noon\n",
            "must_not.tsv": "q2\thens-draft\n",
            "unanswerable.txt": "who won the chess game of Zlatan\n",
            "offtopic.txt": "what is the boiling point of ethanol\n\n",
            "meta.json": '{"roses.md": {"mtime": "2024-03-01T00:00:00Z", "pinned": true}}',
        }
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
        (work := tmp_path / "work").mkdir()

        figures = notes.measure("garden", folder, "static", work)

        assert {
            name: (value[0], value[-1]) for name, value in figures.items() if isinstance(value, list)
        } == {
            "right note first": (0.5, 2),
            "excerpt holds the answer": (1.0, 1),
            "not trapped": (0.0, 1),
            "answer in the block": (0.5, 2),
            "words of the right note in the block": (0.5, 2),
            "unanswerable, not confident": (1.0, 1),
            "unanswerable, no block": (1.0, 1),
            "offtopic, no block": (1.0, 1),
        }


class TestAblation:
    def test_every_signal_is_one_that_counts(self, vault: Vault) -> None:
        """What is left out exists: a weight, leg or stage by another name would leave out nothing."""
        weights = {**grains.DOCUMENT_WEIGHTS, **grains.LINE_WEIGHTS}
        stages = {"compare", *query(retrieval_stores(vault), HashingEmbedder()).stages}

        for name, without in ablation.SIGNALS.items():
            assert without.weights <= weights.keys(), name
            assert without.legs <= weights.keys(), name
            assert without.stages <= stages, name
