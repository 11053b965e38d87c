"""An indexer that is killed, at whatever moment, costs time and nothing else."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from clawmem.adapters.models.static import StaticEmbedder

if TYPE_CHECKING:
    from tests.faults.conftest import World

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")

NOTES = 60
VOCABULARY = (
    "zebra yak gnu ibex lynx otter heron crane falcon badger river valley harbour forest glacier desert "
    "budget invoice meeting deadline release server database migration queue cache token session payment"
)
WORDS = VOCABULARY.split()


class Undisturbed(NamedTuple):
    """What a run that was left alone took, made and answers."""

    seconds: float
    state: list[object]
    answers: list[object]


@pytest.fixture
def indexer(environ: dict[str, str], tmp_path: Path) -> Callable[[str], subprocess.Popen[str]]:
    """Starts ``clawmem update --embed`` on a vault, in a process that has imported everything when it is given."""
    config = Path(environ["HOME"]) / ".config/clawmem/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"collections:\n  notes:\n    path: {tmp_path / 'notes'}\n", "utf-8")

    def start(vault: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", INDEXER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environ, "INDEX_PATH": str(tmp_path / f"{vault}.sqlite")},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        return process

    return start


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
class TestKill:
    def test_the_first_indexing(
        self, worlds: Callable[..., World], indexer: Callable[[str], subprocess.Popen[str]], kills: int
    ) -> None:
        """From nothing: killed, looked at, and finished, it is the vault that was never disturbed."""
        world = worlds("undisturbed")
        write_notes(world, random.Random(1))
        reference = undisturbed(world, indexer, "undisturbed-process")

        for delay in delays(reference.seconds, kills, seed=2):
            kill(indexer(f"killed{delay}"), delay)

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
        write_notes(world, random.Random(3))
        world.update()
        world.embed()
        world.vault.close()
        change_notes(world, random.Random(4))
        shutil.copy(tmp_path / "before.sqlite", tmp_path / "undisturbed.sqlite")
        reference = undisturbed(worlds("undisturbed"), indexer, "undisturbed")

        for delay in delays(reference.seconds, kills, seed=5):
            shutil.copy(tmp_path / "before.sqlite", tmp_path / f"killed{delay}.sqlite")
            kill(indexer(f"killed{delay}"), delay)

            assert_recovers(worlds(f"killed{delay}"), reference)


def write_notes(world: World, chance: random.Random) -> None:
    """Notes of every shape, some of them alike."""
    for number in range(NOTES):
        world.write(f"{chance.choice(WORDS)}/n{number:03}.md", note(number, chance), hours_ago=2 + number)


def change_notes(world: World, chance: random.Random) -> None:
    """A fifth of the notes edited, a tenth deleted, two renamed, and some new ones."""
    files = sorted(world.root.rglob("*.md"))
    chance.shuffle(files)
    for file in files[:12]:
        world.write(str(file.relative_to(world.root)), note(int(file.stem[1:]), chance), hours_ago=1)
    for file in files[12:18]:
        file.unlink()
    for file in files[18:20]:
        file.rename(file.with_name(f"moved-{file.name}"))
    for number in range(NOTES, NOTES + 8):
        world.write(f"late/n{number}.md", note(number, chance), hours_ago=1)


def note(number: int, chance: random.Random) -> str:
    sections = [
        f"## {' '.join(chance.choices(WORDS, k=2))}\n\n{' '.join(chance.choices(WORDS, k=60))}.\n"
        for _ in range(chance.randint(1, 6))
    ]
    return f"---\ntags: [{chance.choice(WORDS)}]\n---\n# Note {number}\n\n" + "\n".join(sections)


def undisturbed(world: World, indexer: Callable[[str], subprocess.Popen[str]], vault: str) -> Undisturbed:
    """Let a process run to its end on *vault*, and describe what it made."""
    world.vault.close()
    process = indexer(vault)
    began = time.monotonic()
    _, errors = process.communicate(timeout=120)
    seconds = time.monotonic() - began
    assert process.returncode == 0, errors
    world.vault_file = world.vault_file.with_name(f"{vault}.sqlite")
    world.open()
    world.embedder = StaticEmbedder()
    assert world.verify() == []
    return Undisturbed(seconds, world.state(), answers(world))


def delays(seconds: float, kills: int, seed: int) -> list[float]:
    """Random moments of a run, one in each part of it."""
    chance = random.Random(seed)
    return [round(seconds * (part + chance.random()) / kills, 4) for part in range(kills)]


def kill(process: subprocess.Popen[str], delay: float) -> None:
    """Let a process live for *delay* seconds, and no longer."""
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert not errors


def assert_recovers(world: World, reference: Undisturbed) -> None:
    """Committed means whole; and going on ends where the undisturbed run ended."""
    world.embedder = StaticEmbedder()
    assert world.torn() == []
    assert world.vault.check() == []

    world.update()
    world.embed()

    assert world.verify() == []
    assert world.vault.check() == []
    assert world.state() == reference.state
    assert answers(world) == reference.answers
    world.vault.close()


def answers(world: World) -> list[object]:
    """The ten best answers of twenty questions, with their places and scores."""
    chance = random.Random(6)
    questions = [" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(20)]
    return [
        [(r.document.path, round(r.score, 6), r.start_line) for r in world.ask(question, "query").results]
        for question in questions
    ]


INDEXER = """
import sys
import clawmem.adapters.files.disk, clawmem.adapters.files.front_matter, clawmem.adapters.models.static
import clawmem.adapters.sqlite.vault, clawmem.adapters.system.clock, clawmem.app.operations.indexing
import clawmem.app.bootstrap.opening, clawmem.app.services.indexing.embed, clawmem.app.services.indexing.update
import numpy, ruamel.yaml, tokenizers
from clawmem.app.interfaces.cli.command_line import cli

print("ready", flush=True)
sys.stdin.readline()
cli(["update", "--embed", "--json"])
"""
