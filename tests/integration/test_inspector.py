"""
The MCP inspector of the protocol's authors, on its command line: a client that shares no line with the SDK of ours.

Run with ``pytest -m client``. It is the command ``mcp-inspector`` of the npm package @modelcontextprotocol/inspector,
on the PATH or in the folder that ``INSPECTOR_FOLDER`` names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from command_process import COMMAND, run_process
from mcp_tools import told
from server_process import serving

import clawmem

pytestmark = pytest.mark.client

NOTE = "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n"
Inspect = Callable[..., Any]


@pytest.fixture(params=["alone", "behind a server"])
def inspect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Inspect]:
    """What the inspector says of ``clawmem mcp`` over a vault of one note."""
    inspector = shutil.which("mcp-inspector", path=os.environ.get("INSPECTOR_FOLDER") or os.environ["PATH"])
    if inspector is None:
        pytest.skip("there is no mcp-inspector")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "redis.md").write_text(NOTE, "utf-8")
    packages = [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH", "")]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(packages)}
    run_process("bootstrap", "notes", environ=environ, cwd=tmp_path, check=True)

    def ask(method: str, *arguments: str) -> Any:
        given = [f"HOME={tmp_path}", f"PYTHONPATH={environ['PYTHONPATH']}"]
        variables = [part for one in given for part in ("-e", one)]
        command = [
            inspector,
            "--cli",
            *variables,
            *COMMAND,
            "mcp",
            "--tools",
            "all",
            "--method",
            method,
            *arguments,
        ]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=environ, cwd=tmp_path, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with serving(environ, tmp_path) if request.param == "behind a server" else nullcontext():
        yield ask


def test_it_understands_everything(inspect: Inspect) -> None:
    """Every tool with its schema, what it answers and refuses, what can be read by address, and the prompts."""
    every = [tool["name"] for tool in told()["all"]["tools"]]
    assert [tool["name"] for tool in inspect("tools/list")["tools"]] == every

    asked = ("--tool-name", "search", "--tool-arg", "query=sessions", "--tool-arg", "limit=3")
    found = inspect("tools/call", *asked)
    assert [one["file"] for one in found["structuredContent"]["results"]] == ["notes/redis.md"]
    refused = inspect("tools/call", "--tool-name", "get", "--tool-arg", "file=none.md")
    assert refused["isError"] and "No document matches" in refused["content"][0]["text"]

    [read] = inspect("resources/read", "--uri", "clawmem://notes/redis.md")["contents"]
    assert read["text"] == NOTE
    said = inspect("prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=sessions")
    assert "sessions" in said["messages"][0]["content"]["text"]
