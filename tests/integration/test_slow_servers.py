"""A server that is there and does not answer: questions of the command line wait a while, and go on alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_process import run_process

from clawmem.app.client.request import Announcement, environment_digest, server_file
from clawmem.app.environment.places import default_vault, holder_id
from clawmem.app.version import VERSION

Invoke = Callable[..., object]
Behave = Callable[[socket.socket], None]

REFUSAL = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"  # of the request without a token
FIRST_S, ANSWER_S = 0.4, 0.8
DONE_S = 15.0  # with all that a busy machine takes for a process


def says_nothing(connection: socket.socket) -> None:
    connection.recv(1)
    _until_hung_up(connection)


def never_answers(connection: socket.socket) -> None:
    """It wants the question, and does nothing with it."""
    connection.sendall(REFUSAL)
    _until_hung_up(connection)


SLOW = (says_nothing, never_answers)


@pytest.fixture
def ask(
    remembered: Invoke, environ: dict[str, str], home: Path
) -> Iterator[Callable[[Behave], CommandOutcome]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        vault = default_vault(environ)
        host, port = listener.getsockname()
        server = Announcement(
            os.getpid(), holder_id(), host, port, VERSION, os.path.realpath(vault),
            environment_digest(environ),
        )  # fmt: skip
        server_file(vault, "server").write_bytes(json.dumps(server._asdict()).encode())
        yield lambda behave: _asked(listener, behave, environ, home)


class CommandOutcome:
    """What came of a question."""

    def __init__(self, done: subprocess.CompletedProcess[str], took_s: float) -> None:
        self.found = "redis.md" in done.stdout
        self.code = done.returncode
        self.aside = done.stderr.splitlines()
        self.took_s = took_s


@pytest.mark.parametrize("behave", SLOW)
def test_a_server_that_hangs(ask: Callable[[Behave], CommandOutcome], behave: Behave) -> None:
    """The answer all the same, soon, and one line about who did not give it."""
    asked = ask(behave)

    assert (asked.found, asked.code) == (True, 0)
    assert len(asked.aside) == 1
    assert f"(process {os.getpid()}) does not answer in time" in asked.aside[0]
    assert "clawmem serve --status" in asked.aside[0]
    assert asked.took_s < DONE_S


def _asked(listener: socket.socket, behave: Behave, environ: dict[str, str], home: Path) -> CommandOutcome:
    threading.Thread(target=_serve, args=(listener, behave), daemon=True).start()
    code = (
        "from clawmem.app.client import request\n"
        f"request.FIRST_S, request.ANSWER_S = {FIRST_S}, {ANSWER_S}\n"
        "from clawmem.app.main import main\n"
        "main()"
    )
    began = time.monotonic()
    done = run_process("-c", code, "search", "login", "sessions", environ=environ, cwd=home, timeout=60)
    return CommandOutcome(done, time.monotonic() - began)


def _serve(listener: socket.socket, behave: Behave) -> None:
    connection, _ = listener.accept()
    with connection:
        try:
            behave(connection)
        except OSError:  # the other side had enough
            return


def _until_hung_up(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass
