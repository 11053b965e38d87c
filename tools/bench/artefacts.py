"""
What was measured, question by question, as small files that stay in the repository.

A table (`Table`) is tab-separated text: one question a row with its id, its category and the grades of all of its
answers, then a column for each system with the places of the answers that it put among the first `DEPTH`.
``2,5:3`` is an answer at place 2 and one of grade 3 at place 5. Every measure of the report follows from these
numbers, and no text of a collection is among them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.bench.retrieval import Measures, measure

DEPTH = 10
FOLDER = Path(__file__).parents[2] / "docs" / "bench"
_ABOUT = ("qid", "category", "grades")
_NOTHING = "-"


class Question(NamedTuple):
    """A judged question: ``grades`` are those of all its answers, best first."""

    qid: str
    category: str
    grades: tuple[int, ...]


class RankedAnswer(NamedTuple):
    """An answer among the first: its place, from 1, and its grade."""

    rank: int
    grade: int


Places = tuple[RankedAnswer, ...]


@dataclass(slots=True)
class Table:
    """The questions of one setting, and what each system made of each, by system and question id."""

    questions: list[Question] = field(default_factory=list)
    systems: dict[str, dict[str, Places]] = field(default_factory=dict)

    def measures(self, system: str, category: str = "") -> list[Measures]:
        """Of each question, those of the *category* or all, in the order of the table."""
        found = self.systems[system]
        wanted = [question for question in self.questions if category in ("", question.category)]
        return [measures_of(question, found[question.qid]) for question in wanted]


def places_of(items: Sequence[str], grades: Mapping[str, int]) -> Places:
    """Where the answers stand among the first items."""
    return tuple(RankedAnswer(n, grades[item]) for n, item in enumerate(items[:DEPTH], 1) if item in grades)


def measures_of(question: Question, places: Places) -> Measures:
    """The measures of a ranking of which only the answers are known; the others are given names."""
    return {**_measures(question.grades, places)}


@cache
def _measures(grades: tuple[int, ...], places: Places) -> Measures:
    gold = {f"gold {n}": grade for n, grade in enumerate(grades)}
    left = dict(gold)
    at: dict[int, str] = {}
    for rank, grade in places:
        at[rank] = next(name for name, one in left.items() if one == grade)
        del left[at[rank]]
    return measure([at.get(rank, f"other {rank}") for rank in range(1, DEPTH + 1)], gold)


def write_table(path: Path, table: Table) -> None:
    """Write it whole: a run that is cut short leaves the table of before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ["\t".join((*_ABOUT, *table.systems))]
    for one in table.questions:
        cells = (_written(places[one.qid]) for places in table.systems.values())
        rows.append("\t".join((one.qid, one.category, ",".join(map(str, one.grades)), *cells)))
    _replace(path, "\n".join(rows) + "\n")


def read_table(path: Path) -> Table:
    """The table of a file; an empty one where there is none."""
    if not path.exists():
        return Table()
    head, *rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    table = Table(systems={system: {} for system in head[len(_ABOUT) :]})
    for qid, category, grades, *cells in rows:
        table.questions.append(Question(qid, category, tuple(map(int, grades.split(",")))))
        for system, cell in zip(table.systems, cells, strict=True):
            table.systems[system][qid] = _read(cell)
    return table


def read_facts(path: Path) -> dict[str, Any]:
    """What is known about a run besides its tables; nothing where there was none."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Write them in an order that does not depend on the run."""
    _replace(path, json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _written(places: Places) -> str:
    cells = (str(p.rank) if p.grade == 1 else f"{p.rank}:{p.grade}" for p in places)
    return ",".join(cells) or _NOTHING


def _read(cell: str) -> Places:
    if cell == _NOTHING:
        return ()
    pairs = (part.partition(":") for part in cell.split(","))
    return tuple(RankedAnswer(int(rank), int(grade or 1)) for rank, _, grade in pairs)


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_text(text, "utf-8")
    beside.replace(path)
