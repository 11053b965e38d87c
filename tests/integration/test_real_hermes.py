"""
The real Hermes agent, offline: what its model gets to read, what is remembered, and the tools of the provider.

Run with ``pytest -m client``. ``HERMES_FOLDER`` names the environment in which pip installed ``hermes-agent``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from client_notes import ASKED, DECIDED, LATER, NOTES, OFF_TOPIC, QUEUE, write_program
from command_line import write_notes
from messages_api import Block, MessagesApi, Request, call, listening, text
from server_process import serving

import clawmem

pytestmark = pytest.mark.client

PLUGIN = Path(__file__).parents[2] / "integrations" / "hermes" / "clawmem"
PATIENCE_S = 300
CONFIG = """\
model:
  default: mock
  provider: custom
  base_url: {url}/v1
  api_key: none
memory:
  provider: clawmem
"""


class Hermes:
    """An agent with the provider, a vault, and the model that it talks to."""

    def __init__(self, home: Path, api: MessagesApi, hermes: str) -> None:
        self.home, self.api, self._hermes = home, api, hermes
        packages = [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH", "")]
        self.environ = {
            "PATH": os.pathsep.join((str(home / "bin"), str(Path(hermes).parent), os.environ["PATH"])),
            "HOME": str(home),
            "HERMES_HOME": str(home / ".hermes"),
            "NO_PROXY": "127.0.0.1",
        }
        self.ours = {**self.environ, "PYTHONPATH": os.pathsep.join(filter(None, packages))}

    def say(self, prompt: str) -> list[Request]:
        """Let a user say *prompt* in a new session; return the requests that the model got."""
        before = len(self.api.requests)
        self._output([self._hermes, "chat", "-Q", "-q", prompt], self.environ)
        return self.api.requests[before:]

    def run(self, *words: str) -> str:
        """What a command of Hermes prints that has to go well."""
        return self._output([self._hermes, *words], self.environ)

    def clawmem(self, *words: str) -> str:
        """What a command of ours prints."""
        return self._output([sys.executable, "-P", "-m", "clawmem", *words], self.ours)

    def _output(self, command: Sequence[str], environ: dict[str, str]) -> str:
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            cwd=self.home, env=environ, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hermes]:
    """An agent whose provider has the notes."""
    command = shutil.which("hermes", path=str(Path(os.environ.get("HERMES_FOLDER", "")) / "bin"))
    if not command:
        pytest.skip("Needs Hermes: HERMES_FOLDER says where it is")
    home = tmp_path_factory.mktemp("hermes")
    write_notes(home / "notes", NOTES)
    write_program(home / "bin" / "clawmem")
    shutil.copytree(PLUGIN, home / ".hermes" / "plugins" / "clawmem")
    with listening() as api:
        write_notes(home / ".hermes", {"config.yaml": CONFIG.format(url=api.url)})
        world = Hermes(home, api, command)
        world.clawmem("bootstrap", str(home / "notes"))
        with serving(world.ours, home):
            yield world


def test_hermes_finds_the_provider(hermes: Hermes) -> None:
    """By its folder alone."""
    assert "available" in hermes.run("memory", "status")


def test_notes_arrive_with_the_prompts_that_they_answer(hermes: Hermes) -> None:
    """Eight of eight, and none with four prompts about something else."""
    found = {question: hermes.say(question)[0].said for question in ASKED}
    others = [hermes.say(question)[0].said for question in OFF_TOPIC]

    assert not [question for question, answer in ASKED.items() if answer not in found[question]]
    assert not [said for said in others if "<vault-context>" in said]


def test_a_decision_is_known_in_the_next_session(hermes: Hermes) -> None:
    """The end of a turn captures it; another session gets it with a question about it."""
    hermes.api.turn = lambda request: [text(DECIDED if QUEUE in request.said else "Fine.")]
    hermes.say(QUEUE)

    [asked, *_] = hermes.say(LATER)

    assert "<vault-context>" in asked.said and "Postgres" in asked.said


def test_the_tools_answer(hermes: Hermes) -> None:
    """A call returns the note."""

    def turn(request: Request) -> Sequence[Block]:
        return (
            [text("Found.")]
            if request.results
            else [call("clawmem_retrieve", query="kiln stoneware degrees")]
        )

    hermes.api.turn = turn
    first, second = hermes.say("Look it up, please: the kiln.")[:2]

    assert {"clawmem_retrieve", "clawmem_get"} <= set(first.tools)
    assert "1240" in second.results[0] and "kiln.md" in second.results[0]
