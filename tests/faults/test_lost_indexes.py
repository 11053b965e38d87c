"""A lost or torn index, seen by who asks: every interface says so, vectors still answer, and the advice works."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import apsw
import pytest
from command_line import Invoke
from fault_worlds import World
from rest_world import world_at

from clawmem.adapters.sqlite.database import PAGE_SIZE
from clawmem.app.services.maintenance.doctor import REBUILD

Ruin = Callable[[Path], None]

NOTES = {
    "harbour.md": "# Harbour\n\nThe Harbour ferry leaves at nine.\n\nERR_DOCK_FULL means that no berth is free.\n",
    "lighthouse.md": "# Lighthouse\n\nThe lighthouse keeper is Ottilie Brandt.\n",
    "market.md": "# Market\n\nFish is sold on the quay until noon.\n",
}
QUESTION = "when does the harbour ferry leave"
KNOWN = "ferry leaves at nine"


def deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def emptied(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def cut(folder: Path) -> None:
    for file in _files(folder):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def zeroed(folder: Path) -> None:
    for file in _files(folder):
        file.write_bytes(bytes(file.stat().st_size))


def replaced(folder: Path) -> None:
    """Put a file of somebody else in the place of all."""
    emptied(folder)
    (folder / "holiday.txt").write_text("not an index", "utf-8")


RUINS = (deleted, emptied, cut, zeroed, replaced)
NEEDS_LANCEDB = pytest.mark.skipif(not find_spec("lancedb"), reason="needs lancedb")


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(".lock"))


def fill(world: World, invoke: Invoke, engine: str) -> list[Path]:
    """A vault whose indexes the engine keeps; their folders."""
    for name, text in NOTES.items():
        world.write(name, text)
    world.vault.close()
    assert invoke("--backend", engine, "update", "--embed").exit_code == 0
    return sorted(Path(f"{world.vault_file}.indexes").iterdir())


def the_advice(said: str) -> list[str]:
    """The command that *said* advises, word by word."""
    assert REBUILD in said
    return REBUILD.removeprefix("Run: clawmem ").split()


@pytest.mark.parametrize(
    ("engine", "ruin"),
    [
        *(("tantivy", ruin) for ruin in RUINS),
        *(pytest.param("lancedb", ruin, marks=NEEDS_LANCEDB) for ruin in (deleted, cut)),
    ],
)
def test_the_command_line(world: World, invoke: Invoke, engine: str, ruin: Ruin) -> None:
    """Every search says on stderr what is missing; what it advises puts everything right."""
    folders = fill(world, invoke, engine)
    for folder in folders:
        ruin(folder)

    for verb in ("search", "query"):
        done = invoke(verb, QUESTION)
        assert done.exit_code == 0
        assert "degraded: lexical: The answer is without the index" in done.stderr
    assert KNOWN in done.stdout  # by the vectors
    in_json = json.loads(invoke("--json", "search", QUESTION).stdout)
    assert "lexical" in in_json["degraded"]

    examined = invoke("doctor")
    assert examined.exit_code == 1
    assert "move it aside" not in examined.stdout
    assert invoke(*the_advice(examined.stdout)).exit_code == 0
    assert invoke("doctor").exit_code == 0
    healed = invoke("search", QUESTION)
    assert (KNOWN in healed.stdout, healed.stderr) == (True, "")


def fill_own(world: World, invoke: Invoke) -> None:
    """A vault that keeps its indexes itself."""
    for name, text in NOTES.items():
        world.write(name, text)
    world.vault.close()
    assert invoke("update", "--embed").exit_code == 0


def test_over_http(tmp_path: Path) -> None:
    """A server answers from the vectors and names the reason in ``degraded``, until it has rebuilt the index."""
    with world_at(tmp_path, "tantivy") as world:
        (folder,) = tmp_path.rglob("lexical-*")
        shutil.rmtree(folder)

        for path in ("/search", "/retrieve"):
            status, said = world.post(path, query="login sessions redis")
            assert status == 200
            assert said["results"]
            reason = said["degraded"].get("lexical", "")
            is_rebuilt = bool(set(tmp_path.rglob("lexical-*")) - {folder})
            assert "clawmem rebuild" in reason or (reason == "" and is_rebuilt)


OWN_TABLES = [
    f"lexical_{grain}_{part}"
    for grain in ("line", "passage", "document")
    for part in ("data", "idx", "docsize", "config")
]

DAMAGES = {"zeros": bytes, "noise": lambda size: random.Random(size).randbytes(size)}
BROKEN = [(table, damage) for table in OWN_TABLES for damage in DAMAGES]


@pytest.mark.parametrize(
    ("table", "damage"),
    [pytest.param(*one, marks=pytest.mark.slow if n % 5 else ()) for n, one in enumerate(BROKEN)],
)
def test_a_broken_page_of_the_vaults_own_index(world: World, invoke: Invoke, table: str, damage: str) -> None:
    """Every question is answered, the damage is found, nobody sees a traceback, and the index is made anew."""
    fill_own(world, invoke)
    before = invoke("query", QUESTION).stdout
    with apsw.Connection(str(world.vault_file)) as connection:
        ((root,),) = connection.execute("select rootpage from sqlite_schema where name = ?", (table,))
    connection.close()
    content = bytearray(world.vault_file.read_bytes())
    content[(root - 1) * PAGE_SIZE : root * PAGE_SIZE] = DAMAGES[damage](PAGE_SIZE)
    world.vault_file.write_bytes(content)

    for verb in ("search", "query --mode=vectors", "query"):
        done = invoke(verb, QUESTION)
        assert done.exit_code == 0, (verb, done.stderr)
        assert KNOWN in done.stdout, (verb, done.stderr)
    examined = invoke("doctor")
    assert examined.exit_code == 1
    assert "ok    storage" in examined.stdout
    assert invoke(*the_advice(examined.stdout)).exit_code == 0
    assert invoke("doctor").exit_code == 0
    assert invoke("doctor", "--verify").exit_code == 0
    again = invoke("query", QUESTION)
    assert (again.stdout, again.stderr) == (before, "")
