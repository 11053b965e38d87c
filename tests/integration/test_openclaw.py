"""The OpenClaw plugin over the real command, in a process of Node, with a stand-in for OpenClaw."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "integrations" / "openclaw"
HOST = ROOT / "tests" / "data" / "openclaw_host.mjs"
QUESTION = "Where do login sessions live, and for how many days?"
DECIDED = "We decided to use Postgres for the queue because one database is enough."

Host = Callable[..., dict[str, Any]]
node = shutil.which("node")
pytestmark = pytest.mark.skipif(node is None, reason="needs Node")


@pytest.fixture
def host(remembered: Invoke, program: Path, home: Path, environ: dict[str, str]) -> Host:
    """Run steps in the stand-in, over the vault of the notes."""

    def run(*steps: dict[str, Any], agent: dict[str, str] | None = None, **config: Any) -> dict[str, Any]:
        asked = {
            "plugin": str(PLUGIN / "index.js"),
            "config": {"clawmemBin": str(program), **config},
            "agent": agent or {},
            "steps": steps,
        }
        done = subprocess.run(
            [str(node), str(HOST)],
            input=json.dumps(asked).encode(),
            capture_output=True,
            cwd=home,
            env=environ,
            timeout=600,
            check=True,
        )
        return json.loads(done.stdout)

    return run


def turn(*messages: tuple[str, str], **ctx: Any) -> dict[str, Any]:
    listed = [
        {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1_700_000_000_000 + number}
        for number, (role, text) in enumerate(messages)
    ]
    context = {"agentId": "main", "sessionId": "s1", "trigger": "user", **ctx}
    return {"do": "hook", "name": "agent_end", "event": {"messages": listed, "success": True}, "ctx": context}


def prompt(text: str, **ctx: Any) -> dict[str, Any]:
    context = {"agentId": "main", "sessionId": "s1", "trigger": "user", **ctx}
    return {"do": "hook", "name": "before_prompt_build", "event": {"prompt": text}, "ctx": context}


def test_the_manifest_names_every_tool_and_setting(host: Host) -> None:
    """OpenClaw refuses a tool that the manifest does not name, and reads settings from its schema."""
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text("utf-8"))

    found = host()

    assert manifest["kind"] == "memory"
    assert sorted(found["tools"]) == sorted(manifest["contracts"]["tools"])
    assert found["isSync"] and found["services"] == ["clawmem"]
    assert found["limits"]["before_prompt_build"]["timeoutMs"] <= 15_000
    assert found["limits"]["agent_end"]["timeoutMs"] <= 30_000
    assert sorted(host(enableTools=False)["tools"]) == ["memory_get", "memory_search"]


def test_the_gateway_starts_a_server(host: Host, remembered: Invoke, tmp_path: Path) -> None:
    """
    Its log says that it answers, or why there is none.

    The gateway passes the defaults of the schema on, and the usual port may belong to the server of another vault.
    """
    schema = json.loads((PLUGIN / "openclaw.plugin.json").read_text("utf-8"))["configSchema"]["properties"]
    defaults = {name: one["default"] for name, one in schema.items() if "default" in one}
    service = {"do": "service", "name": "clawmem"}
    with socket.socket() as usual:
        with suppress(OSError):  # somebody else has it: as good
            usual.bind(("127.0.0.1", 7438))
            usual.listen()
        try:
            started, found = host(service, service, **defaults)["results"]
        finally:
            stopped = remembered("serve", "--stop")
    [absent] = host(service, vault=str(tmp_path / "none.sqlite"))["results"]
    [missing] = host(service, clawmemBin=str(tmp_path / "none"))["results"]

    assert "There is no vault" in absent and "There is no program" in missing
    assert started == "clawmem: started a server of the vault."
    assert found == "clawmem: found a server of the vault."
    assert stopped.exit_code == 0


def test_a_prompt_gets_context(host: Host, remembered: Invoke, notes: Path) -> None:
    """Only what the user typed is searched; prompts of timers and other agents get nothing."""
    due = "---\nreview_by: 2024-01-01\n---\n# Plan of the harbour\n\nTo be reviewed.\n"
    (notes / "plan.md").write_text(due, "utf-8")
    assert remembered("update").exit_code == 0
    wrapped = (
        f"[Mon 2026-11-23 11:52 UTC] <vault-context>\nboats\n</vault-context>\n\nSystem: idle\n{QUESTION}"
    )

    first, short, timer, other = host(
        prompt(wrapped),
        prompt("hi"),
        prompt(QUESTION, trigger="heartbeat"),
        prompt(QUESTION, inputProvenance={"kind": "inter_session"}),
    )["results"]

    assert "Redis for 14 days" in first["prependContext"]
    assert first["prependContext"].startswith("<vault-session>")  # the first prompt of a session
    assert short is timer is other is None


def test_a_session_is_captured_once(host: Host, remembered: Invoke, home: Path) -> None:
    """Each end of a turn brings the whole session; only new messages are added, also after a restart."""
    said = [("user", "Where should the queue live?"), ("assistant", DECIDED)]
    more = [*said, ("user", f"<vault-context>x</vault-context>\n{QUESTION}"), ("assistant", "In Redis.")]

    host(turn(*said), turn(*said))
    host(turn(*more), turn(*more, sessionId="s2", trigger="cron"))

    [transcript] = home.rglob("transcript.jsonl")
    lines = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    assert [(one["type"], one["message"]["content"][0]["text"]) for one in lines] == [
        *said,
        ("user", QUESTION),
        more[-1],
    ]
    assert transcript.stat().st_mode & 0o777 == 0o600
    found = ask_json(remembered, "search", "queue Postgres one database")["results"]
    assert sum("-decision-" in one["file"] for one in found) == 1


def test_two_sessions_keep_their_own_state(host: Host, remembered: Invoke, home: Path) -> None:
    """Also one that is resumed after the other; each hands over by itself."""
    subjects = {"agent:main:first": "ledger", "agent-main-first": "archive"}
    steps = []
    for session, subject in [*subjects.items(), *subjects.items()][:3]:
        talk = (
            ("user", f"Where should the {subject} live?"),
            ("assistant", f"We decided to use Postgres for the {subject}."),
        )
        compaction = {
            "do": "hook",
            "name": "before_compaction",
            "event": {},
            "ctx": {"agentId": "main", "sessionId": session},
        }
        steps += [turn(*talk, sessionId=session), compaction]
    host(*steps)

    states = [state.read_text("utf-8") for state in home.rglob("precompact-state-*.md")]
    found = [[subject for subject in subjects.values() if subject in state] for state in states]
    assert sorted(found) == [["archive"], ["ledger"]]
    listed = ask_json(remembered, "list", "--collection", "_clawmem")["documents"]
    assert sum("Handoff of session" in note["title"] for note in listed) == 2


def test_memory_tools_have_the_contract_of_openclaw(host: Host) -> None:
    """Results have a path and lines that memory_get reads; errors are part of the answer."""
    found, read, part, missing, empty = host(
        {"do": "tool", "name": "memory_search", "params": {"query": "login sessions", "maxResults": 2}},
        {"do": "tool", "name": "memory_get", "params": {"path": "notes/people/haruka.md"}},
        {
            "do": "tool",
            "name": "memory_get",
            "params": {"path": "notes/people/haruka.md", "from": 4, "lines": 1},
        },
        {"do": "tool", "name": "memory_get", "params": {"path": "notes/absent.md"}},
        {"do": "search", "query": " "},
    )["results"]

    best = found["results"][0]
    assert (best["path"], best["startLine"], best["source"]) == (
        "notes/decisions/2026-02-11-redis.md",
        3,
        "memory",
    )
    assert len(found["results"]) <= 2 and found["provider"] == "clawmem"
    assert read["status"] == "ok" and "ticket machines" in read["text"] and not read["truncated"]
    assert (part["from"], part["lines"], part["truncated"], part["nextFrom"]) == (4, 1, True, 5)
    assert missing == {"status": "not_found", "path": "notes/absent.md", "text": ""}
    assert empty == []


def test_a_missing_program_disturbs_nobody(host: Host, tmp_path: Path) -> None:
    """Prompts go on without context, searches say what is wrong."""
    found = host(
        prompt(QUESTION),
        turn(("user", "Question?"), ("assistant", "Answer.")),
        {"do": "tool", "name": "memory_search", "params": {"query": "sessions"}},
        {"do": "status"},
        clawmemBin=str(tmp_path / "absent"),
    )["results"]

    assert found[:2] == [None, None]
    assert found[2]["unavailable"] and "Install clawmem" in found[2]["error"]
    assert "clawmem bootstrap" in found[3]["thrown"]
