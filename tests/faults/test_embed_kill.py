"""A change of models that is killed, at whatever moment, costs time and nothing else."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_onnx as tiny
from fault_worlds import World
from programs import finish, kill, let_go, start_program

from clawmem.adapters.models.catalogue import embedder_of, model_named
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.app.services.models import ServingEmbedder
from clawmem.ports.models import Embedder

NOTES = 24
QUESTION = "why did the build fail on Monday"


@pytest.fixture
def models(environ: dict[str, str]) -> Path:
    """The folder of models of the processes that are started, with a small transformer in it, which the config names."""
    config = Path(environ["HOME"]) / ".config/clawmem/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("embedder: bge-small\n", "utf-8")
    folder = Path(environ["HOME"]) / ".local/share/clawmem/models"
    tiny.install(folder)
    return folder


@pytest.fixture
def embedding(environ: dict[str, str]) -> Callable[[Path], subprocess.Popen[str]]:
    """Starts ``clawmem embed`` on a vault, in a process that has imported everything when it is given."""

    def start(vault: Path) -> subprocess.Popen[str]:
        process = start_program(EMBEDDING, environ={**environ, "INDEX_PATH": str(vault)})
        let_go(process)
        return process

    return start


@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_killed_again_and_again(
    world: World, models: Path, embedding: Callable[[Path], subprocess.Popen[str]], kills: int
) -> None:
    """After each kill one model serves, whole, and answers; the last run ends as one that was never disturbed."""
    static, transformer = StaticEmbedder(), model_named("bge-small", models).opened()
    fill(world, static)
    undisturbed = world.vault_file.with_name("undisturbed.sqlite")
    shutil.copy(world.vault_file, undisturbed)
    seconds = ended(embedding(undisturbed))

    chance = random.Random(11)
    stored = [world.vault.embeddings.counts()]
    shares = []
    for turn in range(kills):
        process = embedding(world.vault_file)
        time.sleep(seconds * (0.25 + 0.5 * chance.random()) / kills * (turn + 1))
        kill(process)
        shares.append(share(world, transformer))
        assert_whole(world, [static, transformer], models)
        stored.append(world.vault.embeddings.counts())
    world.vault.close()
    ended(embedding(world.vault_file))

    assert set(stored) == {stored[0]}
    assert shares == sorted(shares)
    assert_whole(world, [transformer], models)
    state = world.state()
    world.vault_file = undisturbed
    world.open()
    assert world.vault.embeddings.fingerprint() == transformer.fingerprint
    assert state == world.state()


def fill(world: World, model: Embedder) -> None:
    chance = random.Random(7)
    for number in range(NOTES):
        sections = (f"## Part {n}\n\n{' '.join(chance.choices(tiny.WORDS, k=40))}.\n" for n in range(5))
        world.write(f"n{number:03}.md", f"# Note {number}\n\n" + "\n".join(sections))
    world.embedder = model
    world.update()
    world.embed()
    world.vault.storage.db.write("pragma wal_checkpoint(truncate)")


def ended(process: subprocess.Popen[str]) -> float:
    """The seconds until a process ended well."""
    began = time.monotonic()
    finish(process)
    return time.monotonic() - began


def share(world: World, second: Embedder) -> float:
    """How much of the second model's vectors is made: 0 before it began, 1 when they serve."""
    world.open()
    building = world.vault.embeddings.building()
    return building.share if building else float(world.vault.embeddings.fingerprint() == second.fingerprint)


def assert_whole(world: World, allowed: list[Embedder], models: Path) -> None:
    """One of the models serves, with all of its vectors and no other's; a question is answered by meaning."""
    world.open()
    serving = next(m for m in allowed if m.fingerprint == world.vault.embeddings.fingerprint())
    assert {len(vector) for _, vector in world.stored_vectors()} == {serving.dimensions}
    assert world.verify() == []
    assert world.vault.storage.check() == []
    chosen = ServingEmbedder(
        world.vault.embeddings, lambda: allowed[-1], lambda name: embedder_of(name, models)
    )
    world.embedder = chosen
    answer = world.ask(QUESTION, "query")
    assert answer.results
    assert answer.trace.degraded == {}
    assert answer.trace.hits["vector"] > 0


EMBEDDING = """
import sys
import clawmem.adapters.models.local, clawmem.adapters.models.local, clawmem.adapters.sqlite.vault
import clawmem.adapters.system.clock, clawmem.app.operations.indexing, clawmem.app.bootstrap.container
import clawmem.app.services.indexing.embed
import numpy, onnxruntime, tokenizers
from clawmem.app.interfaces.cli.command_line import cli

clawmem.app.services.indexing.embed.BATCH = 8
print("ready", flush=True)
sys.stdin.readline()
cli(["embed", "--json"])
"""
