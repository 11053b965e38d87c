"""Notes at the point of action: after a failed command and at the start of a subagent, and whether they were used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json
from hook_process import NOTES, ask_inside

from clawmem.domain.text.words import token_count

FIX = (
    "# Builds on the new machine\n\nOn 3 May the image failed with "
    "`ModuleNotFoundError: No module named 'yaml'`.\n\nInstall pyyaml in the base image, not in the job.\n"
)
ERROR = "Traceback (most recent call last):\n  File \"/w/a.py\", line 3\nModuleNotFoundError: No module named 'yaml'\n"
TASK = "Find out where login sessions live and for how many days, then change the sweep."


@pytest.fixture
def vault(notes: Path, invoke: Invoke) -> Path:
    for name, text in {**NOTES, "build.md": FIX}.items():
        (notes / name).write_text(text, "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0
    return notes


def context(environ: dict[str, str], name: str, **event: Any) -> str:
    return ask_inside(environ, name, {"session_id": "s1", "hook_event_name": name, **event}).context


def test_the_fix_of_the_same_error(vault: Path, environ: dict[str, str], home: Path) -> None:
    """The note with the error and its remedy, once a session, and for each way to tell a failure."""
    failed = {
        "session_id": "s0",
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "error": ERROR,
    }
    first = ask_inside(environ, "PostToolUseFailure", failed)
    assert "Install pyyaml in the base image" in first.context and token_count(first.context) <= 200
    assert ask_inside(environ, "PostToolUseFailure", failed).context == ""

    responses = (
        {"stderr": ERROR, "exit_code": 1},
        f"Exit code: 1\nOutput:\n{ERROR}",
        {"is_error": True, "output": ERROR},
    )
    for number, response in enumerate(responses):
        done = {"session_id": f"s{number + 2}", "tool_name": "Bash", "tool_response": response}
        assert "pyyaml" in context(environ, "PostToolUse", **done)


@pytest.mark.parametrize(
    "event",
    [
        {"error": ERROR.replace("yaml", "requests")},
        {"error": "bash: gmake: command not found"},
        {"error": "Permission denied\n" * 500},
        {"error": ERROR, "is_interrupt": True},
        {"error": ERROR, "tool_name": "Read"},
        {"error": ERROR, "agent_id": "a1"},
        {"error": ["no text"], "tool_response": [1, 2]},
        {"tool_response": {"stdout": ERROR, "exit_code": 0}},
        {"error": "\0" + "'" * 100_000},
    ],
    ids=(
        "other module, other command, vague, interrupted, other tool, subagent, no text, success, quotes"
    ).split(", "),
)
def test_silence_after_a_failure(vault: Path, environ: dict[str, str], event: dict[str, Any]) -> None:
    assert context(environ, "PostToolUseFailure", **{"tool_name": "Bash", **event}) == ""


def transcript(folder: Path, *tasks: str) -> str:
    """A transcript in which the assistant has just started subagents, after one that is done."""
    calls = [
        {
            "type": "tool_use",
            "id": f"t{n}",
            "name": "Task",
            "input": {"prompt": task, "subagent_type": "worker"},
        }
        for n, task in enumerate(("Old task about schedules.", *tasks))
    ]
    done = {"type": "tool_result", "tool_use_id": "t0", "content": "Done."}
    entries: list[tuple[str, list[Any]]] = [
        ("assistant", calls[:1]),
        ("user", [done]),
        ("assistant", calls[1:]),
    ]
    lines = [
        json.dumps({"type": kind, "message": {"role": kind, "content": content}}) for kind, content in entries
    ]
    file = folder / "s1.jsonl"
    file.write_text("\n".join(['{"cut', *lines, "[]"]) + "\n", "utf-8")
    return str(file)


def test_a_subagent_gets_the_notes_of_its_task(vault: Path, environ: dict[str, str], tmp_path: Path) -> None:
    """Of tasks that start together each gets its own; exploring subagents and other types get none."""
    event = {"agent_id": "a1", "transcript_path": transcript(tmp_path, "Rename the variables of it.", TASK)}

    blocks = [context(environ, "SubagentStart", agent_type="worker", **event) for _ in range(3)]

    assert ["Redis for 14 days" in block for block in blocks] == [False, True, False]
    assert token_count(blocks[1]) <= 300
    for name in ("Explore", "code-searcher", "Plan", "other"):
        assert context(environ, "SubagentStart", agent_type=name, **event) == ""
    assert "Redis for 14 days" in context(environ, "SubagentStart", agent_id="a2", prompt=TASK)
    assert context(environ, "SubagentStart", transcript_path=os.devnull) == ""


def test_whether_it_was_used(vault: Path, environ: dict[str, str], tmp_path: Path, invoke: Invoke) -> None:
    """By the client's id of the prompt, or what the assistant says afterwards; shown for each hook."""
    assert context(environ, "PostToolUseFailure", tool_name="Bash", error=ERROR, prompt_id="p1")
    assert context(environ, "SubagentStart", agent_id="a2", prompt=TASK)
    assert context(environ, "session-bootstrap")
    says = [
        {"type": "user", "uuid": "1", "promptId": "p1", "message": {"role": "user", "content": "Build it."}},
        {
            "type": "assistant",
            "uuid": "2",
            "timestamp": "2099-01-01T10:00:00.000Z",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "As build.md says, pyyaml."}],
            },
        },
    ]
    file = tmp_path / "s1.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in says), "utf-8")
    ask_inside(environ, "feedback-loop", {"session_id": "s1", "transcript_path": str(file)})

    uses = {use["hook"]: use for use in ask_json(invoke, "report", "--budget")["sessions"]}
    assert uses["failure-inject"]["share_referenced"] == 1 and uses["failure-inject"]["tokens"] > 20
    assert uses["subagent-inject"]["share_referenced"] == 0 and uses["subagent-inject"]["blocks"] == 1
    assert uses["session-bootstrap"]["blocks"] == 1 and uses["session-bootstrap"]["tokens"] > 20
