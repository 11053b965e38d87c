"""``clawmem serve`` as a person runs it: a process of its own over a vault of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from command_process import start_process


class Heard(NamedTuple):
    """An answer, whole."""

    status: int
    headers: dict[str, str]
    body: bytes


class ServerProcess(NamedTuple):
    """A server that answers, and where."""

    process: subprocess.Popen[str]
    port: int
    token: str
    log: Path  # a file: what nobody reads from a pipe would fill it, and stop the server

    def ask(self, method: str, path: str, body: Any = None, **headers: str | None) -> Heard:
        """One request; a header that is ``None`` is left out, underscores in names are dashes."""
        usual = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}"}
        usual |= {"Content-Type": "application/json"} if method == "POST" else {}
        said = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True)
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        for name, value in ({"Content-Length": str(len(content))} | said).items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(content)
        answer = connection.getresponse()
        heard = Heard(answer.status, dict(answer.getheaders()), answer.read())
        connection.close()
        return heard

    def end(self) -> int:
        """Tell it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@contextmanager
def serving(
    environ: dict[str, str], home: Path, *options: str, fresh: bool = False
) -> Iterator[ServerProcess]:
    """A server, from its first word on; ended in any case. *fresh* as for `start_process`."""
    started = ("serve", "--json", *(options or ("--port", "0")))
    pipes = {"stdout": subprocess.PIPE, "text": True, "fresh": fresh}
    with NamedTemporaryFile() as log, start_process(
        *started, environ=environ, stderr=log, cwd=home, **pipes
    ) as process:  # fmt: skip
        try:
            assert process.stdout
            said = process.stdout.read(1)
            assert said, Path(log.name).read_text()
            told = json.loads(said + _rest_of_object(process))
            token = Path(f"{told['vault']}.token")
            port = int(told["url"].rpartition(":")[2])
            secret = token.read_text().strip() if token.exists() else ""
            yield ServerProcess(process, port, secret, Path(log.name))
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.kill()


def _rest_of_object(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.rstrip() == "}":
            break
    return "".join(lines)
