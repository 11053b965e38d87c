"""A server that strangers crowd: connections that say nothing, and bodies that say too much."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from rest_world import World, world_at

QUICKLY_S = 5.0
CROWD = 300


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One server for all of them."""
    with world_at(tmp_path_factory.mktemp("load") / "home") as one:
        yield one


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: ",
        b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{",
    ],
    ids=["silent", "half a head", "half a body"],
)
def test_a_crowd_that_says_nothing(world: World, begun: bytes) -> None:
    """Whoever asks is answered at once, however many others keep a connection and do not say what they want."""
    with ExitStack() as crowd:
        for _ in range(CROWD):
            line = crowd.enter_context(socket.create_connection(("127.0.0.1", world.server.port), timeout=5))
            line.sendall(begun)
        time.sleep(0.2)
        began = time.monotonic()
        assert [world.post("/search", query="login sessions redis")[0] for _ in range(5)] == [200] * 5
        assert time.monotonic() - began < QUICKLY_S
