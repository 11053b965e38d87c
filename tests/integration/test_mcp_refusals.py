"""Lines that are no messages of the protocol, sent to ``clawmem mcp``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_process import Run, run_process
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
QUESTION = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "status", "arguments": {}}}


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
    """Nothing but messages of the protocol is written, and a request after the wrong lines has its result."""
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = [
        json.dumps(OPENING).encode(),
        json.dumps(initialized).encode(),
        *WRONG,
        json.dumps(QUESTION).encode(),
    ]

    done = run_process("mcp", environ=environ, cwd=home, input=b"\n".join(lines) + b"\n", text=False)

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert "structuredContent" in next(answer for answer in answers if answer.get("id") == 99)["result"]
