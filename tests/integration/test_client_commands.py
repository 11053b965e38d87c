"""Checks of the MCP servers that clients start."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from clawmem.adapters.system.commands import NoAnswer, tool_answer

SERVER = """
from mcp.server import MCPServer
server = MCPServer("test")
@server.tool()
def greet(name: str) -> str:
    return f"Hello {name}"
server.run("stdio")
"""


def test_a_server_answers(environ: Mapping[str, str]) -> None:
    """The text of a tool is returned; an unknown tool is an error."""
    command = [sys.executable, "-c", SERVER]

    assert tool_answer(command, "greet", {"name": "Ida"}, environ, 60) == "Hello Ida"
    with pytest.raises(NoAnswer, match="tool"):
        tool_answer(command, "part", {}, environ, 60)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/gone/clawmem", "mcp"], "/gone/clawmem"),
        ([sys.executable, "-c", "raise SystemExit('no vault')"], "no vault"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "TimeoutError"),
    ],
)
def test_a_server_that_does_not_answer(environ: Mapping[str, str], command: list[str], reason: str) -> None:
    """The reason is the message of the server, or of the failure."""
    with pytest.raises(NoAnswer, match=reason):
        tool_answer(command, "greet", {}, environ, 2)
