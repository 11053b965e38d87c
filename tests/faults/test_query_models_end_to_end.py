"""A reranker and a generator that go wrong, seen from ``clawmem query``: the answer in time, and nothing wrong kept."""

from __future__ import annotations

import gc
import json
import math
import time
from collections.abc import Iterator
from threading import enumerate as enumerate_threads
from typing import NamedTuple

import pytest
from bad_servers import EVERYWHERE
from command_line import Invoke
from fault_worlds import World
from scripted_server import Answer, ScriptedServer, scoring, scripted, well_behaved, writing
from wired import answers_by_purpose

from clawmem.adapters.models import api
from clawmem.app.services.retrieval.models import (
    EXPANSION,
    PURPOSE,
    RERANKER,
    expansion_stage,
    reranking_stages,
)

TIMEOUT_S = 0.6
SLACK_S = 15.0  # a command has more to do than to ask, and the machine may be busy
QUESTION = "which beast lives in the mountains or on the plain"

NOTES = {
    "zebra.md": "# Zebra\n\nStripes of the plain, and the plain lies before the mountains.\n",
    "yak.md": "# Yak\n\nA yak of the mountains.\n",
    "gnu.md": "# Gnu\n\nHerd animals of the plain, gnu after gnu.\n",
    "ship.md": "# Ship\n\nIt lies in the harbour.\n",
}

GOOD_RERANKER = scoring(lambda texts: [6.0 if "gnu" in text else -6.0 for text in texts])
GOOD_GENERATOR = writing("lex: beast harbour ship\n")


class Helper(NamedTuple):
    """A role that a server may play in ``query``: how it is named to a person, to the settings and to the vault."""

    leg: str
    variable: str
    purpose: str
    good: Answer
    bad: Answer


RERANKS = Helper(
    RERANKER, "CLAWMEM_RERANK_URL", PURPOSE, GOOD_RERANKER, scoring(lambda texts: [math.nan] * len(texts))
)
WRITES = Helper(EXPANSION, "CLAWMEM_LLM_URL", EXPANSION, GOOD_GENERATOR, writing("Certainly! I can help."))
HELPERS = (RERANKS, WRITES)
# `test_model_servers.py` tests the error of each fault; here is one for each kind of error.
ERRORS = ("slow", "500", "401", "HTML")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server; nobody waits for it for long."""
    # The command line has no way to say how long.
    monkeypatch.setitem(reranking_stages.__kwdefaults__ or {}, "deadline_s", TIMEOUT_S)
    monkeypatch.setitem(expansion_stage.__kwdefaults__ or {}, "deadline_s", TIMEOUT_S)
    monkeypatch.setattr(api, "NAMING_TIMEOUT_S", TIMEOUT_S)
    with scripted(well_behaved) as server:
        yield server
        let_requests_end()
        gc.collect()  # a connection that they left open is this test's failure


@pytest.fixture
def command(world: World, invoke: Invoke) -> Invoke:
    """The command line over a few notes with vectors."""
    for name, text in NOTES.items():
        world.write(name, text)
    world.update()
    assert invoke("embed").exit_code == 0
    return invoke


def let_requests_end() -> None:
    """Wait for requests that were left to themselves: none may meet a server in another mood than it asked."""
    for thread in enumerate_threads():
        if thread.name == "model-request":
            thread.join(2 * TIMEOUT_S)


class QueryOutput(NamedTuple):
    """What ``query`` said."""

    files: list[str]
    scores: list[float]
    degraded: dict[str, str]
    stderr: str
    seconds: float


def ask(command: Invoke, question: str = QUESTION) -> QueryOutput:
    began = time.monotonic()
    result = command("--json", "query", question, "--explain")
    took = time.monotonic() - began
    let_requests_end()
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    results = answer["results"]
    return QueryOutput(
        [one["file"].rpartition("/")[2] for one in results],
        [one["score"] for one in results],
        answer["trace"]["degraded"],
        result.stderr,
        took,
    )


def kept(world: World) -> dict[str, int]:
    """How many answers of models are remembered, by what they are for."""
    return answers_by_purpose(world.vault)


@pytest.mark.parametrize("helper", HELPERS, ids=[helper.leg for helper in HELPERS])
def test_every_kind_of_error(
    command: Invoke,
    server: ScriptedServer,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    helper: Helper,
) -> None:
    """The answer is in time the one without the model, says so, and keeps nothing; a good server then helps."""
    alone = ask(command)
    monkeypatch.setenv(helper.variable, server.url)
    for bad in (*(EVERYWHERE[name][0] for name in ERRORS), helper.bad):
        server.answer = bad

        told = ask(command)

        assert told.seconds < TIMEOUT_S + SLACK_S
        assert (told.files, told.scores) == (alone.files, alone.scores)
        assert told.degraded.keys() == {helper.leg}
        assert told.stderr.startswith(f"degraded: {helper.leg}: ")
        assert kept(world) == {}

    server.answer = helper.good
    helped = ask(command)
    assert helped.degraded == {}
    assert (helped.files, helped.scores) != (alone.files, alone.scores)
    assert kept(world).keys() == {helper.purpose}
