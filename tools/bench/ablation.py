"""
What each signal is worth: everything as it is, then once more without it.

    python tools/bench/ablation.py FOLDER [--work FOLDER] [--only PATTERN] [--every N] [--keep]

The indexes are asked once for a question; the stages after them are run again for each signal, over the same hits.
``docs/bench/ablation`` gets a table for each collection and unit, a column for each signal. The owner's notes of
``tests/data`` are a collection as well. Production code knows nothing of this: weights and constants are replaced
while a question is asked, legs and stages left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))  # the owner's questions

import owner_questions as owner
from artefacts import (
    FOLDER,
    Places,
    Question,
    Table,
    places_of,
    read_facts,
    read_table,
    write_facts,
    write_table,
)
from benchmark_tables import ablation
from judged import (
    CODE,
    EMBEDDERS,
    Setting,
    collections_in,
    data_hash,
    each,
    settings_of,
    surroundings,
    vault_of,
)
from owners import owner_vault

from clawmem.app.bootstrap.services import Services
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, Stage, StageTrace, Trace, Work
from clawmem.domain.retrieval import calibrated, grains, late_interaction

TABLES = FOLDER / "ablation"
FACTS = FOLDER / "ablation.json"
OWNER = owner.OWNERVAULT
EVERYTHING = "everything"
RANK_CONSTANT = 60  # of reciprocal rank fusion, Cormack et al. 2009


@dataclass(frozen=True, slots=True)
class Without:
    """What is left out: legs, stages, weights by the name of their leg, and constants by module and name."""

    legs: frozenset[str] = frozenset()
    stages: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    constants: Mapping[tuple[ModuleType, str], Any] = field(default_factory=dict)

    def of(self, legs: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        """The hits that are left."""
        return {name: hits for name, hits in legs.items() if grains.retriever_of(name) not in self.legs}

    @contextmanager
    def in_effect(self) -> Iterator[None]:
        """While it lasts, weights and constants are as if the signal were not there."""
        with ExitStack() as stack:
            for name in ("DOCUMENT_WEIGHTS", "LINE_WEIGHTS"):
                weights = {leg: 0.0 if leg in self.weights else w for leg, w in getattr(grains, name).items()}
                stack.enter_context(patch.object(grains, name, weights))
            for (module, name), value in self.constants.items():
                stack.enter_context(patch.object(module, name, value))
            yield


def _leg(name: str) -> Without:
    return Without(legs=frozenset({name}), weights=frozenset({name}))


def _weight(name: str, **constants: float) -> Without:
    return Without(weights=frozenset({name}), constants={(grains, key): v for key, v in constants.items()})


def _stage(*names: str) -> Without:
    return Without(stages=frozenset(names))


def _term(*names: str) -> Without:
    return Without(constants={(calibrated, name): 0.0 for name in names})


def _by_rank(name: str, scores: Mapping[Any, float]) -> dict[Any, float]:
    """In the place of scaled scores: reciprocal ranks, 1 for the first."""
    ranked = sorted(scores, key=lambda item: (-scores[item], item))
    return {item: (RANK_CONSTANT + 1) / (RANK_CONSTANT + place) for place, item in enumerate(ranked, 1)}


_ALONE = (1.0,)
SIGNALS: dict[str, Without] = {
    EVERYTHING: Without(),
    "lines": _weight(grains.LINE),  # their hits stay: they are what is compared word by word
    "passages": _leg(grains.PASSAGE),
    "documents": _leg(grains.DOCUMENT),
    "vectors": _leg(grains.VECTOR),
    "neighbours": Without(
        constants={
            (grains, "LINE_NEIGHBOUR_SHARE"): 0.0,
            (grains, "DOCUMENT_NEIGHBOUR_SHARE"): 0.0,
            (late_interaction, "line_coverage"): partial(late_interaction.line_coverage, shares=_ALONE),
        }
    ),
    "speaker": _weight(grains.SPEAKER, SPEAKER_LIFT=0.0),
    "time": _leg(grains.TIME),
    "late interaction": _weight(grains.COVERAGE),
    "best line": _weight(grains.BEST_LINE),
    "closer look (the whole stage)": _stage("compare"),
    "vectors for other words": _stage("weigh vectors"),
    "sums (ranks instead)": Without(constants={(grains, "_scaled"): _by_rank}),
    "recency": _term("RECENCY"),
    "recency when asked for": _term("INTENDED_RECENCY"),
    "pin": _term("PIN"),
    "all metadata": _term("RECENCY", "INTENDED_RECENCY", "PIN"),
    "supersession": _stage("supersede"),
    "selection by date": _stage("dates"),
    "names": _weight(grains.PRECISE),
}


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question as it is asked, with what answers it; ``items`` names what was found."""

    qid: str
    category: str
    request: RetrievalRequest
    grades: Mapping[str, int]
    items: Callable[[Sequence[Candidate]], Sequence[str]]

    @property
    def question(self) -> Question:
        """As a table keeps it."""
        return Question(self.qid, self.category, tuple(sorted(self.grades.values(), reverse=True)))


def measure(name: str, services: Services, asked: Sequence[JudgedQuestion], wanted: Sequence[str]) -> None:
    """Ask every question without each of the *wanted* signals, and keep the table."""
    stages: dict[str, Stage] = dict(services.pipeline("query").stages)
    search = stages.pop("search")
    found: dict[str, dict[str, Places]] = {signal: {} for signal in wanted}
    say = each(len(asked), f"{name}, {len(wanted)} signals")
    for done, one in enumerate(asked, start=1):
        searched = search(one.request, Work(LoadedTexts(services.vault.documents)), _trace())
        for signal in wanted:
            items = one.items(_ranked(one.request, searched, stages, SIGNALS[signal]))
            found[signal][one.qid] = places_of(items, one.grades)
        say(done)
    _keep(name, [one.question for one in asked], found)


def _ranked(
    request: RetrievalRequest, searched: Work, stages: Mapping[str, Stage], without: Without
) -> Sequence[Candidate]:
    work = searched._replace(legs=without.of(searched.legs))
    trace = _trace()
    with without.in_effect():
        for name, stage in stages.items():
            if name not in without.stages:
                work = stage(request, work, trace)
    return work.candidates


def _trace() -> Trace:
    return Trace(stages=[StageTrace("ablation", 0, 0, 0.0)])


def _keep(name: str, questions: list[Question], found: Mapping[str, dict[str, Places]]) -> None:
    path = TABLES / f"{name}.tsv"
    table = read_table(path)
    if table.questions != questions or EVERYTHING in found:
        table = Table(questions)  # other questions or other code: nothing of before can be compared
    every = {**table.systems, **found}
    table.systems = {signal: every[signal] for signal in SIGNALS if signal in every}
    write_table(path, table)


def of_collection(setting: Setting, now_ms: int, every: int) -> list[JudgedQuestion]:
    """The questions of a judged collection, or each *every*-th of them."""
    collection = setting.loaded()
    return [
        JudgedQuestion(
            query.qid,
            query.category,
            setting.request(query, now_ms),
            collection.grades[query.qid],
            lambda found: setting.items(found, collection),
        )
        for query in collection.queries[::every]
    ]


def of_owner() -> list[JudgedQuestion]:
    """The questions to the owner's notes."""
    return [
        JudgedQuestion(
            one.id,
            one.kind,
            read_request(one.text, now_ms=owner.now_ms(), until=one.as_of, show_all=True),
            one.relevant,
            owner.paths_of,
        )
        for one in owner.answered_questions()
    ]


def _wanted(name: str, only: str, keep: bool) -> list[str]:
    about = read_facts(FACTS).get("tables", {}).get(name, {})
    there = read_table(TABLES / f"{name}.tsv").systems if keep or about.get("code") == CODE else {}
    return [signal for signal in SIGNALS if fnmatch(f"{name} {signal}", only) and signal not in there]


def _note(name: str, sha256: str, every: int) -> None:
    facts = read_facts(FACTS)
    facts.setdefault("tables", {})[name] = {"sha256": sha256, "every": every, "code": CODE}
    write_facts(FACTS, {**facts, "made with": surroundings()})


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where vaults are kept")
    parser.add_argument("--only", default="*", help="tables and signals such as 'locomo.turn *'")
    parser.add_argument("--every", type=int, default=1, help="ask only each N-th question")
    parser.add_argument("--keep", action="store_true", help="keep what other code has measured")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    if wanted := _wanted(OWNER, chosen.only, chosen.keep):
        with owner_vault(OWNER, EMBEDDERS[0], chosen.work) as services:
            measure(OWNER, services, of_owner(), wanted)
        _note(OWNER, data_hash(owner.DATA / OWNER), 1)
    for name, folder in collections_in(chosen.data).items():
        first = {setting.turns: setting for setting in reversed(list(settings_of(name, folder)))}
        for setting in first.values():
            table = setting.name.rpartition(".")[0]
            if wanted := _wanted(table, chosen.only, chosen.keep):
                with vault_of(name, folder, "static", chosen.work) as services:
                    asked = of_collection(setting, services.clock.now_ms(), chosen.every)
                    measure(table, services, asked, wanted)
                _note(table, data_hash(folder), chosen.every)
    print("\n".join(ablation(FOLDER)))  # noqa: T201


if __name__ == "__main__":
    main()
