"""What clients are told is fixed: a description that changes under a user who agreed to it is an attack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_tools import PINNED, told

MOST_TOLD = 2048  # of a description or of instructions; clients cut the rest off


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    return told()


def test_nothing_changed_unseen(now: dict[str, Any]) -> None:
    """If it is meant: python tests/mcp_tools.py, and a line in the changelog."""
    assert now == json.loads(PINNED.read_text("utf-8"))


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
    for tool in now["clawmem"]["tools"]:
        assert tool["outputSchema"]["type"] == "object", tool["name"]
        for name, parameter in tool["inputSchema"].get("properties", {}).items():
            assert parameter.get("description"), f"{tool['name']}.{name}"


def test_answers_are_compact_unless_somebody_wants_more(now: dict[str, Any]) -> None:
    compact = [
        tool["inputSchema"]["properties"]["compact"]["default"]
        for tool in now["clawmem"]["tools"]
        if "compact" in tool["inputSchema"]["properties"]
    ]

    assert len(compact) == 7
    assert all(compact)
