"""Events field for field as each agent sends them, answered in this process by the hooks that setup installs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_file
from hook_process import ask_inside

from clawmem.ports.sessions import session_key

EVENTS = json.loads((Path(__file__).parents[1] / "data" / "agent_events.json").read_text("utf-8"))
QUESTION = "Where do login sessions live, and for how many days?"
OFF_TOPIC = "who won the football world cup?"
DECIDED = "We decided to use Postgres for the queue because one database is enough."
# The keys that every one of these agents accepts; Codex refuses an answer with another key.
KEYS = {"continue", "suppressOutput", "systemMessage", "hookSpecificOutput"}
BACK = ("postcompact-inject", {"session_id": "SESSION", "transcript_path": "TRANSCRIPT", "source": "compact"})


class Agent:
    """One of the agents: it sends the events of a session about *subject*, with a transcript in its format."""

    def __init__(
        self,
        name: str,
        folder: Path,
        environ: Mapping[str, str],
        session: str = "session-1",
        subject: str = "queue",
    ) -> None:
        self.events, self._environ, self._subject = EVENTS[name], environ, subject
        file = folder / f"{session}.jsonl"
        self.values = {"SESSION": session, "TRANSCRIPT": str(file), "ANSWER": DECIDED}
        lines = [json.dumps(line) for line in self.events["lines"]]
        Path(self.values["TRANSCRIPT"]).write_text(
            "".join(f"{self._filled(one, '')}\n" for one in lines), "utf-8"
        )

    def send(self, kind: str, prompt: str = "", **more: Any) -> dict[str, Any]:
        name, event = BACK if kind == "back" else self.events[kind]
        told = self._filled(json.dumps({**event, **more}), prompt)
        given = ask_inside(self._environ, name, json.loads(told)).answer
        assert given.keys() <= KEYS and given["continue"] is True
        specific = given.get("hookSpecificOutput", {"hookEventName": name})
        assert specific["hookEventName"] in (name, "SessionStart") and specific.keys() <= {
            "hookEventName",
            "additionalContext",
        }
        assert specific.get("additionalContext") != "", "Codex makes an empty message of it"
        return given

    def _filled(self, text: str, prompt: str) -> str:
        for name, value in {**self.values, "PROMPT": prompt}.items():
            text = text.replace(f'"{name}"', json.dumps(value))
        return text.replace("queue", self._subject)


@pytest.fixture(params=EVENTS)
def agent(request: pytest.FixtureRequest, tmp_path: Path, environ: dict[str, str]) -> Agent:
    return Agent(request.param, tmp_path, environ)


def context_of(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_session(agent: Agent, remembered: Invoke) -> None:
    """Context for a prompt, silence for another topic, and a memory after the turn."""
    if "start" in agent.events:
        agent.send("start")
    assert "Redis for 14 days" in context_of(agent.send("prompt", QUESTION))
    assert context_of(agent.send("prompt", OFF_TOPIC)) == ""

    assert "hookSpecificOutput" not in agent.send("end")

    kept = ask_json(remembered, "list", "--collection", "_clawmem")["documents"]
    assert any("Postgres for the queue" in one["title"] for one in kept)
    assert not any("Redis" in one["title"] for one in kept)


@pytest.mark.parametrize("name", EVENTS)
def test_two_sessions_of_a_project(
    name: str, remembered: Invoke, tmp_path: Path, environ: dict[str, str]
) -> None:
    """
    Each has a hand-off and its own state after a compaction, also resumed while the other goes on.

    A start that follows no compaction, and a session that saved no state, get none. Old states are deleted.
    """
    old = write_file(tmp_path / "memory" / "precompact-state-0123456789abcdef.md", "Long ago.")
    os.utime(old, (0, 0))
    sessions = (("ses_4b2cAb", "ledger"), ("ses_4b2cab", "archive"))  # alike but for a letter's case
    agents = {subject: Agent(name, tmp_path, environ, session, subject) for session, subject in sessions}
    for kind in ("prompt", "end", "compaction", "start", "end", "compaction"):
        for agent in agents.values() if kind in EVENTS[name] else ():
            answer = agent.send(kind, QUESTION, **({"source": "resume"} if kind == "start" else {}))
            assert kind == "prompt" or "Saved before compaction" not in context_of(answer)

    def others(text: str) -> list[str]:
        return [subject for subject in agents if f"Where should the {subject} live?" in text]

    for subject, agent in agents.items():
        # The vault has more on it: recent decisions, and notes.
        context = re.split("## (?:Decisions|From the vault)", context_of(agent.send("back")))[0]
        [state] = tmp_path.glob(f"memory/precompact-state-{session_key(agent.values['SESSION'])}.md")
        assert others(state.read_text("utf-8")) == others(context) == [subject]
    assert "Saved before compaction" not in context_of(Agent(name, tmp_path, environ).send("back"))
    assert not old.exists()
    listed = ask_json(remembered, "list", "--collection", "_clawmem")["documents"]
    files = [note["file"] for note in listed if "Handoff of session" in note["title"]]
    assert sorted(others(ask_json(remembered, "get", file)["text"]) for file in files) == [
        ["archive"],
        ["ledger"],
    ]
