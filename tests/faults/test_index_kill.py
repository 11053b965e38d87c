"""A process that is killed while it keeps indexes outside of the records: the vault heals at the next occasion."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fault_worlds import ServedWorld
from killed_notes import answers, change_notes, configure_notes, write_notes
from programs import kill, start_program

from clawmem.adapters.models.local import StaticEmbedder
from clawmem.ports.records import Role

NOTES = 20
ELSEWHERE = {"sqlite": "tantivy", "tantivy": "sqlite", "lancedb": "sqlite"}  # where a migration comes from
COMMANDS = {
    "update": ["update", "--embed"],
    "embed": ["embed", "--force"],
    "migrate": ["rebuild", "--backend"],
    "optimize": [],  # part of other commands only
    "rebuild": ["rebuild"],
}
# One index in the records and one outside go through all that differs between them; the third starts slowly, and
# `test_lancedb_faults` kills what writes it, and `test_embed_kill` what embeds.
QUICK = {(verb, "tantivy") for verb in COMMANDS if verb != "embed"} | {
    ("migrate", "sqlite"),
    ("rebuild", "sqlite"),
}
CASES = [
    pytest.param(
        verb, backend, kills, marks=() if kills == 1 and (verb, backend) in QUICK else pytest.mark.slow
    )
    for verb in COMMANDS
    for backend in ELSEWHERE
    for kills in (1, 4)
] + [pytest.param("update", backend, 60, marks=pytest.mark.slow) for backend in ELSEWHERE]


class Worker:
    """A process that has imported everything and runs commands on vaults, until it is killed."""

    def __init__(self, environ: dict[str, str], backend: str) -> None:
        self._process = start_program(WORKER, backend, environ=environ)

    def begin(self, vault: Path, command: list[str]) -> None:
        """Let it run a command; an empty one optimizes the index of words."""
        self._process.stdin.write(json.dumps([str(vault), command]) + "\n")
        self._process.stdin.flush()
        assert self._line() == "begun\n", self._process.communicate(timeout=60)[1]

    def end(self) -> float:
        """Wait for the end of the command; the seconds that it took."""
        while (line := self._line()) and not line.startswith("ended "):
            pass
        assert line, self._process.communicate(timeout=60)[1]
        return float(line.split()[1])

    def kill(self) -> str:
        """Kill it on the spot, if it is alive; what it had said by then."""
        if self._process.returncode is not None:
            return ""
        return kill(self._process)

    def _line(self) -> str:
        return self._process.stdout.readline()


Bodies = dict[str, tuple[object, ...]]


class Undisturbed(NamedTuple):
    """What a command took that was left alone, and what it made."""

    seconds: float
    bodies: Bodies
    vectors: set[tuple[Any, Any]]
    state: list[object]
    answers: list[object]


class Prepared:
    """Vaults before the notes changed, and after; those of a backend are made when they are first asked for."""

    def __init__(self, before: ServedWorld, after: ServedWorld) -> None:
        self._first = {"before": before, "after": after}
        self._made: dict[str, ServedWorld] = {}

    @property
    def root(self) -> Path:
        return self._first["after"].root

    def beginning(self, verb: str, backend: str) -> ServedWorld:
        when = "before" if verb == "update" else "after"
        where = ELSEWHERE[backend] if verb == "migrate" else backend
        name = f"{where}-{when}"
        if name not in self._made:
            self._made[name] = moved(self._first[when], where, name)
        return self._made[name]

    def close(self) -> None:
        for world in (*self._first.values(), *self._made.values()):
            world.vault.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """The vaults that everything begins with, made without any disturbance."""
    world = ServedWorld(tmp_path_factory.mktemp("kill"))
    world.embedder = StaticEmbedder()
    write_notes(world, NOTES, random.Random(1))
    world.update()
    world.embed()
    before = world.copy("before")
    before.embedder = StaticEmbedder()
    change_notes(world, NOTES, random.Random(2))
    world.update()
    world.embed()
    made = Prepared(before, world)
    yield made
    made.close()


@pytest.fixture
def worker(prepared: Prepared, environ: dict[str, str]) -> Iterator[Callable[[str], Worker]]:
    """Starts a process that can use a backend, over the prepared notes."""
    configure_notes(environ, prepared.root)
    started: list[Worker] = []

    def start(backend: str) -> Worker:
        started.append(Worker(environ, backend))
        return started[-1]

    yield start
    for process in started:
        process.kill()


@pytest.mark.parametrize(("verb", "backend", "kills"), CASES)
def test_killed(
    prepared: Prepared, worker: Callable[[str], Worker], verb: str, backend: str, kills: int
) -> None:
    """Nothing acknowledged is missing, all agree after catching up, and the command repeated ends as undisturbed."""
    beginning = prepared.beginning(verb, backend)
    command = [*COMMANDS[verb], backend] if verb == "migrate" else COMMANDS[verb]
    chance = random.Random(f"{backend} {verb} {kills}")
    process = worker(backend)
    reference = undisturbed(process, beginning, command)

    for number in range(kills):
        world = beginning.copy(f"{verb}-{backend}-{number}-of-{kills}")
        world.embedder = StaticEmbedder()
        acknowledged = bodies(world), vectors(world)
        world.vault.close()
        process.begin(world.vault_file, command)
        time.sleep(reference.seconds * (number + chance.random()) / kills)
        is_reported = process.kill() != ""
        if number + 1 < kills:
            process = worker(backend)  # imports while we look at what is left

        world.open()
        allowed = [reference.bodies] if is_reported else [acknowledged[0], reference.bodies]
        assert are_whole(bodies(world), allowed)
        assert verb == "embed" or vectors(world) >= acknowledged[1] & reference.vectors
        assert_agrees(world)
        repeat(world, verb, backend)
        assert_agrees(world)
        assert world.indexes.backend == backend
        assert world.verify() == []
        assert world.state() == reference.state
        assert settled_answers(world) == reference.answers
        discard(world)


def are_whole(found: Bodies, allowed: Sequence[Bodies]) -> bool:
    """Whether each note is one of its allowed versions: a command that is killed keeps the notes that it committed."""
    paths = {path for one in (found, *allowed) for path in one}
    return all(found.get(path) in [one.get(path) for one in allowed] for path in paths)


def moved(world: ServedWorld, backend: str, name: str) -> ServedWorld:
    made = world.copy(name)
    made.embedder = StaticEmbedder()
    made.indexes.move(backend)
    made.indexes.keep_up()
    return made


def undisturbed(process: Worker, beginning: ServedWorld, command: list[str]) -> Undisturbed:
    world = beginning.copy(f"{'-'.join(command)}-undisturbed")
    world.embedder = StaticEmbedder()
    world.vault.close()
    process.begin(world.vault_file, command)
    seconds = process.end()
    world.open()
    made = Undisturbed(seconds, bodies(world), vectors(world), world.state(), settled_answers(world))
    discard(world)
    return made


def repeat(world: ServedWorld, verb: str, backend: str) -> None:
    """The command once more, in this process."""
    if verb == "embed":
        world.embed(force=True)
    elif verb == "migrate":
        world.indexes.move(backend)
    elif verb == "rebuild":
        for role in Role:
            world.indexes.rebuild(role)
    else:
        world.update()
        world.embed()


def assert_agrees(world: ServedWorld) -> None:
    """After catching up the vault says nothing against itself."""
    world.indexes.keep_up()
    assert world.indexes.lagging == {}
    assert world.torn() == []
    assert world.vault.storage.check() == []


def bodies(world: ServedWorld) -> dict[str, tuple[object, ...]]:
    documents = world.vault.documents
    return {one.path: (documents.body(one.id), documents.fragments(one.id)) for one in documents.latest()}


def vectors(world: ServedWorld) -> set[tuple[Any, Any]]:
    return set(world.stored_vectors())


def settled_answers(world: ServedWorld) -> list[object]:
    """Answers of indexes that have forgotten what was removed, which engines may still count until then."""
    world.vault.lexical.optimize()
    return answers(world)


def discard(world: ServedWorld) -> None:
    world.vault.close()
    for file in world.vault_file.parent.glob(f"{world.vault_file.name}*"):
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()


WORKER = """
import json, os, sys, time
import clawmem.adapters.files.disk, clawmem.adapters.files.front_matter, clawmem.adapters.models.local
import clawmem.adapters.sqlite.vault, clawmem.adapters.system.clock, clawmem.app.operations.indexing
import clawmem.app.operations.maintenance, clawmem.app.interfaces.cli.session, clawmem.app.services.indexing.external
import clawmem.app.services.indexing.embed, clawmem.app.services.indexing.update
import numpy, ruamel.yaml, tantivy, tokenizers
from clawmem.app.interfaces.cli.command_line import cli
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.settings.model import load_settings

if sys.argv[1] == "lancedb":
    import lancedb, lancedb.index, pyarrow.compute


def optimize():
    with open_services(load_settings()) as services:
        services.vault.lexical.optimize()


for line in sys.stdin:
    os.environ["INDEX_PATH"], command = json.loads(line)
    print("begun", flush=True)
    began = time.monotonic()
    if command:
        try:
            cli([*command, "--json"])
        except SystemExit as left:
            assert not left.code
    else:
        optimize()
    print("ended", time.monotonic() - began, flush=True)
"""
