"""Events field for field as Claude Code 2.1.197 told them, and every hook over a vault that has something to say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from hook_process import AT_STOP, ONCE, Answered, Client

from clawmem.app.client.hook_registry import HOOKS
from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks.protocol import MOST_CHARACTERS

EVENTS = json.loads((Path(__file__).parents[1] / "data" / "client_events.json").read_text("utf-8"))
LESSON = "---\ncontent_type: antipattern\n---\n# Formatter\n\nNever run the formatter over schema_v2.sql.\n"
LONG = "".join(
    f"Login sessions of region {n} live in Redis for {n} days, {'and' * 60}.\n\n" for n in range(300)
)


@pytest.fixture
def client(notes: Path, invoke: Invoke, home: Path, environ: dict[str, str]) -> Iterator[Client]:
    """A client over a vault with a lesson, and more about its question than any answer may hold."""
    (notes / "formatter.md").write_text(LESSON, "utf-8")
    (notes / "regions.md").write_text(f"---\npinned: true\n---\n# Regions\n\n{LONG}", "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0
    found = Client(home, environ)
    yield found
    found.close()


def told(client: Client, name: str, **more: Any) -> dict[str, Any]:
    hook = HOOKS[name]
    event = EVENTS["SessionStart after compaction" if hook.matcher == "compact" else hook.event]
    return {**client.event(name), **event, **more}


def asked(client: Client, *names: str, **more: Any) -> dict[str, Answered]:
    """Several hooks at once, as a client runs them; each answer is checked for its shape, code and time."""
    running = {name: client.start(name, json.dumps(told(client, name, **more)).encode()) for name in names}
    return {name: one.answer() for name, one in running.items()}


def test_a_session_of_the_client(client: Client) -> None:
    """In the order of the client; what carries something fits, and nothing is complained about."""
    before = client.memories()
    said = asked(client, "context-surfacing", "pretool-inject")
    said |= asked(client, "failure-inject", "subagent-inject")
    said |= asked(client, *AT_STOP)
    said |= asked(client, "precompact-extract", "session-end")
    said |= asked(client, "postcompact-inject", "postcompact-capture")
    said |= asked(client, "session-bootstrap", "staleness-check", "curator-nudge")

    assert set(said) == set(HOOKS)
    assert "in Redis for" in said["context-surfacing"].context
    assert "Never run the formatter over schema_v2.sql." in said["pretool-inject"].context
    assert asked(client, "pretool-inject")["pretool-inject"].context == ""  # once a session
    assert "And the tests?" in said["postcompact-inject"].context
    assert "Where the last session stopped" in said["session-bootstrap"].context
    for name, one in said.items():
        assert len(json.dumps(one.answer, ensure_ascii=False)) < MOST_CHARACTERS, name
        assert one.log == "", name
    assert client.memories() - before == ONCE + Counter(handoff=1)  # the summary is another one
    assert not client.waiting()


def test_a_subagent_s_session_is_not_the_person_s(client: Client) -> None:
    """The same events with an agent's id: hooks that tell or keep something do neither."""
    before = client.memories()

    said = asked(
        client, "context-surfacing", "pretool-inject", *AT_STOP, agent_id="a981cbd2cc3eed5d7", agent_type=""
    )

    assert not any(one.context for one in said.values())
    assert client.memories() == before
    assert not (state_folder(client.vault) / "spool").exists()
