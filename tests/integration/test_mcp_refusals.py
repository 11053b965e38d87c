"""Lines that are no messages of the protocol, sent to ``clawmem mcp``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from command_process import Run, run_process
from server_process import serving

from clawmem.app.interfaces.mcp.bridge import DRAIN_S

WRONG: list[tuple[bytes, Any, int]] = [
    (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":"x"}', 8, -32602),
    (b'{"jsonrpc":"2.0","id":"a","method":"tools/list","params":[1]}', "a", -32602),
    (b"what is this", None, -32700),
    (b'{"jsonrpc":"2.0","id":9', None, -32700),
    (b"\xff\xfe", None, -32700),
    (b'[{"jsonrpc":"2.0","id":10,"method":"ping"}]', None, -32600),
    (b'{"jsonrpc":"1.0","id":11,"method":"ping"}', 11, -32600),
    (b'{"jsonrpc":"2.0","id":12,"method":7}', 12, -32600),
    (b'{"jsonrpc":"2.0","id":[13],"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":14}', 14, -32600),
    (b'{"jsonrpc":"2.0","id":15,"method":"ping","params":{"half":"\\ud800"}}', 15, -32600),
    (b"42", None, -32600),
]
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
def test_every_line_is_answered(home: Path, environ: dict[str, str]) -> None:
    """With the error of the protocol; later messages are answered as ever, and the end does not wait."""
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = [
        json.dumps(OPENING).encode(),
        json.dumps(initialized).encode(),
        *(line for line, _, _ in WRONG),
        b'{"jsonrpc":"2.0","method":"notifications/unheard","params":"x"}',  # nobody waits for an answer to it
        json.dumps(QUESTION).encode(),
    ]
    began = monotonic()

    done = run_process("mcp", environ=environ, cwd=home, input=b"\n".join(lines) + b"\n", text=False)

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    errors = [(one["id"], one["error"]["code"]) for one in answers if "error" in one]
    assert sorted(errors, key=str) == sorted(((number, code) for _, number, code in WRONG), key=str)
    assert all(one["error"]["message"].endswith(".") for one in answers if "error" in one)
    assert "structuredContent" in next(one for one in answers if one.get("id") == 99)["result"]
    assert monotonic() - began < DRAIN_S
