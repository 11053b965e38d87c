"""
Sessions that the real agents record, imported by ``clawmem mine`` from where each keeps them.

Run with ``make clients``, as `test_real_agents`. An agent that is not installed is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from agents import AGENTS, AgentHome, program_of
from messages_api import Block, Request, call, listening, text

pytestmark = pytest.mark.client

NOTES = Path(__file__).parents[2] / "examples" / "notes"
FOLDER = Path(os.environ["AGENTS_FOLDER"]) if os.environ.get("AGENTS_FOLDER") else None
DECISION = "We decided to moor the ferry at the north pier because the tide is low."
TABLE, IN_TABLE = "tide.txt", "High water is at nine."
TOKEN = "ghp_0123456789abcdefABCDEF0123456789abcd"
PROMPTS = (
    "Where should we moor the ferry on Monday?",
    f"Read the table in {TABLE}, please.",
    f"My deploy token is {TOKEN}, keep it.",
)
LATER = "Which flag does the ferry fly on Sunday?"
# By agent: the source, and the command of a further prompt in the same session.
SESSIONS: Mapping[str, tuple[str, Callable[[str], list[str]]]] = {
    "claude-code": ("claude-code", lambda said: ["claude", "-p", said, "--continue", "--allowedTools", "Read"]),
    "codex": (
        "codex",
        lambda said: [  # its sandbox has a folder for temporary files of its own
            "codex", "exec", "resume", "--last", "--skip-git-repo-check", "-c", "sandbox_mode=danger-full-access", said,
        ],
    ),
    "gemini": (
        "gemini-cli",
        lambda said: [
            "gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--resume", "latest", "-p", said,
        ],
    ),
    "opencode": ("opencode", lambda said: ["opencode", "run", "--continue", said]),
    "openclaw": (
        "openclaw",
        lambda said: [
            "openclaw", "agent", "--local", "--agent", "main", "--session-id",
            str(uuid5(NAMESPACE_URL, PROMPTS[0])), "-m", said,
        ],
    ),
    "hermes": ("hermes", lambda said: ["hermes", "chat", "-Q", "--continue", "-q", said]),
}  # fmt: skip


@pytest.fixture(params=SESSIONS)
def name(request: pytest.FixtureRequest) -> str:
    if not program_of(AGENTS[request.param], FOLDER):
        pytest.skip(f"Needs {AGENTS[request.param].program}: make clients installs it")
    return str(request.param)


@pytest.fixture
def home(name: str, tmp_path: Path) -> Iterator[AgentHome]:
    with listening() as api:
        made = AgentHome(tmp_path / "home", api, FOLDER)
        made.prepare(NOTES)
        AGENTS[name].configure(made)
        table = made.project / TABLE
        table.write_text(f"{IN_TABLE}\n", "utf-8")
        api.turn = lambda request: turn(request, str(table))
        made.run(AGENTS[name].command(PROMPTS[0]))
        for prompt in PROMPTS[1:]:
            made.run(SESSIONS[name][1](prompt))
        yield made


def turn(request: Request, table: str) -> Sequence[Block]:
    """The model decides where to moor, and reads the table with the tool that the agent has for it."""
    reads = {
        "Read": {"file_path": table},
        "read_file": {"file_path": table, "path": table},
        "read": {"filePath": table, "path": table},
        "exec_command": {"cmd": f"cat {table}"},
    }
    tool = next((one for one in reads if one in request.tools), "")
    if PROMPTS[1] in request.said and not request.results:
        return [text("Let me look."), call(tool, **reads[tool])]
    return [text(DECISION if PROMPTS[0] in request.said else "Noted, as you wish.")]


def mined(home: AgentHome) -> Any:
    """Return the result of an import of everything that agents have recorded in *home*."""
    return json.loads(home.clawmem("mine", "--no-embed", "--json"))


def texts(home: AgentHome) -> str:
    files = [one["file"] for one in json.loads(home.clawmem("list", "-n", 100, "--json"))["documents"]]
    imported = [file for file in files if file.startswith("conversations/")]
    return "\n".join(json.loads(home.clawmem("get", file, "--json"))["text"] for file in imported)


def test_a_recorded_session(name: str, home: AgentHome) -> None:
    """Prompts and answers with their times, no tools, no secret, no message twice; and none is left when it is forgotten."""
    source = SESSIONS[name][0]
    results = [result for request in home.api.requests for result in request.results]
    assert any(IN_TABLE in result for result in results), results

    made = mined(home)

    counts = made["sources"].pop(source)
    assert (made["sources"], made["faults"], made["foreign"], counts["added"]) == ({}, [], [], 1)
    said = texts(home)
    assert [said.count(one) for one in (*PROMPTS[:2], DECISION, "Let me look.")] == [1, 1, 1, 1]
    assert said.index(PROMPTS[0]) < said.index(DECISION) < said.index(PROMPTS[1])
    assert (said.count("**User:**"), TOKEN in said, IN_TABLE in said) == (3, False, False)
    [listed] = json.loads(home.clawmem("mine", "--sources", "--json"))["sources"]
    assert (listed["source"], listed["first"][:10]) == (source, datetime.now(UTC).isoformat()[:10])
    assert TOKEN.encode() not in b"".join(one.read_bytes() for one in home.home.glob("vault.sqlite*"))

    assert mined(home)["sources"] == {}
    home.run(SESSIONS[name][1](LATER))
    grown = mined(home)["sources"][source]
    assert (grown["added"], grown["updated"], grown["messages"]) == (0, 1, counts["messages"] + 2)
    said = texts(home)
    assert [said.count(one) for one in (*PROMPTS[:2], DECISION, LATER)] == [1, 1, 1, 1]

    done = json.loads(home.clawmem("mine", "--forget", source, "--yes", "--json"))
    assert (done["documents"], done["left"]) == (1, "")
    assert mined(home)["sources"] == {}
    assert texts(home) == ""
