"""Hooks whose model servers take a question and never say anything: what can be done without them is done in time."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hook_process import KNOWN, ONCE, QUESTION, Client
from scripted_server import scripted, well_behaved


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


@pytest.mark.slow
def test_a_generator_that_hangs(client: Client, mute: str) -> None:
    """Rules do the work when the time for models is over, and all three Stop hooks answer before the client goes."""
    done = client.stop(CLAWMEM_LLM_URL=mute)

    assert {one.log for one in done} == {""}
    assert client.memories() == ONCE
    assert client.waiting() == []
