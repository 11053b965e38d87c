"""The verbs retrieve, plan, similar, timeline and sessions, in both forms of their answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from command_line import Invoke, read_json

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.sessions import Session

FILES = tuple(f"src/{name}.py" for name in "abcdefg")
ENDED = Session(
    "0123456789abcdef",
    "2026-03-01T08:00:00.000Z",
    "2026-03-01T09:30:00.000Z",
    "handoffs/march.md",
    "Moved the\nsessions. " + "x" * 200,
    FILES,
)
OPEN = Session("fedcba9876543210", "2026-03-02T08:00:00.000Z")


@pytest.fixture
def worked(remembered: Invoke) -> Iterator[Invoke]:
    """A vault with the notes and two sessions."""
    vault = open_vault(remembered("path").output.strip())
    for session in (ENDED, OPEN):
        vault.sessions.save(session)
    vault.close()
    yield remembered


def test_retrieve_says_which_way_it_went(remembered: Invoke) -> None:
    """Ahead of the answers, for people and for programs."""
    shown = remembered("retrieve", "why", "did", "we", "move", "the", "sessions", "to", "Postgres")
    found = read_json(remembered("retrieve", "--json", "why did we move the sessions to Postgres"))

    assert shown.output.startswith("[routed: causal]\nasks for: WHY (0.95)\n")
    assert "notes/decisions/2026-06-09-postgres.md" in shown.output
    assert (found["mode"], found["intent"], found["confidence"]) == ("causal", "WHY", 0.95)
    assert found["results"][0]["file"] == "notes/decisions/2026-06-09-postgres.md"
    assert "sessions" not in found


def test_plan_shows_the_plan_and_the_answers(remembered: Invoke) -> None:
    """A question of two topics finds a note for each."""
    question = "where do the login sessions live and also what does Haruka design"

    shown = remembered("plan", question, "-n", "2")
    found = read_json(remembered("plan", question, "--json"))

    assert shown.output.startswith("priority")
    assert "notes/people/haruka.md" in shown.output
    assert "redis.md" in shown.output
    assert found.keys() == {"plan", "query", "count", "answered", "hidden", "results", "degraded"}


def test_a_timeline(worked: Invoke) -> None:
    """The document is marked among its neighbours, and its session named."""
    shown = worked("timeline", "haruka.md")
    found = read_json(worked("timeline", "haruka.md", "--json", "--before", "20", "--after", "20"))

    [marked] = [line for line in shown.output.splitlines() if line.startswith(">")]
    assert "notes/people/haruka.md" in marked
    assert found["focus"]["file"] == "notes/people/haruka.md"
    assert len(found["before"]) + len(found["after"]) == 2
    assert found["total_in_range"] == 3
    assert (found["session_id"], found["session_summary"]) == (OPEN.id, "")
    assert "in session fedcba98" in shown.output
