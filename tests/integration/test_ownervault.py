"""What owners ask of their notes: how well the ranking answers, and which traps it avoids."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import pytest
from owner_questions import Question, answered_questions, broken_traps, now_ms, parsed, paths_of
from vault_stores import retrieval_stores
from wired import embed_pending, publisher

from clawmem.adapters.models.local import StaticEmbedder, StaticWords
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bench.retrieval import measure
from clawmem.app.services.retrieval.pipelines import Pipeline, query
from clawmem.app.services.retrieval.request import read_request

DEPTH = 100
POLICIES = RELEVANCE_ALONE, CALIBRATED = ("relevance alone", "calibrated")

# A little under, or over, what is measured: a change that loses more than noise is seen.
CALIBRATED_FLOOR = 0.754
LEAST_GAIN = MappingProxyType({"all": 0.05, "recency": 0.2, "current": 0.1, "history": 0.08})
MOST_BROKEN = 0.13  # of all traps
MOST_FOOLED = 0.15  # of the questions that set any
NOISE = 1.0  # questions of a kind that may lose their only answer


@dataclass(slots=True)
class Figures:
    """
    nDCG@10 of each question of a group, and its traps: documents that must not come above the best answer.

    ``broken`` names those that did, ``questions`` counts the questions that set a trap.
    """

    ndcg: list[float] = field(default_factory=list)
    questions: int = 0
    traps: int = 0
    broken: list[tuple[str, str]] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return math.fsum(self.ndcg) / len(self.ndcg)

    @property
    def fooled(self) -> int:
        """How many questions broke one trap or more."""
        return len({question for question, _ in self.broken})

    def add(self, question: Question, ranking: Sequence[str]) -> None:
        self.ndcg.append(measure(ranking, question.relevant)["ndcg@10"])
        self.questions += bool(question.not_above)
        self.traps += len(question.not_above)
        self.broken += [(question.id, path) for path in broken_traps(ranking, question)]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """``query`` over the owner's notes, as `Pipelines` composes it without models; each read is done once."""
    vault = open_vault(str(tmp_path_factory.mktemp("own") / "vault.sqlite"))
    embedder = StaticEmbedder()
    with vault.transactions.writing():
        for source, _ in parsed():
            publisher(vault).publish(source.document, source.body, source.fragments, source.declared)
    embed_pending(vault, embedder)()
    with vault.transactions.reading():
        yield query(retrieval_stores(vault), embedder, StaticWords())
    vault.close()


def measured(pipeline: Pipeline, every: int) -> dict[str, dict[str, Figures]]:
    figures: dict[str, dict[str, Figures]] = {policy: defaultdict(Figures) for policy in POLICIES}
    for question in answered_questions()[::every]:
        request = read_request(
            question.text, now_ms=now_ms(), limit=DEPTH, until=question.as_of, show_all=True
        )
        candidates = pipeline.rank(request)[0].candidates
        by_itself = sorted((c for c in candidates if c.legs), key=lambda c: (-c.relevance, c.best))
        for policy, ranking in ((CALIBRATED, candidates), (RELEVANCE_ALONE, by_itself)):
            for group in (figures[policy][question.kind], figures[policy]["all"]):
                group.add(question, paths_of(ranking))
    return figures


def table(figures: dict[str, dict[str, Figures]]) -> str:
    """By kind and policy: nDCG@10, traps broken of those set, questions fooled of those that set any."""
    rows = ["".join(f"{head:>28}" for head in ("", *POLICIES))]
    for kind in (*figures[CALIBRATED],):
        cells = [figures[policy][kind] for policy in POLICIES]
        shown = [f"{c.mean:.3f}{len(c.broken):5}/{c.traps:3}{c.fooled:5}/{c.questions:3}" for c in cells]
        rows.append("".join(f"{cell:>28}" for cell in (f"{kind} ({len(cells[0].ndcg)})", *shown)))
    return "\n".join(rows)


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.slow)])
def test_ranking_of_an_owners_notes(asked: Pipeline, every: int) -> None:
    """The calibrated policy beats relevance alone where time decides, loses nowhere, and breaks few traps."""
    figures = measured(asked, every)
    sys.stdout.write(f"\n{table(figures)}\n")
    sys.stdout.writelines(f"{question}: {path}\n" for question, path in figures[CALIBRATED]["all"].broken)

    calibrated = figures[CALIBRATED]["all"]
    assert calibrated.mean >= CALIBRATED_FLOOR
    assert len(calibrated.broken) <= MOST_BROKEN * calibrated.traps
    assert calibrated.fooled <= MOST_FOOLED * calibrated.questions
    for kind, alone in figures[RELEVANCE_ALONE].items():
        gain = figures[CALIBRATED][kind].mean - alone.mean
        assert gain >= LEAST_GAIN.get(kind, -NOISE / len(alone.ndcg)), kind
