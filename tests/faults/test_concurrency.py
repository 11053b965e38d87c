"""Several processes at one vault: nobody is turned away, nothing is doubled or lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from fault_worlds import World
from programs import finish, start_program, wait_until_ready

SECONDS = 0.6
NOTES = 40


def test_four_updaters_and_two_searchers(
    world: World, worlds: Callable[..., World], environ: dict[str, str]
) -> None:
    """While notes change, every pass succeeds and every question is answered; at the end all agree."""
    chance = random.Random(8)
    world.write("anchor.md", "# Anchor\n\nThe lighthouse keeper counts ships.\n")
    for number in range(NOTES):
        scribble(world, number, chance)
    world.update()
    world.embed()

    roles = ["update"] * 4 + ["search"] * 2
    details = (Path(__file__).parents[1], world.vault_file, world.root, SECONDS)
    processes = [start_program(WORKER, role, *details, environ=environ) for role in roles]
    wait_until_ready(*processes)
    until = monotonic() + SECONDS
    while monotonic() < until:
        scribble(world, chance.randrange(NOTES), chance)
        (world.root / f"n{chance.randrange(NOTES)}.md").unlink(missing_ok=True)
        sleep(0.02)
    reports = [json.loads(finish(process)) for process in processes]

    assert all(report["rounds"] > 0 for report in reports)
    assert [report["bad"] for report in reports] == [[]] * len(roles)
    world.update()
    world.embed()
    assert world.verify() == []
    assert world.vault.storage.check() == []
    fresh = worlds("fresh")
    fresh.update()
    fresh.embed()
    assert world.paths() == fresh.paths()
    assert world.state()[1:] == fresh.state()[1:]


def scribble(world: World, number: int, chance: random.Random) -> None:
    """A note with something new to say."""
    text = " ".join(f"word{chance.randrange(200)}" for _ in range(40))
    world.write(f"n{number}.md", f"# Note {number}\n\n{text}\n", hours_ago=1 + chance.random())


WORKER = """
import json, sys, time

role, helpers, path, root, seconds = sys.argv[1:]
sys.path.insert(0, helpers)
from wired import embed_pending, update_collection
from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import read_request
from vault_stores import retrieval_stores

clock, embedder = ManualClock(), HashingEmbedder()


def update(vault):
    report = update_collection(vault, DiskFiles(), clock, parse_front_matter)(Folder("notes", root))
    embed_pending(vault, embedder)()
    return [problem for problem in report.problems if not problem.endswith("it is gone.")]


def search(vault):
    answer = query(retrieval_stores(vault), embedder)(read_request("lighthouse keeper", now_ms=clock.now_ms()))
    first = answer.results[0].document.path if answer.results else "nothing"
    reasons = [why for why in answer.trace.degraded.values() if "have no vectors" not in why]
    return [*reasons, *([first] if first != "anchor.md" else [])]


print("ready", flush=True)
until, rounds, bad = time.monotonic() + float(seconds), 0, []
while time.monotonic() < until:
    vault = open_vault(path, read_only=role == "search")
    bad += (update if role == "update" else search)(vault)
    vault.close()
    rounds += 1
print(json.dumps({"role": role, "rounds": rounds, "bad": bad}))
"""
