"""Memory for frameworks, with their real libraries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke

from clawmem import Memory


@pytest.fixture
def memory(home: Path, invoke: Invoke) -> Iterator[Memory]:
    (home / "memories").mkdir()
    with Memory.open(create=True) as memory:
        memory.collection_add(home / "memories")
    with Memory.open() as memory:
        yield memory


def test_the_memory_tool_of_anthropic(memory: Memory, home: Path) -> None:
    """Each command does what the tool of the SDK for local files does, and what was written is found."""
    sdk = pytest.importorskip("anthropic.tools")
    from clawmem.integrations.anthropic import MemoryTool

    reference, tool = sdk.BetaLocalFilesystemMemoryTool(str(home / "other")), MemoryTool(memory)
    garden, plan, text = "/memories/garden.md", "/memories/deep/plan.md", "Tulips are yellow.\nWater them.\n"
    change = {"old_str": "yellow", "new_str": "red"}
    commands: list[dict[str, Any]] = [
        {"command": "create", "path": garden, "file_text": text},
        {"command": "create", "path": garden, "file_text": text},
        {"command": "view", "path": garden, "view_range": [2, 2]},
        {"command": "str_replace", "path": garden, **change},
        {"command": "str_replace", "path": garden, **change},
        {"command": "insert", "path": garden, "insert_line": 1, "insert_text": "Roses are white.\n"},
        {"command": "insert", "path": garden, "insert_line": 9, "insert_text": "x"},
        {"command": "rename", "old_path": garden, "new_path": plan},
        {"command": "view", "path": plan},
        {"command": "create", "path": garden, "file_text": text},
        {"command": "rename", "old_path": garden, "new_path": plan},
        {"command": "delete", "path": garden},
        {"command": "delete", "path": garden},
        {"command": "delete", "path": "/memories"},
        *(
            {"command": name, "path": "/memories/../x", "file_text": ""}
            for name in ("view", "create", "delete")
        ),
        {"command": "rename", "old_path": plan, "new_path": "/memories/../x"},
        {"command": "view", "path": "/etc/passwd"},
    ]

    def result(tool: Any, command: dict[str, Any]) -> tuple[str, bool]:
        try:
            answer, is_error = str(tool.call(command)), False
        except sdk.ToolError as error:
            answer, is_error = str(error), True
        return answer if command["command"] == "view" else "", is_error

    assert [result(tool, command) for command in commands] == [result(reference, each) for each in commands]
    assert tool.to_dict() == reference.to_dict()
    assert memory.query("which flowers are red").results[0].file == "memories/deep/plan.md"
    with pytest.raises(sdk.ToolError, match="file_text is missing"):
        tool.call({"command": "create", "path": plan})


@pytest.mark.parametrize("name", ["vendor/a.md", ".a.md", "a.exe"])
def test_a_file_that_no_search_finds(memory: Memory, name: str) -> None:
    """The answer says so, with the rule; one that is found gets no such sentence."""
    pytest.importorskip("anthropic.tools")
    from clawmem.integrations.anthropic import MemoryTool

    call, old, new = MemoryTool(memory).call, "/memories/a%20b.md", f"/memories/{name}"

    assert call({"command": "create", "path": old, "file_text": "Tulips"}).endswith("b.md")
    renamed = str(call({"command": "rename", "old_path": old, "new_path": new}))

    assert renamed.startswith(f"Successfully renamed {old} to {new}. No search finds it: ")


def test_the_store_of_langgraph(home: Path, invoke: Invoke) -> None:
    """It reads and writes as the library's own store, in the same state after a restart, and ranks by a question."""
    base, own = pytest.importorskip("langgraph.store.base"), pytest.importorskip("langgraph.store.memory")
    from clawmem.integrations.langgraph import ClawmemStore

    user, other = ("users", "123"), ("Users", "123", "/etc/build")
    puts = [
        base.PutOp(user, "job", {"text": "Works as a gardener in Graz.", "years": 4}),
        base.PutOp(user, "../food\x00", {"likes": ["pizza", "first\nsecond"], "years": 2}),
        base.PutOp(user, "hidden", {"text": "gardener"}, index=False),
        base.PutOp(
            ("build",), "k" * 300, {"a": {"text": "The lighthouse is green."}, "b": "red"}, index=["a.text"]
        ),
        base.PutOp(other, "x", {"text": "nothing"}),
        base.PutOp(other, "gone", {"text": "gone"}),
    ]
    reads = [
        *(base.GetOp(put.namespace, put.key) for put in puts),
        base.SearchOp((), filter={"years": {"$eq": 2}}),
        base.SearchOp(user, limit=1, offset=1),
        base.ListNamespacesOp(match_conditions=[base.MatchCondition("prefix", ("*", "123"))], max_depth=2),
        base.ListNamespacesOp(),
    ]
    reference = own.InMemoryStore()

    def values(results: list[Any]) -> list[Any]:
        """Results without their times, those of a search in any order."""
        return [
            sorted(json.dumps([part.key, part.value] if hasattr(part, "key") else part) for part in parts)
            for parts in (
                result if isinstance(result, list) else filter(None, [result]) for result in results
            )
        ]

    with closing(ClawmemStore(home / "agent")) as store:
        for each in (store, reference):
            each.batch(puts)
            each.delete(other, "gone")
        created = store.get(user, "job").created_at
        store.put(user, "job", puts[0].value)
        assert store.get(user, "job").created_at == created < store.get(user, "job").updated_at
    with closing(ClawmemStore(home / "agent")) as store:
        mine, theirs = asyncio.run(store.abatch(reads)), reference.batch(reads)
        assert [len(part) for part in values(mine)] == [len(part) for part in values(theirs)]
        assert values(mine[:7] + mine[8:]) == values(theirs[:7] + theirs[8:])
        assert [item.key for item in store.search(user, query="gardener")] == ["job", "../food\x00", "hidden"]
        assert [item.score for item in store.search(user, query="gardener")][2] is None
        assert store.search((), query="what is green?")[0].namespace == ("build",)
    assert [path.name for path in home.glob("[!.]*")] == ["agent"]
    with Memory.open() as memory:
        assert memory.query("lighthouse").results[0].file.startswith("agent/build-")
        assert memory.search("red").results == []


def test_a_graph_remembers(home: Path, invoke: Invoke) -> None:
    """Nodes of a graph, which run in threads of their own, share the store."""
    graph = pytest.importorskip("langgraph.graph")
    from langgraph.store.base import BaseStore

    from clawmem.integrations.langgraph import ClawmemStore

    def remember(state: dict[str, Any], *, store: BaseStore) -> None:
        store.put(("users",), state["name"], {"text": state["text"]})

    def recall(state: dict[str, Any], *, store: BaseStore) -> dict[str, Any]:
        return {"text": store.search(("users",), query="profession")[0].value["text"]}

    builder = graph.StateGraph(dict)
    builder.add_sequence([remember, recall])
    builder.add_edge(graph.START, "remember")
    with closing(ClawmemStore(home / "agent")) as store:
        answer = builder.compile(store=store).invoke({"name": "eva", "text": "Eva is a gardener."})
    assert answer["text"] == "Eva is a gardener."
