"""A damaged vault: damage is noticed, the advised command repairs it, and what was forgotten stays forgotten."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from command_line import Invoke
from damaged_home import MEMORIES, SIZE, SOUND, Damage, Home
from server_process import serving

from clawmem.adapters.sqlite.repair import discard_unused_vault, repair_vault
from clawmem.adapters.sqlite.schema import record_tables
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.vault import Vault

REPAIR = "doctor --repair"
NO_FILES = (*(f"_clawmem/{path}" for path in MEMORIES), "the diary")  # what only the vault has
SENSELESS = {
    "kind": "update fragments set kind = 'brontmatter' where key = (select max(key) from fragments)",
    "reason": "update documents set inactive = 'forgotteo' where inactive = 'forgotten'",
    "state": "update documents set embed_state = 'synbed' where collection = 'notes'",
    "origin": "update documents set origin = 'urer' where path = 'decisions/queue.md'",
    "tags": "update documents set tags = '[' where path = 'decisions/queue.md'",
    "relation": "update relations set kind = 'semantid' where (source, kind, target) = (select min(source), kind, target from relations)",
}

# A row of each table that the commands of a home leave empty.
MORE_ROWS = (
    "insert into sessions values ('one', '2026-03-01T10:00:00.000Z', null, null, 'About boats.', '[]', '')",
    "insert into replacements values (1, 2, 'merged', '2026-03-01T10:00:00.000Z', '')",
    "insert into replaced values (1, 3), (1, 4), (1, 5)",
    "insert into co_activations values (1, 2, 3, '2026-03-01T10:00:00.000Z')",
    "insert into capture_cursors values ('one', 'decisions', 4, 90, 2)",
    "insert into sightings values ('s', 1, 'p', 'decision', 'user', 'one', 'm', 3, 'We row.', '2026-03-01T10:00:00.000Z')",
    "insert into maintenance_runs (lane, phase, status, started_at) values ('light', 'gate', 'done', '2026-03-01T10:00:00.000Z')",
    "insert into model_answers values (x'00', 'rerank', 'yes', '2026-03-01T10:00:00.000Z')",
    "insert into model_costs values ('2026-03-01', 'm', 'rerank', 1, 0, 9, 9, 9)",
)


def zeroed(page: bytes, chance: random.Random) -> bytes:
    return bytes(len(page))


def noise(page: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(page))


@pytest.fixture
def home(tmp_path: Path, invoke: Invoke) -> Home:
    return Home(tmp_path, invoke)


def pages(home: Home, number: int) -> Iterator[tuple[int, Damage]]:
    """So many pages that hold something, zeroed and overwritten in turn."""
    used = [page for page, _ in _owners(home) if page > 1]  # the header is in the first
    chosen = random.Random(11).sample(used, min(number, len(used)))
    empty = {
        page for page in used if not any(home.content[(page - 1) * SIZE : page * SIZE])
    }  # zeros are no damage
    for turn, page in enumerate(chosen):
        yield page, noise if page in empty or turn % 2 else zeroed


def test_pages_of_documents(home: Home) -> None:
    """Without a page of records the notes of files are read again; what only the vault has is lost, and counted."""
    for page, _ in [*_pages_of(home, "documents")][-1:]:
        home.spoil(page, noise, random.Random(page))

        repaired = json.loads(home.done("doctor", "--repair", "--yes", "--json").stdout)

        assert repaired["lost"]["documents"]
        home.assert_whole(lost=NO_FILES, pins=None)


class TestSalvage:
    """What is read is what SQLite reads, and of the rest as much as can be."""

    def test_a_sound_vault(self, home: Home, tmp_path: Path) -> None:
        """Every record of every table is the same, also what stands in the log only."""
        home.change(*MORE_ROWS)
        with closing(open_vault(str(home.vault))) as vault:
            vault.embeddings.clear()  # vectors are not copied
            vault.documents.pin(1, True)  # in the log
            assert Path(f"{home.vault}-wal").stat().st_size
            before = rows(vault)
            salvaged = repair_vault(str(home.vault), str(tmp_path / "draft"), str(tmp_path / "old"))
        with closing(open_vault(str(home.vault))) as vault:
            assert rows(vault) == before
            assert vault.storage.check() == []
        assert (salvaged.lost, salvaged.notes, salvaged.spoilt) == ({}, [], [])

    @pytest.mark.parametrize("number", [15, pytest.param(60, marks=pytest.mark.slow)])
    def test_no_more_than_one_page_is_lost(self, home: Home, tmp_path: Path, number: int) -> None:
        """Whichever page is damaged: at most its own records are lost, and all that are lost are named."""
        with closing(open_vault(str(home.vault))) as vault:
            before = {name: len(found) for name, found in rows(vault).items()}
        chance, owners = random.Random(3), dict(_owners(home))
        for page, damage in pages(home, number):
            home.spoil(page, damage, chance)
            salvaged = repair_vault(str(home.vault), str(tmp_path / "draft"), str(tmp_path / "old"))
            short = {name for name, count in before.items() if salvaged.kept.get(name, 0) < count}
            assert len(short) <= 1 or owners[page] == "sqlite_schema", (page, short)
            assert short <= set(salvaged.lost), page


def schema_leaves(home: Home) -> list[int]:
    """The pages that hold the names and roots of the tables."""
    with closing(apsw.Connection(str(home.vault))) as connection:
        sql = "select pageno from dbstat where name = 'sqlite_schema' and pagetype = 'leaf'"
        return [page for (page,) in connection.execute(sql)]


def rows(vault: Vault) -> dict[str, list[str]]:
    db = vault.storage.db
    return {name: sorted(map(repr, db.rows(f"select * from {name}"))) for name in record_tables(db)}


class TestTheCommand:
    def test_the_damaged_file_is_kept(self, home: Home) -> None:
        """To the byte, and like the new one for its owner alone."""
        home.spoil(1, noise, random.Random(1))
        damaged = home.vault.read_bytes()

        told = json.loads(home.done("--json", "doctor", "--repair", "--yes").stdout)

        assert Path(told["damaged"]).read_bytes() == damaged
        assert home.vault.stat().st_mode & 0o777 == 0o600

    def test_lost_texts_are_given_up_one_by_one(self, home: Home) -> None:
        """`verify` names each until it is forgotten; the other is not forgotten with it."""
        content = home.content.replace(b"zebrafish queue", b"zebrafish \xff\xff\xff\xff\xff")
        home.put(content.replace(b"The wombatine", b"The \xff\xff\xff\xff\xff\xff\xff\xff\xff"))
        home.done("doctor", "--repair", "--yes")

        long, queue = (f"_clawmem/{path}" for path in sorted(MEMORIES))
        assert sorted(home.lost_texts()) == [long, queue]
        home.done("forget", "--yes", queue)

        assert home.lost_texts() == [long]
        home.done("forget", "--yes", long)
        assert home.done("doctor", "--verify").stdout == SOUND

    def test_a_damaged_word(self, home: Home) -> None:
        """A memory whose text is not what it was is found out, kept in the archive, and named; a file is read again."""
        home.put(home.content.replace(b"zebrafish queue", b"zebrafisk queue"))

        assert (
            "_clawmem/decisions/queue.md has another body stored" in home.invoke("doctor", "--verify").stdout
        )
        said = home.done("doctor", "--repair", "--yes").stdout

        assert "Text damaged: _clawmem/decisions/queue.md" in said
        home.assert_whole(lost=("_clawmem/decisions/queue.md",))

    def test_a_record_that_makes_no_sense(self, home: Home) -> None:
        """Each is found without a traceback; the repair leaves out records with a value of no vocabulary."""
        for name, sql in SENSELESS.items():
            home.put(home.content)
            home.change(sql)
            assert home.advice() == REPAIR, name
        home.put(home.content)
        home.change(*SENSELESS.values())

        home.done("doctor", "--repair", "--yes")

        home.assert_whole(lost=("_clawmem/decisions/queue.md",), pins=None)
        assert home.advice() in (None, "embed")

    def test_the_schema_entries_of_the_records(self, home: Home) -> None:
        """Without them only the files come back, and nothing that was forgotten; the loss is named."""
        home.spoil(schema_leaves(home)[0], noise, random.Random(6))

        assert home.advice() == REPAIR
        repaired = home.done("doctor", "--repair", "--yes")
        assert "Lost: " in repaired.stdout and "run: clawmem backup FILE" in repaired.stderr
        home.assert_whole(lost=NO_FILES, pins=False)

    def test_a_vault_of_noise(self, home: Home) -> None:
        """Nothing of it can be read: the files come back, and nothing that was forgotten."""
        home.put(random.Random(2).randbytes(50_000))

        assert home.advice() == REPAIR
        home.done("doctor", "--repair", "--yes")

        home.assert_whole(lost=NO_FILES, pins=False)

    @pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(5_000)], ids=["empty", "header"])
    def test_a_total_loss(self, invoke: Invoke, tmp_path: Path, content: bytes) -> None:
        """It is an error that names the next step."""
        vault = tmp_path / "lost.sqlite"
        vault.write_bytes(content)

        done = invoke("--vault", vault, "doctor", "--repair", "--yes")

        assert (done.exit_code, f"clawmem --vault {vault} bootstrap PATH" in done.stderr) == (5, True), (
            done.output
        )

    def test_a_server_that_runs(self, home: Home, environ: dict[str, str], tmp_path: Path) -> None:
        """Its vault is not taken from it: the advice is to stop it, and then it is repaired."""
        with serving(environ, tmp_path / "home"):
            refused = home.invoke("doctor", "--repair", "--yes")
            assert refused.exit_code == 5
            assert "Run: clawmem serve --stop, then repeat" in refused.stderr
            home.done("serve", "--stop")

            home.done("doctor", "--repair", "--yes")

        home.assert_whole()

    def test_a_sound_vault(self, home: Home) -> None:
        """It stays as it is, and nobody is asked."""
        done = home.done("doctor", "--repair")
        assert done.stdout == "No damage found. Nothing was changed.\n"
        assert home.vault.read_bytes() == home.content and not [*home.vault.parent.glob("*damaged*")]

    def test_what_was_no_vault(self, invoke: Invoke, tmp_path: Path) -> None:
        """A mistyped --vault turns no note and no picture into a vault; a FIFO blocks nothing."""
        note = tmp_path / "plan.md"
        for before, kind in (
            (b"# Plan\n\nPaint the boat.\n", "a text file"),
            (b"\x89PNG\0", "not a SQLite database"),
        ):
            note.write_bytes(before)
            for verb in ("status", "vault init", "doctor --repair", "doctor --repair --yes"):
                result = invoke("--vault", note, *verb.split())
                assert (result.exit_code, f"it is {kind}. Nothing was changed" in result.stderr) == (5, True)
                assert "doctor --repair" not in result.stderr
            assert note.read_bytes() == before and not [*note.parent.glob("plan.md?*")]

        note.write_bytes(b"")
        result = invoke("--vault", note, "doctor", "--repair", "--yes")
        assert (result.exit_code, "is a vault without notes" in result.stderr) == (5, True)
        assert invoke("--vault", note, "status").exit_code == 0

        os.mkfifo(tmp_path / "fifo.db")
        for place in (tmp_path / "fifo.db", "/"):
            for verb in ("status", "search x", "doctor --repair --yes", f"backup {tmp_path / 'copy'}"):
                assert (
                    "a vault is a file. Nothing was changed" in invoke("--vault", place, *verb.split()).stderr
                )


def _pages_of(home: Home, table: str) -> Iterator[tuple[int, Damage]]:
    with closing(apsw.Connection(str(home.vault))) as connection:
        sql = "select pageno from dbstat where name = ? and pagetype = 'leaf' order by path"
        yield from ((page, zeroed) for (page,) in connection.execute(sql, (table,)).fetchall())


def _owners(home: Home) -> list[tuple[int, str]]:
    """The pages of the sound vault that hold something, with the tables and indexes to which they belong."""
    file = home.vault.with_name("sound.sqlite")
    file.write_bytes(home.content)
    with closing(apsw.Connection(str(file))) as connection:
        return [(page, name) for page, name in connection.execute("select pageno, name from dbstat")]


def test_a_vault_that_is_open_is_not_discarded(tmp_path: Path) -> None:
    """Its process would go on writing into a file without a name."""
    file = tmp_path / "vault.sqlite"
    with closing(open_vault(str(file))):
        discard_unused_vault(str(file))
        assert file.exists()
    discard_unused_vault(str(file))
    assert not [*tmp_path.iterdir()]
