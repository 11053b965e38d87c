"""``clawmem hook NAME`` as a client runs it: real processes, real events, a real vault."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from hook_process import ask, command, transcript
from programs import run_program

from clawmem.app.client.hook_registry import EVENTS, HOOKS, call_named
from clawmem.app.environment.private_files import state_folder
from clawmem.ports.sessions import session_key

STATE = f"precompact-state-{session_key('5f0c')}.md"
TURNS = (
    ("Where should the queue live?", "We could use Redis or Postgres."),
    ("Postgres, please.", "We decided to use Postgres for the queue because one database is enough."),
    ("And the tests?", "I will run them against a real server."),
)


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
        done = run_program(code.format(what), input="{}", cwd=home, env=environ, timeout=30)
        (line,) = done.stdout.splitlines()
        assert json.loads(line)["hookSpecificOutput"].get("additionalContext", "") == context, what


def test_a_session_from_stop_to_the_next_start(
    remembered: Invoke, environ: dict[str, str], home: Path
) -> None:
    """What a session decided and where it stopped is what the next one begins with; nothing stays behind."""
    file = transcript(home / "projects" / "5f0c.jsonl", *TURNS)
    for name in ("decision-extractor", "handoff-generator", "feedback-loop"):
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


def test_compaction_and_after(remembered: Invoke, environ: dict[str, str], home: Path) -> None:
    """
    PreCompact saves beside the transcript; the start that follows brings it back, another start does not.
    """
    file = transcript(home / "projects" / "5f0c.jsonl", *TURNS)
    saved = ask(
        environ, home, "precompact-extract", event("PreCompact", transcript_path=str(file), trigger="auto")
    )
    assert (saved.code, saved.log) == (0, "")
    assert "And the tests?" in (file.parent / "memory" / STATE).read_text("utf-8")

    told = event("SessionStart", transcript_path=str(file), source="compact")
    back = ask(environ, home, "postcompact-inject", told)
    other = ask(environ, home, "postcompact-inject", {**told, "source": "startup"})

    assert back.context.startswith("<vault-postcompact>\n")
    assert "And the tests?" in back.context
    assert not other.context


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
