"""
The real OpenClaw gateway, offline: what its model gets to read, what is remembered, and the tools of the plugin.

Run with ``pytest -m client``. ``OPENCLAW_FOLDER`` names a folder in which npm installed ``openclaw``, and ``NODE_FOLDER``
the folder of a ``node`` that it accepts (24.16 or later).
"""

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

import pytest
from command_line import write_notes
from messages_api import Block, MessagesApi, Request, call, listening, text

import clawmem

pytestmark = pytest.mark.client

PLUGIN = Path(__file__).parents[2] / "integrations" / "openclaw"
PATIENCE_S = 300
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
ASKED = {
    "When does the night ferry to Gotland leave?": "21:15",
    "How high may the boiler pressure be?": "1.8 bar",
    "Which beehive has the queen from 2025?": "third beehive",
    "What does the choir rehearse on Mondays?": "Requiem",
    "Which reed does the loom need for linen?": "40 dents",
    "When was the telescope mirror coated?": "March",
    "When do the Gravenstein apples ripen?": "August",
    "At how many degrees does the kiln fire stoneware?": "1240",
}
OFF_TOPIC = (
    "Who won the football world cup in 1998?",
    "Write a limerick about a penguin.",
    "What is the capital of Mongolia?",
    "Explain how a transistor works.",
)
DECIDED = "We decided to use Postgres for the ticket queue because one database is enough."
QUEUE = "Where should the ticket queue live?"
LATER = "Which database did we choose for the ticket queue?"


class Gateway:
    """A running gateway with the plugin, a vault, and the model that it talks to."""

    def __init__(self, home: Path, api: MessagesApi, openclaw: Sequence[str]) -> None:
        self.home, self.api = home, api
        self._openclaw = openclaw
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port = listener.getsockname()[1]
        packages = [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH", "")]
        self.environ = {
            "PATH": os.pathsep.join((str(Path(openclaw[0]).parent), str(home / "bin"), os.environ["PATH"])),
            "HOME": str(home),
            "PYTHONPATH": os.pathsep.join(filter(None, packages)),
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
            while "ready" not in log.read_text("utf-8", "replace"):
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
        return self.api.requests[before:]

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
    """The command of the real OpenClaw."""
    script = Path(os.environ.get("OPENCLAW_FOLDER", "")) / "node_modules" / "openclaw" / "openclaw.mjs"
    node = shutil.which("node", path=os.environ.get("NODE_FOLDER") or os.environ["PATH"])
    if not node or not script.is_file():
        pytest.skip("Needs OpenClaw: OPENCLAW_FOLDER and NODE_FOLDER say where it is")
    return [node, str(script)]


@pytest.fixture(scope="module")
def gateway(openclaw: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway whose agent has a workspace, and whose plugin has the notes."""
    home = tmp_path_factory.mktemp("gateway")
    write_notes(home / "notes", NOTES)
    write_notes(home / "workspace", {"MEMORY.md": "The workshop key hangs behind the clock.\n"})
    binary = home / "bin" / "clawmem"
    binary.parent.mkdir()
    binary.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m clawmem "$@"\n', "utf-8")
    binary.chmod(0o755)
    with listening() as api:
        _configure(home, api.url)
        world = Gateway(home, api, openclaw)
        world.clawmem("bootstrap", str(home / "notes"))
        with world.running():
            yield world


def _configure(home: Path, url: str) -> None:
    model = {
        "id": "m",
        "name": "m",
        "contextWindow": 200_000,
        "maxTokens": 8_000,
        "input": ["text"],
        "reasoning": False,
    }
    provider = {"baseUrl": url, "apiKey": "none", "api": "anthropic-messages", "models": [model]}
    entry = {"enabled": True, "hooks": {"allowConversationAccess": True}, "config": {"tokenBudget": 600}}
    config = {
        "gateway": {"mode": "local"},
        "models": {"providers": {"mock": provider}},
        "agents": {"defaults": {"model": {"primary": "mock/m"}, "workspace": str(home / "workspace")}},
        "plugins": {
            "load": {"paths": [str(PLUGIN)]},
            "slots": {"memory": "clawmem"},
            "entries": {"clawmem": entry},
        },
    }
    write_notes(home / ".openclaw", {"openclaw.json": json.dumps(config)})


def test_notes_arrive_with_the_prompts_that_they_answer(gateway: Gateway) -> None:
    """Eight of eight, and none with four prompts about something else."""
    found = {question: gateway.say(question, "notes")[0].said for question in ASKED}
    others = [gateway.say(question, "other")[0].said for question in OFF_TOPIC]

    missed = [question for question, answer in ASKED.items() if answer not in found[question]]
    assert not missed, {question: found[question][:2000] for question in missed}
    assert all("<vault-context>" in said for said in found.values())
    assert not [said for said in others if "<vault-context>" in said]


def test_a_decision_is_known_in_the_next_session(gateway: Gateway) -> None:
    """The end of a turn captures it; another session gets it with a question about it."""
    gateway.api.turn = lambda request: [text(DECIDED if QUEUE in request.said else "Fine.")]
    gateway.say(QUEUE, "first")

    [asked, *_] = gateway.say(LATER, "second")

    assert "<vault-context>" in asked.said and "Postgres" in asked.said


def test_the_tools_answer(gateway: Gateway) -> None:
    """They are offered at once, and a call returns the note."""

    def turn(request: Request) -> Sequence[Block]:
        if request.results:
            return [text("Found.")]
        return [call("memory_search", query="kiln stoneware degrees", maxResults=2)]

    gateway.api.turn = turn
    first, second = gateway.say("Look it up, please: the kiln.", "tools")[:2]

    assert {"memory_search", "memory_get", "clawmem_search"} <= set(first.tools)
    assert "1240 degrees" in second.results[0] and "kiln.md" in second.results[0]


def test_a_compaction_saves_the_state(gateway: Gateway) -> None:
    """OpenClaw reports the hooks of the plugin, and one of them runs before the compaction."""
    report = json.loads(gateway.run("plugins", "inspect", "clawmem", "--runtime", "--json"))

    gateway.run("sessions", "compact", "agent:main:first")

    assert "memory_search" in json.dumps(report) and "before_compaction" in json.dumps(report)
    [state] = gateway.home.rglob("precompact-state.md")
    assert "Postgres" in state.read_text("utf-8")
