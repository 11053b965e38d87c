"""How much memory a server takes: what 10 000 notes add to it is measured in ``tools/bench/server.py``."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rest_world import World, world_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# After some hundred questions a server takes 157 to 160 MB; the bound adds a tenth.
MOST_MB = 175
ASKED = 60
DEAR = {"bindings/_rust.abi3": "a part of the tools' library, which takes 27 MB and which nobody asked for"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server that was asked something else each time, at every door but that of the tools."""
    with world_at(tmp_path_factory.mktemp("memory") / "home", fresh=True) as one:
        for question in questions(ASKED):
            assert one.post("/search", query=question, mode="keyword")[0] == 200
            assert one.post("/query", query=question)[0] == 200
            assert one.post("/hooks/context-surfacing", prompt=question, session_id=question)[0] == 200
        yield one


def questions(number: int) -> Iterator[str]:
    """*number* different ones, of words that there are and of words that there are not."""
    dice = random.Random(7)
    known = "login sessions live in Redis until one database is enough for Haruka and her machines".split()
    for n in range(number):
        made = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=9))
        yield f"where do {' '.join(dice.sample(known, 4))} go with {made} in {1900 + n}?"


def test_it_stays_below_its_bound(world: World) -> None:
    """Threads that each had a connection of their own would take it beyond; the service sets the variables of the heap."""
    lines = Path(f"/proc/{world.server.process.pid}/status").read_text().splitlines()
    [kilobytes] = (line.split()[1] for line in lines if line.startswith("VmRSS"))

    assert int(kilobytes) / 1024 <= MOST_MB


@pytest.mark.parametrize("library", DEAR)
def test_what_nobody_needs_is_not_loaded(world: World, library: str) -> None:
    """Neither to read questions nor to be ready for what may come."""
    assert library not in Path(f"/proc/{world.server.process.pid}/maps").read_text(), DEAR[library]
