"""
The real Claude Code client, offline: what its model gets to read, and what of a session is remembered.

Run with ``pytest -m client``. The client is the ``claude`` command, on the PATH or in the folder that ``CLAUDE_FOLDER``
names; it talks to a stand-in for the Messages API and has a home of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Timer

import pytest
from agents import AGENTS, AgentHome
from messages_api import Block, MessagesApi, Request, call, listening, text

pytestmark = pytest.mark.client

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "integrations" / "claude-code"
ASKED = "how long is a booking slot held during checkout?"
KNOWN = "From v2.2 a slot is held for **6 minutes**."
DECIDED = "We decided to use Postgres for the ticket queue because one database is enough."
DELEGATE, ERRAND, QUEUE = (
    "Let somebody else do it.",
    "Count the tent pegs.",
    "Where should the ticket queue live?",
)
SUMMARY = "The ticket queue lives in Postgres; the tests of it are still to be written."

AGENT = ("--allowedTools", "Agent")
MEMORY = ("--allowedTools", "mcp__clawmem", "mcp__plugin_clawmem_clawmem")
WAIT = "WaitForMcpServers"  # what the client offers as long as a server is being started
PATIENCE_S = 120


class World(AgentHome):
    """A home with a vault over the example notes, a client that is set up, and the model that it talks to."""

    def __init__(self, home: Path, api: MessagesApi, claude: Path) -> None:
        super().__init__(home, api, None)
        AGENTS["claude-code"].configure(self)
        self.environ["PATH"] = os.pathsep.join((str(claude.parent), self.environ["PATH"]))

    def talk(self, *prompts: str, options: Sequence[str] = ()) -> list[str]:
        """One session, prompt by prompt; what the model got to read with each."""
        command = "claude -p --verbose --input-format stream-json --output-format stream-json".split()
        with subprocess.Popen(
            [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=self.project, env=self.environ,
        ) as process:  # fmt: skip
            late = Timer(PATIENCE_S, process.kill)
            late.start()
            try:
                return [self._said(process, prompt) for prompt in prompts]
            finally:
                late.cancel()
                process.communicate(timeout=PATIENCE_S)  # ends with its input, its last hooks done

    def _said(self, process: subprocess.Popen[str], prompt: str) -> str:
        assert process.stdin and process.stdout
        before = len(self.api.requests)
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        print(json.dumps(message), file=process.stdin, flush=True)
        told = next((one for one in map(json.loads, process.stdout) if one["type"] == "result"), None)
        assert told and not told["is_error"], told
        return self.api.requests[before].said if len(self.api.requests) > before else ""

    def remembered(self) -> dict[str, str]:
        """What sessions have left in the vault: each path with its text."""
        listed = json.loads(self.clawmem("list", "--collection", "_clawmem", "--json"))["documents"]
        return {one["file"]: self.clawmem("get", one["file"]) for one in listed}


@pytest.fixture(scope="module")
def claude() -> Path:
    folders = os.pathsep.join((os.environ.get("CLAUDE_FOLDER", ""), os.environ["PATH"]))
    found = shutil.which("claude", path=folders)
    if not found:
        pytest.skip("Needs the claude command: on the PATH, or in the folder that CLAUDE_FOLDER names")
    return Path(found)


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    """What the client takes for the model."""
    with listening() as found:
        yield found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, claude: Path) -> Path:
    """A home with a vault over the example notes and nothing set up, to be copied."""
    world = World(tmp_path_factory.mktemp("filled"), MessagesApi(0), claude)
    world.prepare(ROOT / "examples" / "notes")
    return world.home


@pytest.fixture
def world(filled: Path, tmp_path: Path, api: MessagesApi, claude: Path) -> World:
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    return World(home, api, claude)


def decides(request: Request) -> Sequence[Block]:
    """The model hands one turn to a subagent, decides something in another, and summarises when it is asked to."""
    if request.results:
        return [text("Done.")]
    if DELEGATE in request.said and "Agent" in request.tools:
        return [call("Agent", description="count", prompt=ERRAND, subagent_type="general-purpose")]
    if "<summary>" in request.said:
        return [text(f"<summary>{SUMMARY}</summary>")]
    if ERRAND in request.said:
        return [text("We decided to buy forty more tent pegs because twelve are bent.")]
    return [text(DECIDED if QUEUE in request.said else "As you wish.")]


def retrieves(request: Request) -> Sequence[Block]:
    """The model asks the memory once, and waits for it as long as the client says that it is being started."""
    if any("6 minutes" in result for result in request.results):
        return [text("Done.")]
    found = [name for name in request.tools if name.endswith("__memory_retrieve")]
    if found:
        return [call(found[0], query=ASKED)]
    return [call(WAIT)] if WAIT in request.tools else [text("There is no memory.")]


def test_a_compaction(world: World) -> None:
    """What was decided is back behind it, and the summary is kept; the subagent's turns are nobody's memories."""
    world.clawmem("setup", "hooks")
    world.api.turn = decides

    world.talk(DELEGATE, QUEUE, "And the tests?", "/compact", "Where were we?", options=AGENT)

    after = world.api.requests[-1].said  # the report of the subagent is a turn of its own
    assert "<vault-postcompact>" in after
    assert "Postgres for the ticket queue" in after
    kept = world.remembered()
    [summary] = [body for path, body in kept.items() if path.endswith("-compacted.md")]
    assert SUMMARY in summary
    assert not any("tent pegs" in body for body in kept.values())
    assert not world.complaints()


def test_the_plugin(world: World) -> None:
    """The client finds nothing wrong with it; its hooks, tools and skill are there."""
    assert "Validation passed" in world.run(["claude", "plugin", "validate", str(PLUGIN)])
    world.api.turn = retrieves

    [asked] = world.talk(ASKED, options=("--plugin-dir", str(PLUGIN), *MEMORY))

    # How a block begins the instructions of the tools say as well.
    assert asked.count("</vault-context>") == 1
    assert KNOWN in asked
    assert "clawmem:remember" in asked
    assert "6 minutes" in world.api.requests[-1].results[-1]
