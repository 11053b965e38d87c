"""Turns of conversations are found as well after an import as in notes; a sample of ``tools/bench/mined_recall.py``."""

from __future__ import annotations

import json
from pathlib import Path

import mined_recall
import pytest
from command_line import write_notes

SAMPLE = Path(__file__).parents[1] / "data/talk_of_two.txt"
SCOPE = "two"


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Return the sample as a judged collection: each question has one turn as its answer."""
    notes, turns, questions, grades = {}, [], [], []
    for session, text in enumerate(SAMPLE.read_text("utf-8").strip().split("\n\n")):
        (head, *rows), said = text.split("\n"), []
        day, title = head.removeprefix("# ").split(" ", 1)
        for number, row in enumerate(rows):
            turn, (line, _, question) = f"T{session}-{number}", row.partition(" | ")
            speaker, words = line.split(": ", 1)
            said.append(f"**{speaker}:** {words}")
            turns.append("\t".join([turn, f"{SCOPE}/{session}", str(number + 5), speaker, words]))
            if question:
                questions.append(json.dumps({"qid": f"Q{turn}", "text": question, "scope": SCOPE}))
                grades.append(f"Q{turn}\t{turn}\t1")
        front = f"---\ntitle: {title}\ndate: {day}\n---\n"
        notes[f"corpus/{SCOPE}/{session}.md"] = front + "\n".join(said) + "\n"
    files = {"queries.jsonl": questions, "turns.tsv": turns, "qrels_turn.tsv": grades}
    write_notes(tmp_path, {**notes, **{name: "\n".join(lines) for name, lines in files.items()}})
    return tmp_path


def test_turns_are_found_in_each_format_as_in_notes(judged: Path) -> None:
    """Of five formats, recall@10 is at most .02 below that of the same conversation as notes."""
    direct, *mined = mined_recall.recalls(judged, (mined_recall.DIRECT[0], *mined_recall.SOURCES))

    least = direct[2]["recall@10"] - 0.02
    assert least > 0.7
    assert {source: found["recall@10"] for source, _, found in mined if found["recall@10"] < least} == {}
