"""Memory for frameworks, with their real libraries."""

from __future__ import annotations

from collections.abc import Iterator
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
