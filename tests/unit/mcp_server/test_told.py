"""What clients are told of the tools: whole, explained, and small where every request repeats it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_tools import told

MOST_TOLD = 2048  # of a description or of instructions; clients cut the rest off
MOST_DAILY_TOOLS, MOST_DAILY_BYTES = 10, 8_000  # every request of a client carries them


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    return told()


def test_the_daily_tools_are_few_and_small(now: dict[str, Any]) -> None:
    """Names, descriptions and parameters stay within the budget; each tool is one of all tools."""
    daily, every = now["clawmem"]["tools"], {tool["name"] for tool in now["all"]["tools"]}
    sent = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in daily]
    assert len(daily) <= MOST_DAILY_TOOLS
    assert len(json.dumps(sent, separators=(",", ":")).encode()) <= MOST_DAILY_BYTES
    assert {tool["name"] for tool in daily} < every


def test_nothing_is_cut_off(now: dict[str, Any]) -> None:
    texts = [one["instructions"] for one in now.values()]
    texts += [tool["description"] for one in now.values() for tool in one["tools"]]

    assert all(0 < len(text.encode()) <= MOST_TOLD for text in texts)


def test_every_tool_says_what_it_does_to_the_vault(now: dict[str, Any]) -> None:
    for tool in (tool for one in now.values() for tool in one["tools"]):
        hints = tool["annotations"]
        assert hints["readOnlyHint"] or "destructiveHint" in hints, tool["name"]
        assert hints["openWorldHint"] is False


def test_every_parameter_is_explained_and_every_answer_has_a_schema(now: dict[str, Any]) -> None:
    for tool in now["all"]["tools"]:
        assert tool["outputSchema"]["type"] == "object", tool["name"]
        for name, parameter in tool["inputSchema"].get("properties", {}).items():
            assert parameter.get("description"), f"{tool['name']}.{name}"


def test_answers_are_compact_unless_somebody_wants_more(now: dict[str, Any]) -> None:
    compact = [
        tool["inputSchema"]["properties"]["compact"]["default"]
        for tool in now["all"]["tools"]
        if "compact" in tool["inputSchema"]["properties"]
    ]

    assert len(compact) == 7
    assert all(compact)
