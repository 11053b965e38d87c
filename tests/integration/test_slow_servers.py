"""A server that is there and does not answer: questions of the command line wait a while, and go on alone."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import Invoke
from command_process import run_process

from clawmem.app.client.request import Announcement, environment_digest, server_file
from clawmem.app.environment.places import default_vault, holder_id
from clawmem.app.version import VERSION

REFUSAL = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"  # of the request without a token
DONE_S = 15.0  # with all that a busy machine takes for a process
HASTY = (
    "from clawmem.app.client import request\n"
    "request.FIRST_S, request.ANSWER_S = 0.4, 0.8\n"
    "from clawmem.app.main import main\n"
    "main()"
)


@pytest.mark.parametrize("reply", [b"", REFUSAL], ids=["says nothing", "never answers"])
def test_a_server_that_hangs(remembered: Invoke, environ: dict[str, str], home: Path, reply: bytes) -> None:
    """The answer all the same, soon, and one line about who did not give it."""
    vault = default_vault(environ)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place, digest = os.path.realpath(vault), environment_digest(environ)
        server = Announcement(os.getpid(), holder_id(), *listener.getsockname(), VERSION, place, digest, "")
        server_file(vault, "server").write_bytes(json.dumps(server._asdict()).encode())
        threading.Thread(target=_hang, args=(listener, reply), daemon=True).start()
        began = time.monotonic()
        done = run_process("-c", HASTY, "search", "login", "sessions", environ=environ, cwd=home, timeout=60)

    assert time.monotonic() - began < DONE_S
    assert (done.returncode, "redis.md" in done.stdout) == (0, True)
    [aside] = done.stderr.splitlines()
    assert f"(process {os.getpid()}) does not answer in time" in aside
    assert "clawmem serve --status" in aside


def _hang(listener: socket.socket, reply: bytes) -> None:
    """Accept one connection, and say no more than *reply* until the other side hangs up."""
    connection, _ = listener.accept()
    with connection, suppress(OSError):
        connection.sendall(reply)
        while connection.recv(4096):
            pass
