"""``clawmem hook NAME`` as a client runs it, and ``clawmem hook EVENT``: all hooks of an event in one process."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from command_process import run_process
from hook_process import TURNS, ask, command, transcript

from clawmem.app.client.hook_registry import EVENTS, HOOKS, call_named
from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext, run_hooks
from clawmem.app.interfaces.hooks.protocol import MOST_CHARACTERS, HookEvent

CHECKS = "session-bootstrap,staleness-check"
DUE = "---\nreview_by: 2024-01-01\n---\n# Plan\n\nText of it.\n"
LESSON = "---\ncontent_type: decision\n---\n# Never format the migrations\n\nschema_v2.sql must keep its line ends.\n"


def event(name: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": "5f0c", "hook_event_name": name, "cwd": "/", "transcript_path": "", **fields}


@pytest.mark.parametrize("name", ["no-such-hook", "../../etc/passwd", "protocol", ""])
def test_a_hook_that_does_not_exist(name: str, environ: dict[str, str], home: Path) -> None:
    """Says so to the debug log and lets the client go on; nothing but a hook is ever imported."""
    done = ask(environ, home, name, {})

    assert (done.code, done.answer) == (0, {"continue": True, "suppressOutput": False})
    assert "There is no hook" in done.log


def test_standard_input_that_never_ends(environ: dict[str, str], home: Path) -> None:
    """The deadline answers for a client that forgets to close it."""
    with subprocess.Popen(
        command("pretool-inject"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=home, env=environ,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        process.stdin.write(b'{"hook_event_name": ')
        process.stdin.flush()
        began = time.monotonic()

        answer = json.loads(process.stdout.readline())

        assert time.monotonic() - began < HOOKS["pretool-inject"].patience_s + 3
        assert answer["hookSpecificOutput"] == {"hookEventName": "PreToolUse"}
        assert process.wait() == 0


def test_what_a_hook_prints_is_not_its_answer(environ: dict[str, str], home: Path) -> None:
    """A library that prints, a hook that leaves, one that offers and then hangs: one object each time."""
    code = """
import os, sys
from clawmem.app.interfaces.hooks import handlers, process
def run(event, here):
    print("noise"); os.write(1, b"more noise")
    here.offer("so far")
    {}
handlers.HANDLERS["pretool-inject"] = run
process.run_process(["pretool-inject"])
"""
    for what, context in (
        ("sys.exit(2)", ""),
        ("__import__('time').sleep(60)", "so far"),
        ("return None", ""),
    ):
        done = run_process("-c", code.format(what), environ=environ, input="{}", cwd=home, timeout=30)
        (line,) = done.stdout.splitlines()
        assert json.loads(line)["hookSpecificOutput"].get("additionalContext", "") == context, what


@pytest.mark.parametrize(
    "names", [("decision-extractor", "handoff-generator", "feedback-loop"), ("SessionEnd",)]
)
def test_a_session_from_stop_to_the_next_start(
    remembered: Invoke, environ: dict[str, str], home: Path, names: tuple[str, ...]
) -> None:
    """What a session decided and where it stopped, or was left, is what the next one begins with; nothing stays behind."""
    file = transcript(home / "projects" / "5f0c.jsonl", *TURNS)
    for name in names:
        done = ask(environ, home, name, event("Stop", transcript_path=str(file), stop_hook_active=False))
        assert (done.code, done.log) == (0, "")
        assert "hookSpecificOutput" not in done.answer

    begun = ask(environ, home, "session-bootstrap", event("SessionStart", source="startup"))

    assert begun.context.startswith("<vault-session>\n")
    assert begun.context.endswith("\n</vault-session>")
    assert "Where the last session stopped" in begun.context
    assert "Postgres for the queue" in begun.context
    assert not list((state_folder(home / ".cache/clawmem/index.sqlite") / "spool").iterdir())
    sessions = json.loads(remembered("sessions", "--json").stdout)
    assert "5f0c" in {one["id"] for one in sessions["sessions"]}
    assert list((state_folder(home / ".cache/clawmem/index.sqlite") / "transcripts").iterdir())


def test_the_plugin_says_what_set_up_says() -> None:
    """Same events, matchers and times; and the version of the package."""
    root = Path(__file__).parents[2]
    plugin = root / "integrations" / "claude-code"
    told = json.loads((plugin / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text("utf-8"))

    found = {
        happening: (handler["args"], handler["timeout"], group["matcher"])
        for happening, (group,) in told.items()
        for handler in group["hooks"]
    }
    calls = {event: call_named(event) for event in EVENTS}
    assert found == {
        event: (["hook", event], call.patience_s, call.matcher)
        for event, call in calls.items()
        if call and call.hooks
    }
    assert manifest["name"] == "clawmem"
    assert (
        (plugin / "skills" / "remember" / "SKILL.md").read_text("utf-8").startswith("---\nname: remember\n")
    )


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


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("CLAWMEM_HOOKS", "nope", "must be 'staleness-check', 'session-bootstrap' or 'pretool-inject'"),
        ("CLAWMEM_PROFILE", "fast", "must be 'speed', 'balanced' or 'deep'"),
        ("CLAWMEM_HOOK_DEDUP_WINDOW_SEC", "soon", "must be a number"),
    ],
)
def test_a_variable_with_an_impossible_value(
    vault: Path, invoke: Invoke, environ: dict[str, str], home: Path, variable: str, value: str, wanted: str
) -> None:
    """A hook answers without it; doctor and status, which may have another environment, repeat what is wanted."""
    prompt = event("UserPromptSubmit", prompt="When is the plan of the release due?")
    done = ask({**environ, variable: value}, home, "UserPromptSubmit", prompt)

    assert done.code == 0
    for name in "doctor", "status":
        assert f"{variable}: {wanted}, not '{value}'." in invoke(name).stdout


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
    assert first.endswith("Run: clawmem bootstrap PATH")
    assert second.endswith(f"Run: clawmem --vault {absent} bootstrap PATH")
    assert (usual.log.count("\n"), again.log, other.log.count("\n")) == (1, "", 1)
    assert [file for file in home.rglob("*") if file.is_file()] == [log]
    assert not absent.parent.exists()
    assert "bootstrap" in ask({**environ, "HOME": str(home / "nobody")}, home, event, told).log
    assert not (home / "nobody").exists()

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
