"""Hooks whose model servers take a question and never say anything: what can be done without them is done in time."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from time import monotonic

import pytest
from hook_process import KNOWN, ONCE, QUESTION, Client
from scripted_server import scripted, well_behaved

from clawmem.app.interfaces.hooks.capture import drained
from clawmem.app.interfaces.hooks.spool import Job, Spool


@pytest.fixture
def mute() -> Iterator[str]:
    """The address of a server that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_an_embedder_that_hangs(client: Client, mute: str) -> None:
    """Words alone find the note, whichever profile is chosen, and the turn is written down."""
    client.vault.unlink()
    with scripted(well_behaved) as server:
        client.run("update", "--embed", environ={"CLAWMEM_EMBED_URL": server.url})
    asking = [
        client.start(
            "context-surfacing",
            prompt=QUESTION,
            session_id=profile,
            environ={"CLAWMEM_EMBED_URL": mute, "CLAWMEM_PROFILE": profile},
        )
        for profile in ("speed", "balanced", "deep")
    ]

    assert all(KNOWN in running.answer().context for running in asking)
    assert {turn.session_id for turn in client.turns()} == {"speed", "balanced", "deep"}


def test_an_embedder_that_hangs_is_left_alone(client: Client) -> None:
    """The second prompt does not ask it, and knows why; the note is found by words both times."""
    client.vault.unlink()
    with scripted(well_behaved) as server:
        client.run("update", "--embed", environ={"CLAWMEM_EMBED_URL": server.url})
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        listening.setblocking(False)
        environ = {"CLAWMEM_EMBED_URL": f"http://127.0.0.1:{listening.getsockname()[1]}"}

        def ask(session: str) -> int:
            running = client.start("context-surfacing", prompt=QUESTION, session_id=session, environ=environ)
            assert KNOWN in running.answer().context
            return connections(listening)

        assert (ask("first") > 0, ask("second")) == (True, 0)
    assert [turn.degraded for turn in client.turns()] == [("vector",), ("vector",)]


def connections(listening: socket.socket) -> int:
    """How many were made since one looked."""
    made: list[socket.socket] = []
    while True:
        try:
            made.append(listening.accept()[0])
        except BlockingIOError:
            return sum(1 for connection in made if connection.close() is None)


@pytest.mark.slow
def test_a_generator_that_hangs(client: Client, mute: str) -> None:
    """Rules do the work when the time for models is over, and all three Stop hooks answer before the client goes."""
    done = client.stop(CLAWMEM_LLM_URL=mute)

    assert {one.log for one in done} == {""}
    assert client.memories() == ONCE
    assert client.waiting() == []


def test_a_generator_that_hangs_for_a_moment(
    client: Client, mute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with two seconds instead of twenty: one budget for all that waits."""
    monkeypatch.setenv("HOME", str(client.home))
    spool = Spool(client.vault)
    for name in ("decision-extractor", "handoff-generator"):
        spool.put(Job(name, {key: client.event(name)[key] for key in ("session_id", "transcript_path")}))
    began = monotonic()

    assert drained(client.vault, spool, {**client.environ, "CLAWMEM_LLM_URL": mute}, seconds=2) == []
    assert monotonic() - began < 20
    assert client.memories() == ONCE
    assert client.waiting() == []
