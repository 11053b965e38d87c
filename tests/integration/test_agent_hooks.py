"""Events field for field as each agent sends them, answered in this process by the hooks that setup installs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json
from hook_process import ask_inside

EVENTS = json.loads((Path(__file__).parents[1] / "data" / "agent_events.json").read_text("utf-8"))
QUESTION = "Where do login sessions live, and for how many days?"
OFF_TOPIC = "who won the football world cup?"
DECIDED = "We decided to use Postgres for the queue because one database is enough."
# The keys that every one of these agents accepts; Codex refuses an answer with another key.
KEYS = {"continue", "suppressOutput", "systemMessage", "hookSpecificOutput"}


class Agent:
    """One of the agents: it sends its events, with a transcript in its format."""

    def __init__(self, name: str, folder: Path, environ: Mapping[str, str]) -> None:
        self.events, self._environ = EVENTS[name], environ
        self.values = {
            "SESSION": f"session-{name}",
            "TRANSCRIPT": str(folder / "session-1.jsonl"),
            "ANSWER": DECIDED,
        }
        lines = [json.dumps(line) for line in self.events["lines"]]
        Path(self.values["TRANSCRIPT"]).write_text(
            "".join(f"{self._filled(one, '')}\n" for one in lines), "utf-8"
        )

    def send(self, kind: str, prompt: str = "", **more: Any) -> dict[str, Any]:
        name, event = self.events[kind]
        told = self._filled(json.dumps({**event, **more}), prompt)
        given = ask_inside(self._environ, name, json.loads(told)).answer
        assert given.keys() <= KEYS and given["continue"] is True
        specific = given.get("hookSpecificOutput", {"hookEventName": name})
        assert specific["hookEventName"] == name and specific.keys() <= {"hookEventName", "additionalContext"}
        assert specific.get("additionalContext") != "", "Codex makes an empty message of it"
        return given

    def _filled(self, text: str, prompt: str) -> str:
        for name, value in {**self.values, "PROMPT": prompt}.items():
            text = text.replace(f'"{name}"', json.dumps(value))
        return text


@pytest.fixture(params=EVENTS)
def agent(request: pytest.FixtureRequest, tmp_path: Path, environ: dict[str, str]) -> Agent:
    return Agent(request.param, tmp_path, environ)


def context_of(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_session(agent: Agent, remembered: Invoke) -> None:
    """Context for a prompt, silence for another topic, a memory after the turn, and its state before a compaction."""
    if "start" in agent.events:
        agent.send("start")
    assert "Redis for 14 days" in context_of(agent.send("prompt", QUESTION))
    assert context_of(agent.send("prompt", OFF_TOPIC)) == ""

    assert "hookSpecificOutput" not in agent.send("end")
    assert "hookSpecificOutput" not in agent.send("compaction")

    kept = ask_json(remembered, "list", "--collection", "_clawmem")["documents"]
    assert any("Postgres for the queue" in one["title"] for one in kept)
    assert not any("Redis" in one["title"] for one in kept)
    state = next(Path(agent.values["TRANSCRIPT"]).parent.glob("memory/*.md")).read_text("utf-8")
    assert "Where should the queue live?" in state
