"""``clawmem hook EVENT``: one process runs all hooks of an event, in order, and gives one answer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from hook_process import ONCE, TURNS, Client, ask

from clawmem.app.client.hook_registry import EVENTS, HOOKS
from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext, run_hooks
from clawmem.app.interfaces.hooks.protocol import MOST_CHARACTERS, HookEvent

CHECKS = "session-bootstrap,staleness-check"
DUE = "---\nreview_by: 2024-01-01\n---\n# Plan\n\nText of it.\n"
LESSON = "---\ncontent_type: decision\n---\n# Never format the migrations\n\nschema_v2.sql must keep its line ends.\n"


@pytest.fixture
def vault(notes: Path, invoke: Invoke, home: Path) -> Path:
    """A vault with a note that is due, a lesson about a file, and a report of the curator."""
    (notes / "plan.md").write_text(DUE, "utf-8")
    (notes / "lesson.md").write_text(LESSON, "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0
    file = home / ".cache/clawmem/index.sqlite"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    file.with_name("curator-report.json").write_text(
        json.dumps({"timestamp": now, "actions": ["pin 2 notes"]}), "utf-8"
    )
    return file


def start(source: str) -> dict[str, Any]:
    return {"hook_event_name": "SessionStart", "session_id": "5f0c", "source": source}


def test_the_end_of_a_turn(vault: Path, environ: dict[str, str], home: Path) -> None:
    """One process does what three did: decision and handoff are stored, and no job is left."""
    client = Client(home, environ)
    before = client.memories()

    done = client.ask("Stop", last_assistant_message=TURNS[-1][1])

    assert (done.answer, done.log) == ({"continue": True, "suppressOutput": False}, "")
    assert client.memories() - before == ONCE
    assert not client.waiting()


def test_contexts_are_joined(vault: Path, environ: dict[str, str], home: Path) -> None:
    """Every enabled hook that matches the source contributes, in order; optional hooks only when they are named."""
    default = ask(environ, home, "SessionStart", start("startup"))
    every = ask(environ, home, "SessionStart", start("startup"), "--with", CHECKS)
    resumed = ask(environ, home, "SessionStart", start("resume"), "--with", CHECKS)
    (home / ".config/clawmem/.env").write_text(f"CLAWMEM_HOOKS={CHECKS}\n")
    by_variable = ask(environ, home, "SessionStart", start("startup"))

    tags = ["<vault-curator>", "<vault-staleness>", "<vault-session>"]
    assert [tag in default.context for tag in tags] == [True, False, False]
    assert sorted(tags, key=every.context.index) == tags
    assert [tag in resumed.context for tag in tags] == [False, False, True]
    assert [tag in by_variable.context for tag in tags] == [True, True, True]
    assert len(json.dumps(every.answer, ensure_ascii=False)) < MOST_CHARACTERS


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_without_a_vault(event: str, environ: dict[str, str], home: Path) -> None:
    """Exit code 0, one object of the event's own shape, and once a day a line in a log, which says what to do."""
    told = {"hook_event_name": event, "source": "startup", "prompt": "why did we move?", "tool_name": "Edit"}
    absent = home / "unmounted" / "notes.sqlite"

    usual, again, other = (
        ask({**environ, **variables}, home, event, told, "--with", f"{CHECKS},pretool-inject")
        for variables in ({}, {}, {"INDEX_PATH": str(absent)})
    )

    assert {(done.code, done.context) for done in (usual, again, other)} == {(0, "")}
    log = state_folder(home / ".cache/clawmem/index.sqlite") / "errors.log"
    first, second = log.read_text("utf-8").splitlines()
    assert "index.sqlite" in first and str(absent) in second
    assert all("Run: clawmem bootstrap" in line for line in (first, second))
    assert (usual.log.count("\n"), again.log, other.log.count("\n")) == (1, "", 1)
    assert [file for file in home.rglob("*") if file.is_file()] == [log]
    assert not absent.parent.exists()

    log.write_text(first.replace(first[:10], "2026-01-01") + "\n", "utf-8")
    assert "bootstrap" in ask(environ, home, event, told, "--with", "pretool-inject").log


@pytest.mark.parametrize("fault", [SystemExit(2), ValueError("broken"), None])
def test_a_hook_that_fails_costs_the_others_nothing(
    fault: BaseException | None,
    vault: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """An error is logged, a hook that hangs is left at its own deadline, and the others are answered."""

    def fail(event: HookEvent, context: HookContext) -> str:
        if fault:
            raise fault
        time.sleep(10)
        return "late"

    contexts: dict[str, str] = {}
    monkeypatch.setenv("CLAWMEM_HOOKS", "staleness-check")
    monkeypatch.setitem(HANDLERS, "curator-nudge", fail)
    monkeypatch.setitem(HOOKS, "curator-nudge", HOOKS["curator-nudge"]._replace(patience_s=2))

    run_hooks("SessionStart", json.dumps(start("startup")), contexts.__setitem__)

    assert "Plan (notes/plan.md" in contexts["staleness-check"]
    assert not contexts.get("curator-nudge")
    assert ("curator-nudge" in capfd.readouterr().err) == (fault is not None)
