"""The memory provider for the Hermes agent, over the real command, with a stand-in for the agent's base class."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from command_line import Invoke, ask_json

PLUGIN = Path(__file__).parents[2] / "integrations" / "hermes" / "clawmem"
QUESTION = "Where do login sessions live, and for how many days?"


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The plugin as Hermes loads it: from its folder, beside a module with the base class."""
    base = ModuleType("agent.memory_provider")
    base.MemoryProvider = type("MemoryProvider", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent", ModuleType("agent"))
    monkeypatch.setitem(sys.modules, "agent.memory_provider", base)
    name = "hermes_plugin_of_clawmem"
    spec = importlib.util.spec_from_file_location(
        name, PLUGIN / "__init__.py", submodule_search_locations=[str(PLUGIN)]
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    for loaded in [one for one in sys.modules if one.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    return module


@pytest.fixture
def provider(plugin: ModuleType, remembered: Invoke, program: Path, home: Path) -> Iterator[Any]:
    """The provider in a session of the command line."""
    registered: list[Any] = []

    class Context:
        register_memory_provider = staticmethod(registered.append)

    plugin.register(Context())
    [made] = registered
    made.initialize("s1", hermes_home=str(home / ".hermes"), platform="cli", agent_context="primary")
    yield made
    made.shutdown()


def test_a_question_gets_context_once_in_a_turn(provider: Any) -> None:
    """The block is the one of other clients; a second call of the same turn returns it again."""
    assert (provider.name, provider.is_available()) == ("clawmem", True)
    assert "background" in provider.system_prompt_block()

    provider.on_turn_start(1, QUESTION)
    block = provider.prefetch(QUESTION)

    assert block.startswith("<vault-context>") and "Redis for 14 days" in block
    assert provider.prefetch(QUESTION, session_id="s1") == block
    assert provider.prefetch("hello") == ""


def test_a_turn_is_captured(provider: Any, remembered: Invoke, home: Path) -> None:
    """A decision becomes a memory; the transcript is the owner's alone."""
    provider.sync_turn(
        "Where should the queue live?",
        "We decided to use Postgres for the queue because one database is enough.",
    )
    provider.on_session_end([])

    [transcript] = home.rglob("transcript.jsonl")
    assert transcript.stat().st_mode & 0o777 == 0o600
    found = ask_json(remembered, "search", "queue Postgres one database")["results"]
    assert any(one["file"].startswith("_clawmem/") for one in found)


def test_two_sessions_keep_their_own_state(provider: Any, remembered: Invoke) -> None:
    """Also one that is resumed after the other; each hands over by itself."""
    questions = {"s1": "Where should the ledger live?", "S1": "Where should the archive live?"}
    for session, question in [*questions.items(), *questions.items()][:3]:
        provider.on_session_switch(session)
        provider.sync_turn(question, "We decided to use Postgres because one database is enough.")
        state = provider.on_pre_compress([])
        assert [other for other in questions.values() if other in state] == [question]
    listed = ask_json(remembered, "list", "--collection", "_clawmem")["documents"]
    assert sum("Handoff of session" in note["title"] for note in listed) == 2


def test_tools(provider: Any) -> None:
    """Each tool answers with JSON; a wrong call with an error that names the mistake."""
    names = [one["name"] for one in provider.get_tool_schemas()]

    def call(tool: str, **values: Any) -> Any:
        return json.loads(provider.handle_tool_call(tool, values))

    found = call("clawmem_retrieve", query="login sessions", limit=2)
    assert any(one["file"].endswith("redis.md") for one in found["results"])
    for tool in names[1:]:
        values = {} if tool == "clawmem_session_log" else {"file": "haruka"}
        assert "error" not in call(tool, **values), tool
    assert "needs 'query'" in call("clawmem_retrieve")["error"]
    assert "has no parameter 'quer'" in call("clawmem_retrieve", quer="x")["error"]
    assert "from 1 to 50" in call("clawmem_similar", file="haruka", limit=0)["error"]
    assert "--json" not in call("clawmem_get", file="--vault")["error"]
    assert "no tool" in call("clawmem_forget")["error"]


def test_a_missing_program_disturbs_nobody(
    provider: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hermes does not offer the provider; one that was active says nothing, and its tools say why."""
    monkeypatch.setenv("CLAWMEM_BIN", str(tmp_path / "absent"))
    provider.initialize("s1", hermes_home=str(home / ".hermes"))

    assert not provider.is_available()
    assert provider.prefetch(QUESTION) == "" and provider.backup_paths() == []
    provider.sync_turn("Question?", "Answer.")
    assert "Install clawmem" in json.loads(provider.handle_tool_call("clawmem_get", {"file": "x"}))["error"]
