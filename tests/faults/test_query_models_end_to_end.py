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
BAD_RERANKER = scoring(lambda texts: [math.nan] * len(texts))
BAD_GENERATOR = writing("Certainly! I can help.")

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

    results: list[tuple[str, float]]
    degraded: dict[str, str]
    stderr: str


def ask(command: Invoke) -> QueryOutput:
    began = time.monotonic()
    result = command("--json", "query", QUESTION, "--explain")
    assert time.monotonic() - began < TIMEOUT_S + SLACK_S
    let_requests_end()
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    found = [(one["file"], one["score"]) for one in answer["results"]]
    return QueryOutput(found, answer["trace"]["degraded"], result.stderr)


@pytest.mark.parametrize(
    ("leg", "role", "purpose", "good", "wrong"),
    [
        (RERANKER, "RERANK", PURPOSE, GOOD_RERANKER, BAD_RERANKER),
        (EXPANSION, "LLM", EXPANSION, GOOD_GENERATOR, BAD_GENERATOR),
    ],
    ids=[RERANKER, EXPANSION],
)
def test_every_kind_of_error(
    command: Invoke,
    server: ScriptedServer,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    leg: str,
    role: str,
    purpose: str,
    good: Answer,
    wrong: Answer,
) -> None:
    """The answer is in time the one without the model, says so, and keeps nothing; a good server then helps."""
    alone = ask(command)
    monkeypatch.setenv(f"CLAWMEM_{role}_URL", server.url)
    for bad in (*(EVERYWHERE[name][0] for name in ERRORS), wrong):
        server.answer = bad

        told = ask(command)

        assert told.results == alone.results
        assert told.degraded.keys() == {leg}
        assert told.stderr.startswith(f"degraded: {leg}: ")
        assert answers_by_purpose(world.vault) == {}

    server.answer = good
    helped = ask(command)
    assert helped.degraded == {}
    assert helped.results != alone.results
    assert answers_by_purpose(world.vault).keys() == {purpose}
