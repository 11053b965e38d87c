"""
The real agents, offline: what the model of each reads and what of a session is remembered, from setup to removal.

Run with ``make clients``, which installs them into the folder that ``AGENTS_FOLDER`` names. An agent that is not installed is
skipped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from agents import AGENTS, AgentHome, RealAgent, program_of
from messages_api import Block, Request, call, listening, text

pytestmark = pytest.mark.client

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ["AGENTS_FOLDER"]) if os.environ.get("AGENTS_FOLDER") else None
# Prompts about the example notes, each with words of the note that answers it.
ON_TOPIC = (
    ("how long is a booking slot held during checkout?", "6 minutes"),
    ("why did we shorten the slot hold?", "slot"),
    ("which payment provider do we use?", "ayment"),
    ("who designed the countdown on the checkout page?", "Priya"),
    ("what did Haruka time when people booked?", "Haruka"),
    ("how often does the sweep delete expired holds?", "sweep"),
    ("what do we do when a membership charge fails?", "charge"),
    ("what happened on the Monday after the clocks changed?", "clocks"),
)
OFF_TOPIC = (
    "who won the football world cup?",
    "how do I cook rice without a lid?",
    "what is the capital of Mongolia?",
    "which planet has the most moons?",
)
QUEUE, DECIDED = (
    "Where should the ticket queue live?",
    "We decided to use Postgres for the ticket queue because one database is enough.",
)
SEARCH, LATER = "Look into the memory, please.", "which database did we choose for the ticket queue?"
BLOCK = "</vault-context"
PATIENCE_S = 60
WAIT, MOST_CALLS = "WaitForMcpServers", 3  # offered by Claude Code as long as a server is being started


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> RealAgent:
    found = AGENTS[request.param]
    if not program_of(found, FOLDER):
        pytest.skip(f"Needs {found.program}: make clients installs it")
    return found


@pytest.fixture
def home(agent: RealAgent, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentHome]:
    """A home in which the agent is configured for a model, and connected to nothing."""
    with listening() as api:
        made = AgentHome(tmp_path / "home", api, FOLDER)
        made.prepare(ROOT / "examples" / "notes")
        agent.configure(made)
        yield made


def turn(request: Request) -> Sequence[Block]:
    """The model decides something when it is asked to, and searches the memory when it is told to."""
    tools = [
        name
        for name in request.tools
        if name.endswith(("memory_retrieve", "clawmem_retrieve", "memory_search"))
    ]
    if any(SEARCH in str(message["content"]) for message in request.body["messages"]):
        if any("6 minutes" in one for one in request.results) or len(request.results) > MOST_CALLS:
            return [text("Done.")]
        if tools:
            return [call(tools[0], query=ON_TOPIC[0][0])]
        if WAIT in request.tools:
            return [call(WAIT)]
    return [text(DECIDED if QUEUE in request.said else "As you wish.")]


def test_from_setup_to_removal(agent: RealAgent, home: AgentHome, request: pytest.FixtureRequest) -> None:
    """Context for 8 of 8 prompts, none for 4 of 4 others, a decision in the next session, a tool, and no trace left."""
    name = next(one for one, known in AGENTS.items() if known is agent)
    home.api.turn = turn

    def ask(prompt: str) -> Request:
        before = len(home.api.requests)
        home.run(agent.command(prompt))
        return next(one for one in home.api.requests[before:] if prompt in one.said)

    before = home.files()
    home.clawmem("setup", name, "--yes")
    home.clawmem("setup", name, "--remove")
    assert home.files() == before
    home.clawmem("setup", name, "--yes")
    assert json.loads(home.clawmem("setup", "--check", "--json"))["ok"]

    missing = [prompt for prompt, words in ON_TOPIC if words not in _block(ask(prompt))]
    disturbed = [prompt for prompt in OFF_TOPIC if _block(ask(prompt))]
    ask(QUEUE)
    _wait(lambda: "Postgres for the ticket queue" in home.clawmem("list"))
    later = _block(ask(LATER))
    ask(SEARCH)
    found = "\n".join(one for request in home.api.requests for one in request.results)

    assert (missing, disturbed) == ([], [])
    assert "Postgres" in later
    assert "6 minutes" in found
    assert not home.complaints()
    home.clawmem("setup", name, "--remove")
    assert not [file for file, content in home.files().items() if b"clawmem" in content]


def _block(request: Request) -> str:
    """Return the context of a prompt; empty if it has none. Gemini CLI escapes the angle brackets."""
    said = request.said.replace("&lt;", "<").replace("&gt;", ">")
    begin = said.rfind("<vault-context>\n", 0, said.rfind(BLOCK) + 1)
    return said[begin:] if BLOCK in said and begin >= 0 else ""


def _wait(is_done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_done():
        assert time.monotonic() < end
        time.sleep(1)
