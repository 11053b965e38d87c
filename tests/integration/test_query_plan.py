"""Questions of several topics over a real vault: taken apart, looked up side by side, merged."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from notes_vault import NotesVault, paths
from vault_stores import retrieval_stores

from clawmem.adapters.memory.clock import START_MS
from clawmem.adapters.memory.models import HashingEmbedder, ScriptedGenerator
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.plan import Planner, QueryPlan
from clawmem.app.services.retrieval.plan import planned as planned_by
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, Trace, Work
from clawmem.domain.retrieval.planning import Clause, ClauseKind
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.records import FragmentKey
from clawmem.ports.vault import Vault

NOTES = {
    "tea.md": "# Oolong\n\nOolong is brewed at 85 degrees.\n",
    "bike.md": "# Bicycle\n\nThe bicycle has a flat tyre.\n",
    "boat.md": "# Boat\n\nThe boat lies in the harbour of Moss.\n",
    "roof.md": "# Roof\n\nSlates were replaced by the roofer.\n",
}
TWO_TOPICS = "how hot is oolong brewed and where does the boat lie in winter?"
SHORT_S = 0.5


@pytest.fixture
def vault(notes_vault: NotesVault) -> Vault:
    return notes_vault.take_in(NOTES).vault


def ask(
    vault: Vault,
    question: str,
    planned: Planner | None = None,
    *,
    limit: int = 10,
    unit: Unit = Unit.DOCUMENT,
    collections: tuple[str, ...] = (),
) -> Answer:
    request = read_request(question, now_ms=START_MS, limit=limit, unit=unit, collections=collections)
    planned = planned or partial(planned_by, sessions=vault.sessions, generator=None)
    return QueryPlan(retrieval_stores(vault), HashingEmbedder(), planned)(request)


def clauses(answer: Answer) -> list[tuple[str, str, int]]:
    return [(clause.type.value, clause.query, clause.priority) for clause in answer.plan]


def planned(*given: tuple[ClauseKind, str, int]) -> Planner:
    return lambda query: (tuple(Clause(*one) for one in given), "")


def said(*given: tuple[str, str, int]) -> str:
    return json.dumps(
        {"clauses": [dict(zip(("type", "query", "priority"), one, strict=True)) for one in given]}
    )


def test_both_topics_are_answered(vault: Vault) -> None:
    """Each half of the question finds its own note, and those two come first."""
    answer = ask(vault, TWO_TOPICS)

    assert set(paths(answer)[:2]) == {"tea.md", "boat.md"}
    assert clauses(answer) == [
        ("bm25", "how hot is oolong brewed", 1),
        ("bm25", "where does the boat lie in winter?", 1),
        ("vector", "how hot is oolong brewed", 3),
        ("vector", "where does the boat lie in winter?", 3),
    ]
    assert [clause.result_count for clause in answer.plan] == [1, 1, 4, 4]
    assert answer.trace.degraded == {}


def test_a_graph_clause_follows_relations(vault: Vault, notes_vault: NotesVault) -> None:
    """What caused the best match is found although it shares no word with the question."""
    notes_vault.take_in({f"{n}.md": f"# Harbour {n}\n\nHarbour light {n}.\n" for n in range(8)})
    roof, boat = (vault.documents.at("notes", path) for path in ("roof.md", "boat.md"))
    assert roof and boat
    question = "why does the boat lie in the harbour"
    graph = planned((ClauseKind.GRAPH, question, 1))

    without = ask(vault, question, graph)
    vault.relations.put([Relation(roof.id, boat.id, RelationKind.CAUSAL)])
    related = ask(vault, question, graph)

    assert "roof.md" not in paths(without)[:5]
    assert paths(related)[:2] == ["boat.md", "roof.md"]


# -- clauses that fail --------------------------------------------------------------------------------


class Fixed(Pipeline):
    """A pipeline that does what it is told instead of looking anything up."""

    def __init__(self, vault: Vault, act: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__(retrieval_stores(vault), {})
        self._act = act

    def rank(self, request: RetrievalRequest) -> tuple[Work, Trace]:
        found = self._act(request.question.text)
        keys = [FragmentKey(number, 0) for number in found]
        candidates = tuple(Candidate(key.document_id, key, 0.5, 0.5) for key in keys)
        return Work(LoadedTexts(self.stores.documents), candidates=candidates), Trace()


def fixed_plan(
    vault: Vault, act: Callable[[str], tuple[int, ...]], *given: tuple[ClauseKind, str, int]
) -> QueryPlan:
    plan = QueryPlan(retrieval_stores(vault), HashingEmbedder(), planned(*given), SHORT_S)
    plan.by_kind = dict.fromkeys(ClauseKind, Fixed(vault, act))
    return plan


TWO = ((ClauseKind.LEXICAL, "good", 1), (ClauseKind.VECTOR, "bad", 2))


def test_a_clause_that_hangs_is_named_and_the_others_answer(vault: Vault) -> None:
    """The deadline is kept, the late clause found nothing, and the next question is answered as well."""
    release = threading.Event()

    def act(query: str) -> tuple[int, ...]:
        if query == "bad":
            release.wait(30)
        return (1,)

    plan = fixed_plan(vault, act, *TWO)
    request = read_request("anything", now_ms=START_MS)
    try:
        for _ in range(2):
            answer = plan(request)

            assert answer.trace.degraded == {"clause 2 (vector)": "no answer within 0.5 s"}
            assert [result.document.id for result in answer.results] == [1]
            assert [clause.result_count for clause in answer.plan] == [1, 0]
    finally:
        release.set()


def test_the_more_important_clause_decides(vault: Vault) -> None:
    """Of two clauses that agree on nothing the one of the higher priority has its answer first."""

    def act(query: str) -> tuple[int, ...]:
        return {"first": (3, 1), "second": (4, 2)}[query]

    one, other = (ClauseKind.LEXICAL, "first", 1), (ClauseKind.LEXICAL, "second", 4)
    plan = fixed_plan(vault, act, one, other)
    swapped = fixed_plan(vault, act, (*one[:2], 4), (*other[:2], 1))
    request = read_request("anything", now_ms=START_MS)

    assert plan(request).results[0].document.id == 3
    assert swapped(request).results[0].document.id == 4


# -- plans by a model ---------------------------------------------------------------------------------


def test_a_model_takes_the_question_apart(vault: Vault) -> None:
    """Its clauses are what is looked up, most important first."""
    model = ScriptedGenerator(lambda prompt: said(("vector", "boat", 2), ("bm25", "oolong degrees", 1)))

    answer = ask(vault, TWO_TOPICS, partial(planned_by, sessions=vault.sessions, generator=model))

    assert clauses(answer) == [("bm25", "oolong degrees", 1), ("vector", "boat", 2)]
    assert answer.trace.degraded == {}
    assert paths(answer)[:2] == ["tea.md", "boat.md"]


def test_a_successor_stands_above_what_it_superseded(invoke: Callable[..., Any], tmp_path: Path) -> None:
    """A clause that finds the superseded note first still shows its successor first."""
    (tmp_path / "rate-2025.md").write_text(
        "# Day rate\n\nThe day rate is 900 euros: the day rate of consulting.\n"
    )
    (tmp_path / "rate-2026.md").write_text(
        "---\nsupersedes: rate-2025.md\n---\n# Fees\n\nA day costs 950 now.\n"
    )
    (tmp_path / "boat.md").write_text("# Boat\n\nAnton repairs the boat.\n")
    assert invoke("bootstrap", tmp_path, "--name", "n", "--yes").exit_code == 0

    found = invoke("query", "--mode", "plan", "what is the day rate and also who repairs the boat", "--json")

    files = [one["file"] for one in json.loads(found.stdout)["results"]]
    assert files.index("n/rate-2026.md") < files.index("n/rate-2025.md")
