"""Model servers that go wrong, seen from the command line: an answer in time that says what it lacks, and no harm done."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from bad_servers import BAD_VECTORS, EVERYWHERE
from command_line import Invoke
from fault_worlds import World
from scripted_server import Answer, ScriptedServer, scripted, well_behaved
from typer.testing import Result

from clawmem.adapters.models import server as model_server
from clawmem.adapters.models.api import ApiEmbedder
from clawmem.adapters.system.clock import SystemClock

TIMEOUT_S = 0.6
SLACK_S = 15.0  # a command has more to do than to ask, and the machine may be busy
MODEL_FAILED = 6

NOTES = {
    "zebra.md": "# Zebra\n\nStripes of the plain.\n",
    "yak.md": "# Yak\n\nA yak of the mountains.\n",
    "gnu.md": "# Gnu\n\nHerd animals, gnu after gnu.\n",
}
LATER = {
    "ibex.md": "# Ibex\n\nAn ibex on the wall of the dam.\n",
    "moose.md": "# Moose\n\nA moose in the lake.\n",
    "eland.md": "# Eland\n\nElands leap over fences.\n",
}

# `test_model_servers.py` tests the error of each fault; here is one for each kind of error.
FAULTS = ("slow", "500", "401", "HTML", "NaN", "one too few")


def fault(name: str) -> Answer:
    return {**EVERYWHERE, **BAD_VECTORS}[name][0]


@pytest.fixture
def server(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server that is still well behaved; the vault holds its vectors of some notes, others wait for theirs."""
    # Nobody waits for a minute in a test; the command line has no way to say so.
    monkeypatch.setitem(ApiEmbedder.__init__.__kwdefaults__ or {}, "query_timeout_s", TIMEOUT_S)
    monkeypatch.setitem(ApiEmbedder.__init__.__kwdefaults__ or {}, "batch_timeout_s", TIMEOUT_S)
    monkeypatch.setattr(model_server, "TRIES", 3)
    monkeypatch.setattr(model_server, "FIRST_WAIT_S", 0.025)
    monkeypatch.setattr(model_server, "LONGEST_ASKED_S", 0.1)
    with scripted(well_behaved) as server:
        for name, text in NOTES.items():
            world.write(name, text)
        world.update()
        with closing(ApiEmbedder.at(server.url, SystemClock())) as good:
            world.embedder = good
            assert world.embed().failed == 0
        for name, text in LATER.items():
            world.write(name, text)
        world.update()
        yield server


@pytest.fixture
def command(server: ScriptedServer, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """The command line, which is told of the server."""
    monkeypatch.setenv("CLAWMEM_EMBED_URL", server.url)
    return invoke


def stored(world: World) -> list[Any]:
    return world.vault.storage.db.rows("select space, hash from texts order by 1, 2")


def timed(command: Invoke, *args: object) -> tuple[Result, float]:
    """What a command says, and how long it took."""
    began = time.monotonic()
    return command(*args), time.monotonic() - began


@pytest.mark.parametrize("name", FAULTS)
def test_every_kind_of_error(command: Invoke, server: ScriptedServer, world: World, name: str) -> None:
    """Words answer in time and say what was missing; no vector changes; a good server then completes them."""
    before = stored(world)
    server.answer = fault(name)

    asked, asked_s = timed(command, "--json", "query", "ibex on the dam", "--explain")
    embedded, embedded_s = timed(command, "embed")

    answer = json.loads(asked.stdout)
    assert asked_s < TIMEOUT_S + SLACK_S
    assert answer["results"][0]["file"].endswith("ibex.md")
    assert answer["trace"]["degraded"]["vector"]
    assert asked.stderr.startswith("degraded: vector: ")
    assert embedded_s < 6 * TIMEOUT_S + SLACK_S  # a text is tried three times, after its name was asked for
    assert embedded.exit_code in (0, MODEL_FAILED)
    assert embedded.stderr if embedded.exit_code and not embedded.stdout else "0 made" in embedded.stdout
    assert stored(world) == before
    assert command("doctor", "--verify").exit_code == 0

    server.answer = well_behaved
    assert command("embed", "--force").exit_code == 0
    counts = json.loads(command("--json", "status").stdout)["embeddings"]
    assert (counts["pending"], counts["failed"]) == (0, 0)
    assert counts["stored"] > len(before)


def test_a_password_stays_with_its_server(
    command: Invoke, server: ScriptedServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address with a password in it is told and kept without, by whatever command and whatever goes wrong."""
    for role in ("EMBED", "LLM", "RERANK"):
        monkeypatch.setenv(f"CLAWMEM_{role}_URL", server.url.replace("//", "//me:hunter2@"))
    server.answer = fault("401")
    asked = command("--json", "query", "ibex on the dam", "--explain")
    others = [command(*words) for words in (["embed"], ["--json", "status"], ["doctor"])]
    monkeypatch.setenv("CLAWMEM_EMBED_URL", "http://me:hunter2@localhost:port")
    told = [one.stdout + one.stderr for one in (asked, *others, command("query", "ibex on the dam"))]

    assert {"expansion", "vector", "reranker"} <= json.loads(asked.stdout)["trace"]["degraded"].keys()
    assert [text for text in told[:-1] if server.url not in text] == []
    assert "CLAWMEM_EMBED_URL: is no address" in told[-1]
    assert "hunter2" not in "".join(told)
    kept = [path.read_bytes() for path in world.vault_file.parent.rglob("*") if path.is_file()]
    assert kept and not [data for data in kept if b"hunter2" in data]
