"""Embedding waits for a slow or busy server as nobody waits for an answer: a minute each, five tries, what it asks for."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from command_line import Invoke
from fault_worlds import World
from scripted_server import ReceivedRequest, ScriptedReply, ScriptedServer, scripted, well_behaved

from clawmem.adapters.models.api import ApiEmbedder

QUESTION_S = 0.4  # instead of three seconds
SLOW_S, HANGS_S = 1.2, 10.0
MODEL_FAILED = 6
NOTES = {f"{animal}.md": f"# The {animal}\n\nThe {animal} grazes.\n" for animal in ("ibex", "yak", "gnu")}


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which are noted instead of waited."""
    waits: list[float] = []
    monkeypatch.setitem(ApiEmbedder.at.__kwdefaults__ or {}, "sleep", waits.append)
    monkeypatch.setitem(ApiEmbedder.__init__.__kwdefaults__ or {}, "query_timeout_s", QUESTION_S)
    return waits


@pytest.fixture
def server(
    world: World, slept: list[float], invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ScriptedServer]:
    """A server, notes that wait for its vectors, and a command line that is told of it."""
    for name, text in NOTES.items():
        world.write(name, text)
    world.update()
    with scripted(well_behaved) as server:
        monkeypatch.setenv("CLAWMEM_EMBED_URL", server.url)
        yield server


def counts(invoke: Invoke) -> dict[str, Any]:
    """How many texts have a vector, and how many wait for one."""
    return json.loads(invoke("--json", "status").stdout)["embeddings"]


@pytest.mark.parametrize("verb", [("update", "--embed")], ids=" ".join)
def test_a_slow_first_answer(invoke: Invoke, server: ScriptedServer, verb: tuple[str, ...]) -> None:
    """A server that loads its model first is waited for, longer than any question is; a question is not."""
    slow = iter([SLOW_S, SLOW_S])
    server.answer = lambda asked: replace(well_behaved(asked), wait_s=next(slow, 0.0))

    done = invoke(*verb)

    assert done.exit_code == 0, done.output
    assert counts(invoke)["pending"] == 0
    server.answer = lambda asked: replace(well_behaved(asked), wait_s=HANGS_S)
    began = time.monotonic()
    asked = invoke("query", "ibex")
    assert time.monotonic() - began < HANGS_S
    assert "ibex.md" in asked.stdout
    assert "degraded: vector" in asked.stderr


def test_it_stays_busy(
    invoke: Invoke, server: ScriptedServer, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five refusals the run ends and says what to do; what was made is kept, and the next run goes on."""
    monkeypatch.setattr("clawmem.app.services.indexing.embed.BATCH", 2)
    before = counts(invoke)
    left = [2]  # the probe, and the first batch

    def until_then(asked: ReceivedRequest) -> ScriptedReply:
        if asked.body is None:
            return well_behaved(asked)
        left[0] -= 1
        return well_behaved(asked) if left[0] >= 0 else ScriptedReply(b"", 429)

    server.answer = until_then
    done = invoke("embed")

    assert done.exit_code == MODEL_FAILED
    assert "HTTP 429. Check" in done.output
    assert re.search(r"What was made is kept\. .*run: clawmem embed", done.output)
    assert len(slept) == 4
    after = counts(invoke)
    assert (after["stored"], after["pending"], after["failed"]) == (2, before["pending"] - 2, 0)
    assert invoke("doctor", "--verify").exit_code == 0

    server.answer = well_behaved
    texts = len(server.questions())
    assert invoke("embed").exit_code == 0
    sent = [text for body in server.questions()[texts:] for text in body["input"]]
    assert counts(invoke)["pending"] == 0
    assert len([text for text in sent if "zlib" not in text]) == before["pending"] - 2
