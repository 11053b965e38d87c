"""Lines that are no messages of the protocol, sent to ``clawmem mcp``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_process import Run, start_process
from server_process import serving

WRONG = (
    b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":"x"}',
    b"what is this",
    b'{"jsonrpc":"2.0","id":9',
    b"\xff\xfe",
    b'[{"jsonrpc":"2.0","id":10,"method":"ping"}]',
    b'{"jsonrpc":"1.0","id":11,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":12,"method":7}',
    b'{"jsonrpc":"2.0","id":[13],"method":"ping"}',
    b'{"jsonrpc":"2.0","id":14}',
    b'{"jsonrpc":"2.0","id":15,"method":"ping","params":{"half":"\\ud800"}}',
    b'{"jsonrpc":"2.0","method":"notifications/unheard","params":"x"}',
    b"42",
)
OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
QUESTION = {
    "jsonrpc": "2.0",
    "id": 99,
    "method": "tools/call",
    "params": {"name": "query", "arguments": {"query": "redis \ud83d"}},
}


@pytest.fixture(params=["alone", "with a server"])
def vault(
    request: pytest.FixtureRequest, run: Run, notes: Path, home: Path, environ: dict[str, str], tmp_path: Path
) -> Iterator[None]:
    """A vault, and its server or none."""
    assert run("bootstrap", notes, "--skip-embed").returncode == 0
    if request.param == "alone":
        yield
        return
    with serving(environ, tmp_path):
        yield


@pytest.mark.usefixtures("vault")
def test_later_messages_are_answered(home: Path, environ: dict[str, str]) -> None:
    """Nothing but the protocol is written; a request after the wrong lines has its result, with a lone surrogate too."""
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = [
        json.dumps(OPENING).encode(),
        json.dumps(initialized).encode(),
        *WRONG,
        json.dumps(QUESTION).encode(),
    ]

    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with start_process("mcp", environ=environ, cwd=home, **pipes) as process:
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        answers = []
        while not (answers and answers[-1].get("id") == 99):
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(20) == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert "structuredContent" in answers[-1]["result"]
