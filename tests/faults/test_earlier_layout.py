"""A vault of version 29, which stored vectors twice and words at greater length: its answers stay, and it shrinks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import sqlite_vec
from command_line import Invoke
from notes_vault import NotesVault

from clawmem.adapters.sqlite.connections import PAGE_SIZE
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.fragments import from_first
from clawmem.adapters.sqlite.lexical_index import SqliteLexicalIndex
from clawmem.adapters.sqlite.migrations import LATEST, bring_to, version
from clawmem.adapters.sqlite.short_vectors import lengthened
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.contracts.samples import any_of
from clawmem.domain.documents.entries import lexical_entries
from clawmem.ports.records import Grain

BEFORE = 29
SHORTER = 32  # the version with vectors of 16 bits
SHORT_FRAGMENTS = 33  # the version with one heading for several fragments
QUESTIONS = ("kettle", "harbour master", "line12", "tea at noon")
# Columns that had another form.
CHANGED = {
    "text_hash": "nullif(lower(hex(text_hash)), '')",
    "vector": "lengthened(vector)",
    **{
        one: from_first(one).replace("from fragments", "from present.fragments")
        for one in ("heading", "context")
    },
}
COPIED = ("content", "documents", "fragments", "spaces", "space_vectors")
NOTES = {
    "kettle.md": "# Kettle\n\nDescale the kettle with vinegar.\n\n## Noon\n\nTea at noon, never before.\n",
    "harbour.md": "# Harbour\n\nThe harbour master keeps the keys.\n",
    "forgotten.md": "# Forgotten\n\nA harbour that nobody remembers.\n",
    "long.md": "# Long\n\n" + "\n\n".join(f"Line{n} of the harbour log." for n in range(200)),
}
# Kills its process before a statement of the migration.
KILLED = """
import os, signal, sys
from clawmem.adapters.sqlite import connections
from clawmem.adapters.sqlite.vault import SqliteVault
before, opened = sys.argv[2], connections.open_writer
left = int(before) if before.isdigit() else 0
def count(cursor, sql, bindings):
    global left
    left -= 1
    if not left or not before.isdigit() and before in sql:
        os.kill(os.getpid(), signal.SIGKILL)
    return True
def traced(path):
    connection = opened(path)
    connection.exec_trace = count
    return connection
sys.modules["clawmem.adapters.sqlite.database"].open_writer = traced
SqliteVault(sys.argv[1]).close()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotesVault]:
    """The notes in a vault of the present version."""
    made = NotesVault(tmp_path_factory.mktemp("present")).take_in(NOTES)
    made.withdraw("forgotten.md")
    yield made
    made.close()


@pytest.fixture(scope="module")
def earlier(world: NotesVault) -> Path:
    """The same vault as the earlier version left it; tests use copies."""
    path = world.place / "earlier.sqlite"
    with closing(Database(str(path))) as db:
        bring_to(db, BEFORE)
        db.define("lengthened", lengthened)
        db.write("attach ? as present", (str(world.vault_file),))
        for table in COPIED:
            columns = [name for (name,) in db.write("select name from pragma_table_info(?)", (table,))]
            chosen = ", ".join(CHANGED.get(one, f'"{one}"') for one in columns)
            db.write(f"insert or replace into {table} select {chosen} from present.{table}")
        entries = [entry for one in world.vault.documents.latest() for entry in entries_of(world, one)]
        SqliteLexicalIndex(db).put(entries)
        section = next(one for one in entries if one.grain is Grain.DOCUMENT)._replace(grain=Grain.SECTION)
        SqliteLexicalIndex(db).put([section])
        add_vec0(db)
    return path


def entries_of(world: NotesVault, document: Any) -> Iterator[Any]:
    return lexical_entries(document, world.vault.documents.fragments(document.id))


def add_vec0(db: Database) -> None:
    """The table of the extension, with a second copy of each vector."""
    db._main.enable_load_extension(True)
    db._main.load_extension(sqlite_vec.loadable_path())
    rows = db.write("select key, vector from fragments join vectors using (text_hash)")
    kind = f"float[{len(rows[0][1]) // 4}] distance_metric=cosine"
    db.write(f"create virtual table vector_vec0 using vec0 (key integer primary key, embedding {kind})")
    db.write_many("insert into vector_vec0 values (?, ?)", rows)


@pytest.fixture
def copy(earlier: Path, tmp_path: Path) -> Path:
    return shutil.copy(earlier, tmp_path / "vault.sqlite")


def answers(vault: SqliteVault, world: NotesVault) -> Sequence[object]:
    """Hits with their scores, by words and by vectors, and the counts."""
    vectors = [world.embedder.embed_query(text) for text in QUESTIONS]
    return [
        *(vault.lexical.search(any_of(*text.split()), g, 20) for text in QUESTIONS for g in Grain),
        *(vault.vectors.search(vector, 20) for vector in vectors),
        *(vault.lexical.count(grain) for grain in Grain),
        vault.vectors.count(),
        vault.embeddings.counts(),
        *(vault.documents.fragments(one.id) for one in vault.documents.latest()),
        [one.path for one in vault.documents.latest(active=False)],
    ]


def test_answers_stay(copy: Path, world: NotesVault) -> None:
    """With the earlier tables of words and after their renewal."""
    with closing(SqliteVault(str(world.vault_file), read_only=True)) as present:
        expected = answers(present, world)
    with closing(SqliteVault(str(copy))) as vault:
        kept = answers(vault, world), vault.lexical.is_outdated, vault.check(), vault.vectors.faults()
        vault.lexical.clear()
        vault.lexical.put([e for one in vault.documents.latest() for e in entries_of(world, one)])
        renewed = answers(vault, world), vault.lexical.is_outdated, vault.check()

    assert kept == (expected, True, [], [])
    assert renewed == (expected, False, [])


def test_it_shrinks(copy: Path) -> None:
    """The pages of the dropped tables are returned, and the pages have the present size."""
    before = copy.stat().st_size
    SqliteVault(str(copy)).close()

    with closing(apsw.Connection(str(copy))) as connection:
        names = [name for (name,) in connection.execute("select name from sqlite_schema")]
        assert [name for name in names if "vec0" in name] == []
        assert (connection.pragma("page_size"), connection.pragma("freelist_count")) == (PAGE_SIZE, 0)
        assert connection.pragma("integrity_check") == "ok"
    assert copy.stat().st_size < before


def test_an_update_renews_the_words(copy: Path, invoke: Invoke) -> None:
    """The first update makes the tables of words anew; indexes and records agree before and after."""
    said = [invoke("--vault", str(copy), command).output for command in ("verify", "update", "verify")]

    with closing(SqliteVault(str(copy), read_only=True)) as vault:
        assert (["differs from the records" in one for one in said], vault.lexical.is_outdated) == (
            [False] * 3,
            False,
        )
        assert vault.lexical.count(Grain.DOCUMENT) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize("statement", [12, 30, 48])
def test_killed_in_the_middle(copy: Path, world: NotesVault, statement: int) -> None:
    """The vault is of either version, and opening it again ends what was begun."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(copy), str(statement)], check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(Database(str(copy))) as db:
        assert version(db) in (BEFORE, LATEST)

    with closing(SqliteVault(str(copy))) as vault:
        assert answers(vault, world) == answers(world.vault, world)
        assert vault.check() == []
    assert not os.path.exists(f"{copy}-journal")  # noqa: PTH110


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize(
    "statement",
    [
        "insert into shorter_fragments",
        "drop table fragments",
        "insert or ignore into shorter_vectors",
        "update or ignore embed_failures",
        "pragma user_version = 33",
    ],
)
def test_killed_while_fragments_are_shortened(copy: Path, world: NotesVault, statement: str) -> None:
    """Every heading, context and hash is there, and opening the vault again shortens each of them once."""
    with closing(Database(str(copy))) as db:
        bring_to(db, SHORT_FRAGMENTS - 1)
    done = subprocess.run([sys.executable, "-c", KILLED, str(copy), statement], check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(Database(str(copy))) as db:
        assert version(db) == SHORT_FRAGMENTS - 1

    with closing(SqliteVault(str(copy))) as vault:
        assert answers(vault, world) == answers(world.vault, world)
        assert vault.check() == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize(
    "statement",
    [
        "insert into shorter_vectors",
        "update vector_entries set vector = shortened",
        "alter table shorter_vectors",
        "pragma user_version = 32",
    ],
)
def test_killed_while_vectors_are_shortened(copy: Path, world: NotesVault, statement: str) -> None:
    """The vectors keep their length, and opening the vault again shortens each of them once."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(copy), statement], check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(Database(str(copy))) as db:
        assert version(db) == SHORTER - 1
        lengths = {size for (size,) in db.rows("select distinct length(vector) from space_vectors")}

    with closing(SqliteVault(str(copy))) as vault:
        assert answers(vault, world) == answers(world.vault, world)
        assert vault.check() == []
    with closing(Database(str(copy))) as db:
        shortened = {size for (size,) in db.rows("select distinct length(vector) from space_vectors")}
    assert {size // 2 for size in lengths} == shortened != set()
