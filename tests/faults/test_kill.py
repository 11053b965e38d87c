"""An indexer that is killed, at whatever moment, costs time and nothing else."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from fault_worlds import World
from killed_notes import answers, change_notes, configure_notes, write_notes
from programs import kill, let_go, start_program

from clawmem.adapters.models.local import StaticEmbedder

NOTES = 25


class Undisturbed(NamedTuple):
    """What a run that was left alone took, made and answers."""

    seconds: float
    state: list[object]
    answers: list[object]


@pytest.fixture
def indexer(environ: dict[str, str], tmp_path: Path) -> Callable[[str], subprocess.Popen[str]]:
    """Starts ``clawmem update --embed`` on a vault, in a process that has imported everything when it is given."""
    configure_notes(environ, tmp_path / "notes")

    def start(vault: str) -> subprocess.Popen[str]:
        place = str(tmp_path / f"{vault}.sqlite")
        process = start_program(INDEXER, environ={**environ, "INDEX_PATH": place})
        let_go(process)
        return process

    return start


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
class TestKill:
    def test_the_first_indexing(
        self, worlds: Callable[..., World], indexer: Callable[[str], subprocess.Popen[str]], kills: int
    ) -> None:
        """From nothing: killed, looked at, and finished, it is the vault that was never disturbed."""
        world = worlds("undisturbed")
        write_notes(world, NOTES, random.Random(1))
        reference = undisturbed(world, indexer, "undisturbed-process")

        for delay in delays(reference.seconds, kills, seed=2):
            kill_after(indexer(f"killed{delay}"), delay)

            assert_recovers(worlds(f"killed{delay}"), reference)

    def test_taking_in_changes(
        self,
        worlds: Callable[..., World],
        indexer: Callable[[str], subprocess.Popen[str]],
        tmp_path: Path,
        kills: int,
    ) -> None:
        """Between two states of a folder, with edits, deletions and new notes: the same."""
        world = worlds("before")
        world.embedder = StaticEmbedder()
        write_notes(world, NOTES, random.Random(3))
        world.update()
        world.embed()
        world.vault.close()
        change_notes(world, NOTES, random.Random(4))
        shutil.copy(tmp_path / "before.sqlite", tmp_path / "undisturbed.sqlite")
        reference = undisturbed(worlds("undisturbed"), indexer, "undisturbed")

        for delay in delays(reference.seconds, kills, seed=5):
            shutil.copy(tmp_path / "before.sqlite", tmp_path / f"killed{delay}.sqlite")
            kill_after(indexer(f"killed{delay}"), delay)

            assert_recovers(worlds(f"killed{delay}"), reference)


def undisturbed(world: World, indexer: Callable[[str], subprocess.Popen[str]], vault: str) -> Undisturbed:
    """Let a process run to its end on *vault*, and describe what it made."""
    world.vault.close()
    process = indexer(vault)
    began = time.monotonic()
    _, errors = process.communicate(timeout=180)
    assert process.returncode == 0 and (not errors or "Made the vault" in errors), errors
    seconds = time.monotonic() - began
    world.vault_file = world.vault_file.with_name(f"{vault}.sqlite")
    world.open()
    world.embedder = StaticEmbedder()
    assert world.verify() == []
    return Undisturbed(seconds, world.state(), answers(world))


def delays(seconds: float, kills: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [round(seconds * (part + chance.random()) / kills, 4) for part in range(kills)]


def kill_after(process: subprocess.Popen[str], delay: float) -> None:
    """Let a process live for *delay* seconds, and no longer."""
    time.sleep(delay)
    kill(process)


def assert_recovers(world: World, reference: Undisturbed) -> None:
    """Committed means whole; and going on ends where the undisturbed run ended."""
    world.embedder = StaticEmbedder()
    assert world.torn() == []
    assert world.vault.storage.check() == []

    world.update()
    world.embed()

    assert world.verify() == []
    assert world.vault.storage.check() == []
    assert world.state() == reference.state
    assert answers(world) == reference.answers
    world.vault.close()


INDEXER = """
import sys
import clawmem.adapters.files.disk, clawmem.adapters.files.front_matter, clawmem.adapters.models.local
import clawmem.adapters.sqlite.vault, clawmem.adapters.system.clock, clawmem.app.operations.indexing
import clawmem.app.bootstrap.container, clawmem.app.bootstrap.opening, clawmem.app.services.indexing.embed, clawmem.app.services.indexing.update
import numpy, ruamel.yaml, tokenizers
from clawmem.app.interfaces.cli.command_line import cli

print("ready", flush=True)
sys.stdin.readline()
cli(["update", "--embed", "--json"])
"""
