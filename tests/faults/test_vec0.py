"""The tables of vectors in a vault: as another program reads them, damaged, forgotten, and without the extension."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest
import sqlite_vec
from command_line import Invoke
from fault_worlds import World

from clawmem.adapters.sqlite import database
from clawmem.adapters.sqlite.database import PAGE_SIZE
from clawmem.adapters.sqlite.embeddings import steps_of
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import MODEL, save, sha, unit_vector
from clawmem.ports.errors import ExtensionMissing, IndexDamaged
from clawmem.ports.records import InactiveReason

QUESTION = "which animal has stripes"
NOTES = {
    "zebra.md": "# Zebra\n\nThe zebra is an animal with stripes.\n",
    "kettle.md": "# Kettle\n\nDescale the kettle with vinegar.\n",
}


def random_vectors(number: int, dimensions: int) -> list[bytes]:
    rng = random.Random(number)
    return [unit_vector(*(rng.gauss(0, 1) for _ in range(dimensions))) for _ in range(number)]


@pytest.fixture
def embedded(world: World, invoke: Invoke) -> Invoke:
    for name, text in NOTES.items():
        world.write(name, text)
    world.vault.close()
    assert invoke("update", "--embed").exit_code == 0
    return invoke


def test_another_program_reads_the_vectors(world: World, embedded: Invoke) -> None:
    """A plain connection that loads sqlite-vec finds the text of a note by the numbers of its vector."""
    with closing(apsw.Connection(str(world.vault_file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        ((space, dimensions),) = connection.execute(
            "select id, dimensions from spaces where state = 'serving'"
        )
        rows = list(connection.execute(f"select rowid, embedding from vectors_{space}"))
        texts = list(connection.execute("select id from texts where space = ? order by id", (space,)))
        assert sorted(number for number, _ in rows) == [number for (number,) in texts]
        for number, codes in rows:
            assert len(codes) == dimensions
            assert math.hypot(*array("b", codes)) == pytest.approx(steps_of(dimensions), rel=0.1)
            sql = f"select rowid from vectors_{space} where embedding match vec_int8(?) and k = 1"
            assert list(connection.execute(sql, (codes,))) == [(number,)]


class TestWithoutTheExtension:
    def test_no_package(self, world: World, embedded: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        """A vault is refused at once, with the remedy, and nothing is changed."""
        before = world.vault_file.read_bytes()
        monkeypatch.setattr(database, "find_spec", lambda name: None)

        with pytest.raises(ExtensionMissing, match="pip install --force-reinstall sqlite-vec"):
            open_vault(str(world.vault_file))
        for command in (["status"], ["search", "zebra"], ["query", "zebra"]):
            done = embedded(*command)
            assert done.exit_code == 5
            assert "the package sqlite-vec is not installed" in done.stderr
        assert world.vault_file.read_bytes() == before


DAMAGES: dict[str, Callable[[int], bytes]] = {
    "zeros": bytes,
    "noise": lambda size: random.Random(size).randbytes(size),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("table", ["chunks", "rowids", "vector_chunks00", "info"])
def test_a_broken_page(world: World, embedded: Invoke, table: str, damage: str) -> None:
    """Words still answer, doctor names the damage, and after a rebuild the texts are embedded again."""
    before = embedded("query", QUESTION).stdout
    with closing(apsw.Connection(str(world.vault_file))) as connection:
        sql = "select rootpage from sqlite_schema where name = 'vectors_1_' || ?"
        ((root,),) = connection.execute(sql, (table,))
    content = bytearray(world.vault_file.read_bytes())
    content[(root - 1) * PAGE_SIZE : root * PAGE_SIZE] = DAMAGES[damage](PAGE_SIZE)
    world.vault_file.write_bytes(content)

    answer = embedded("query", QUESTION)
    assert (answer.exit_code, "zebra.md" in answer.stdout) == (0, True)
    examined = embedded("doctor")
    assert examined.exit_code == 1
    assert "ok    storage" in examined.stdout
    assert "Run: clawmem rebuild" in examined.stdout
    assert embedded("rebuild").exit_code == 0
    assert embedded("embed").exit_code == 0

    healthy = embedded("doctor")
    assert healthy.exit_code == 0, healthy.output
    assert embedded("doctor", "--verify").exit_code == 0
    again = embedded("query", QUESTION)
    assert (again.stdout, again.stderr) == (before, "")


def test_lost_rows(tmp_path: Path) -> None:
    """Texts without a vector or with that of another, and vectors without a text are found; rebuilding keeps the others."""
    with closing(open_vault(str(tmp_path / "vault.sqlite"))) as vault:
        saved = save(vault, "a.md", "\n".join(f"Text {n}." for n in range(6)))
        vectors = random_vectors(6, 8)
        vault.embeddings.store(MODEL, {sha(f"Text {n}."): vector for n, vector in enumerate(vectors)})
        vault.storage.db.write("delete from vectors_1 where rowid = 1")
        vault.storage.db.write("delete from texts where id = 2")
        vault.storage.db.write("delete from vectors_1 where rowid = 3")
        vault.storage.db.write("insert into vectors_1 (rowid, embedding) values (3, vec_int8(zeroblob(8)))")
        other = vault.storage.db.value("select embedding from vectors_1 where rowid = 6")
        vault.storage.db.write("delete from vectors_1 where rowid = 5")
        vault.storage.db.write("insert into vectors_1 (rowid, embedding) values (5, vec_int8(?))", (other,))

        assert vault.embeddings.faults() == [
            "3 texts have no vector, or a damaged one",
            "1 vectors belong to no text",
        ]
        assert vault.embeddings.rebuild() == 3

        assert vault.embeddings.faults() == []
        assert [entry.key.seq for entry in vault.embeddings.of_document(saved)] == [3, 5]
        assert len(vault.embeddings.pending(9)) == 4


def test_a_search_names_its_damage(tmp_path: Path) -> None:
    """An error of the extension is the damage of an index, which `rebuild` repairs."""
    with closing(open_vault(str(tmp_path / "vault.sqlite"))) as vault:
        save(vault, "a.md", "One.")
        vault.embeddings.store(MODEL, {sha("One."): unit_vector(1, 2)})
        vault.storage.db.write("update vectors_1_vector_chunks00 set vectors = x'00'")

        with pytest.raises(IndexDamaged, match="Run: clawmem rebuild"):
            vault.vectors.search(unit_vector(1, 2), 3)


def test_no_byte_of_a_forgotten_vector_remains(tmp_path: Path) -> None:
    """After cleaning and scrubbing, the numbers of a forgotten text are nowhere in the file."""
    path = tmp_path / "vault.sqlite"
    with closing(open_vault(str(path))) as vault:
        ids = [save(vault, f"{n}.md", f"Text {n}.") for n in range(40)]
        vectors = random_vectors(40, 64)
        vault.embeddings.store(MODEL, {sha(f"Text {n}."): vector for n, vector in enumerate(vectors)})
        codes = dict(vault.storage.db.rows("select rowid, embedding from vectors_1"))
        vault.documents.deactivate(ids[:20], InactiveReason.FORGOTTEN)

        vault.embeddings.clean()
        vault.storage.scrub()

        content = path.read_bytes()
        texts = {number for (number,) in vault.storage.db.rows("select id from texts")}
        # A page may end within the numbers of a vector.
        left = {n for n, numbers in codes.items() if numbers[:24] in content or numbers[-24:] in content}
        assert left == texts
        assert len(texts) == 20
