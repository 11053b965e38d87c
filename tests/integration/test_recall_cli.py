"""The verbs retrieve, plan, similar, timeline and sessions, in both forms of their answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from command_line import Invoke, read_json

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.operations.history import NO_SESSIONS
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


def test_retrieve_shows_the_clauses_of_a_complex_question(remembered: Invoke) -> None:
    """As a table, and in JSON with their number."""
    question = "where do the login sessions live and also what does Haruka design"

    shown = remembered("retrieve", question)
    found = read_json(remembered("retrieve", question, "--json"))

    assert "[routed: complex]\npriority" in shown.output
    assert found["clauses"] == len(found["plan"]) == 4
    assert found["plan"][0] == {
        "type": "bm25",
        "query": "where do the login sessions live",
        "priority": 1,
        "result_count": found["plan"][0]["result_count"],
    }


def test_retrieve_shows_sessions_where_they_are_asked_for(worked: Invoke) -> None:
    """Newest first, before the documents."""
    found = read_json(worked("retrieve", "what did we do in the last session", "--json"))

    assert [session["id"] for session in found["sessions"]] == [OPEN.id, ENDED.id]
    assert "fedcba98" in worked("retrieve", "what did we do in the last session").output


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


def test_sessions_for_people_are_short(worked: Invoke) -> None:
    """Eight digits, minutes or active, one line of summary, five files."""
    open_row, ended_row = worked("sessions").output.splitlines()[1:]

    assert open_row.split()[0] == "fedcba98"
    assert "active" in open_row
    assert ended_row.split()[0] == "01234567"
    assert "  90 " in ended_row
    assert "handoffs/march.md" in ended_row
    assert "Moved the sessions.…  src/a.py" in ended_row
    assert ended_row.endswith("src/e.py and 2 more")


def test_a_summary_that_is_cut_ends_with_an_ellipsis(remembered: Invoke) -> None:
    """After a whole word; also of sessions that `retrieve` shows."""
    words = " ".join(f"word{number}" for number in range(30))
    vault = open_vault(remembered("path").output.strip())
    vault.sessions.save(replace(ENDED, summary=words, files_changed=()))
    vault.close()

    row = remembered("sessions").output.splitlines()[1]
    retrieved = remembered("retrieve", "what did we do in the last session").output

    assert row.rstrip().endswith("word14…")
    assert "word14…\n" in retrieved


def test_no_sessions_yet(remembered: Invoke) -> None:
    """Nothing is wrong, and it is said."""
    assert remembered("sessions").output == f"{NO_SESSIONS}\n"
    assert read_json(remembered("sessions", "--json")) == {"count": 0, "sessions": []}
