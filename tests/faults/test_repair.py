"""A damaged vault: damage is noticed, the advised command repairs it, and what was forgotten stays forgotten."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from command_line import Invoke
from server_process import serving
from typer.testing import CliRunner, Result

from clawmem.adapters.sqlite.rescue.pages import PageFile
from clawmem.adapters.sqlite.rescue.salvage import salvage
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.interfaces.cli.command_line import cli
from clawmem.app.services.capture.memories import Memories
from clawmem.ports.errors import VaultDamaged

Damage = Callable[[bytes, random.Random], bytes]

EXAMPLES = Path(__file__).parents[2] / "examples/notes"
FORGOTTEN_FILE = "meetings/2026-08-05-i18n-terms.md"
SIZE = 4096  # of a page
SECRET_WORD = "quokkaberry"
PINNED = "notes/hub/index.md"
MEMORIES = {
    "decisions/queue.md": "# Queue\n\nWe chose a zebrafish queue for the nightly jobs.\n",
    "decisions/long.md": "# Long\n\n" + "The wombatine ledger is written before it is read. " * 200,
}
FORGOTTEN_MEMORY = ("decisions/secret.md", f"# Secret\n\nThe {SECRET_WORD} plan was dropped.\n")
SENSELESS = {
    "kind": "update fragments set kind = 'brontmatter' where key = (select max(key) from fragments)",
    "reason": "update documents set inactive = 'forgotteo' where inactive = 'forgotten'",
    "state": "update documents set embed_state = 'synbed' where collection = 'notes'",
    "origin": "update documents set origin = 'urer' where path = 'decisions/queue.md'",
    "tags": "update documents set tags = '[' where path = 'decisions/queue.md'",
    "relation": "update relations set kind = 'semantid'",
    "vector": "update space_vectors set vector = zeroblob(length(vector)) where id % 3 = 0",
    "short vector": "update space_vectors set vector = substr(vector, 1, 6) where id % 3 = 0",
}
ADVICE = re.compile(r"Run: clawmem ((?!doctor)[a-z][a-z-]*)")


def zeroed(page: bytes, chance: random.Random) -> bytes:
    """Nothing but zeros."""
    return bytes(len(page))


def noise(page: bytes, chance: random.Random) -> bytes:
    """Anything."""
    return chance.randbytes(len(page))


class Home:
    """A home with a vault of the example notes, pins, a diary, memories, and forgotten notes."""

    def __init__(self, place: Path, invoke: Invoke) -> None:
        self.invoke = invoke
        self.vault = place / "vault.sqlite"
        shutil.copytree(EXAMPLES, place / "notes", dirs_exist_ok=True)
        (place / "notes" / FORGOTTEN_FILE).write_text(f"# Terms\n\nThe {SECRET_WORD} list.\n", "utf-8")
        self.done("init")
        self.done("update")
        with closing(SqliteVault(str(self.vault))) as vault, vault.writing():
            memories = Memories(vault, SystemClock())
            for path, text in [*MEMORIES.items(), FORGOTTEN_MEMORY]:
                memories.write(path, text[2:8].strip(), text, "decision", 0.8)
        self.done("diary", "write", "Walked the numbat round the lake.")
        self.done("pin", PINNED)
        self.done("forget", "--yes", f"notes/{FORGOTTEN_FILE}")
        self.done("forget", "--yes", f"_clawmem/{FORGOTTEN_MEMORY[0]}")
        self.done("enrich")
        self.done("embed")
        self.content = self.vault.read_bytes()

    def done(self, *command: str) -> Result:
        """A command that works."""
        result = self.invoke(*command)
        assert result.exit_code == 0, (command, result.output)
        return result

    def spoil(self, number: int, damage: Damage, chance: random.Random) -> None:
        """Put the whole vault back, with page *number* damaged."""
        page = slice((number - 1) * SIZE, number * SIZE)
        content = bytearray(self.content)
        content[page] = damage(self.content[page], chance)
        self.put(bytes(content))

    def change(self, sql: str) -> None:
        """Change records behind the back of clawmem."""
        connection = apsw.Connection(str(self.vault))
        connection.execute(sql)
        assert connection.changes()
        connection.close()

    def put(self, content: bytes) -> None:
        """Let *content* be the vault."""
        for leftover in self.vault.parent.glob("vault.sqlite[-.][wsdr]*"):
            leftover.unlink()
        self.vault.write_bytes(content)

    def advice(self) -> str | None:
        """The command that somebody is advised to run who looks at the vault in the usual ways."""
        for command in (("search", "queue"), ("vsearch", "queue"), ("verify",), ("doctor",)):
            result = self.invoke(*command)
            assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
            wrong = [line for line in result.output.splitlines() if not line.startswith("ok ")]
            if found := ADVICE.search("\n".join(wrong)):
                return found[1]
        return None

    def assert_whole(self, *, lost: tuple[str, ...] = (), pins: bool = True) -> None:
        """Everything but *lost* is there as it was, nothing that was forgotten, and all checks pass."""
        listed = self.done("list", "--limit", "500").stdout
        assert PINNED in listed
        for path in MEMORIES:
            assert f"_clawmem/{path}" in listed or f"_clawmem/{path}" in lost, path
        assert len(listed.splitlines()) + len(lost) >= 1 + 29 + len(MEMORIES) + 1
        assert FORGOTTEN_FILE not in listed
        assert FORGOTTEN_MEMORY[0] not in listed
        for verb in ("search", "query"):
            assert SECRET_WORD not in self.invoke(verb, SECRET_WORD).stdout.replace(f"for: {SECRET_WORD}", "")
        with closing(SqliteVault(str(self.vault), read_only=True)) as vault:
            pinned = vault.documents.at(*PINNED.split("/", 1))
            assert pinned and pinned.pinned is pins
        assert self.done("verify").stdout == "Files, records and indexes agree.\n"


@pytest.fixture
def home(tmp_path: Path, invoke: Invoke) -> Home:
    return Home(tmp_path, invoke)


def pages(home: Home, number: int) -> Iterator[tuple[int, Damage]]:
    """So many pages that hold something, zeroed and overwritten in turn."""
    file = PageFile(str(home.vault))
    free = file.free()
    used = [page for page in range(1, file.count + 1) if page not in free]
    chosen = random.Random(11).sample(used, min(number, len(used)))
    for turn, page in enumerate([1, *chosen]):
        is_empty = not any(file[page])  # zeros in the place of zeros are no damage
        yield page, noise if is_empty or turn % 2 else zeroed


def test_pages(home: Home) -> None:
    """Of a sample of pages each that is damaged is noticed, and what is advised repairs the vault."""
    every_page_is_repaired(home, 20)


@pytest.mark.slow
def test_many_pages(home: Home) -> None:
    """The same of a hundred pages."""
    every_page_is_repaired(home, 100)


def every_page_is_repaired(home: Home, number: int) -> None:
    """Damage one page after the other."""
    chance = random.Random(5)
    for page, damage in pages(home, number):
        home.spoil(page, damage, chance)
        advised = home.advice()
        assert advised in ("repair", "rebuild"), (page, damage.__name__, advised)
        repaired = home.invoke(advised, *(["--yes", "--json"] if advised == "repair" else []))
        assert repaired.exit_code == 0, (page, damage.__name__, repaired.output)
        lost = tuple(json.loads(repaired.stdout)["notes"]) if advised == "repair" else ()
        home.assert_whole(lost=lost)
        assert home.advice() in (None, "embed"), page  # a vector that is lost is made anew


class TestSalvage:
    """What is read is what SQLite reads, and of the rest as much as can be."""

    def test_a_sound_vault(self, home: Home, tmp_path: Path) -> None:
        """Every record of every table is the same, also what stands in the log only."""
        with closing(SqliteVault(str(home.vault))) as vault:
            vault.documents.pin(1, True)  # in the log
            assert Path(f"{home.vault}-wal").stat().st_size
            salvaged = salvage(str(home.vault), str(tmp_path / "new.sqlite"))
            before = rows(vault)
        with closing(SqliteVault(str(tmp_path / "new.sqlite"))) as vault:
            assert rows(vault) == before
            assert vault.check() == []
        assert (salvaged.lost, salvaged.notes, salvaged.spoilt) == ({}, (), ())

    def test_no_more_than_one_page_is_lost(self, home: Home, tmp_path: Path) -> None:
        """Whichever page is damaged: at most its own records are lost, and of a page between them none."""
        with closing(SqliteVault(str(home.vault))) as vault:
            before = {name: len(found) for name, found in rows(vault).items()}
        chance = random.Random(3)
        target = tmp_path / "new.sqlite"
        for page, damage in pages(home, 60):
            home.spoil(page, damage, chance)
            salvaged = salvage(str(home.vault), str(target))
            short = {name for name, count in before.items() if salvaged.kept.get(name, 0) < count}
            assert len(short) <= 1, (page, short)
            assert short <= set(salvaged.lost), page
            for leftover in tmp_path.glob("new.sqlite*"):
                leftover.unlink()

    def test_another_programs_database(self, tmp_path: Path) -> None:
        """It is left alone."""
        import sqlite3

        path = tmp_path / "other.sqlite"
        with closing(sqlite3.connect(path)) as other:
            other.execute("create table bookmarks (url text)")
            other.execute("pragma application_id = 77")
            other.commit()
        before = path.read_bytes()

        with pytest.raises(VaultDamaged, match="another program"):
            salvage(str(path), str(tmp_path / "new.sqlite"))

        assert (path.read_bytes(), list(tmp_path.glob("new*"))) == (before, [])


def rows(vault: SqliteVault) -> dict[str, list[str]]:
    """Every record of a vault, by table."""
    from clawmem.adapters.sqlite.rescue.layout import tables_of

    return {
        table.name: sorted(map(repr, vault._db.rows(f"select * from {table.name}")))
        for table in tables_of(vault._db)
    }


class TestTheCommand:
    def test_it_asks_first(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who says no on a terminal has the vault as it was, and heard what would have been lost."""
        content_page = next(page for page, _ in _pages_of(home, "content"))
        home.spoil(content_page, zeroed, random.Random())
        before = home.vault.read_bytes()
        monkeypatch.setattr("clawmem.app.interfaces.cli.repairing.may_ask", lambda ctx: True)

        result = CliRunner().invoke(cli, ["repair"], input="n\n")

        assert result.exit_code == 130
        assert "rows would be lost" in result.stdout
        assert home.vault.read_bytes() == before
        assert [path.name for path in home.vault.parent.glob("vault.sqlite.*")] == ["vault.sqlite.forgotten"]

    def test_the_damaged_file_is_kept(self, home: Home) -> None:
        """To the byte, and like the new one for its owner alone."""
        home.spoil(1, noise, random.Random(1))
        damaged = home.vault.read_bytes()

        told = json.loads(home.done("--json", "repair", "--yes").stdout)

        assert Path(told["damaged"]).read_bytes() == damaged
        assert home.vault.stat().st_mode & 0o777 == 0o600

    def test_a_lost_memory_is_named(self, home: Home) -> None:
        """What no file and no record holds any more is said by its place."""
        content = home.content.replace(b"zebrafish queue", b"zebrafish \xff\xff\xff\xff\xff")
        home.put(content)

        said = home.done("repair", "--yes").stdout

        assert "Text lost: _clawmem/decisions/queue.md" in said
        home.assert_whole(lost=("_clawmem/decisions/queue.md",))

    def test_a_damaged_word(self, home: Home) -> None:
        """A memory whose text is not what it was is found out, kept in the archive, and named; a file is read again."""
        home.put(home.content.replace(b"zebrafish queue", b"zebrafisk queue"))

        assert "_clawmem/decisions/queue.md has another body stored" in home.invoke("verify").stdout
        said = home.done("repair", "--yes").stdout

        assert "Text damaged, kept in the archive: _clawmem/decisions/queue.md" in said
        home.assert_whole(lost=("_clawmem/decisions/queue.md",))

    @pytest.mark.parametrize("sql", SENSELESS.values(), ids=SENSELESS)
    def test_a_record_that_makes_no_sense(self, home: Home, sql: str) -> None:
        """It is found without a traceback, and the first command that is advised repairs it."""
        home.change(sql)

        assert home.advice() == "repair"
        home.done("repair", "--yes")

        home.assert_whole()
        assert home.advice() in (None, "embed")

    def test_a_page_of_records_that_the_index_reads(self, home: Home) -> None:
        """Damage of the stored vectors is not blamed on the index: no rebuild repairs it."""
        for page, damage in _pages_of(home, "space_vectors"):
            home.spoil(page, damage, random.Random())
            assert home.advice() == "repair", page

    def test_another_heading(self, home: Home) -> None:
        """A fragment that its file does not give is made again from the file."""
        home.change("update fragments set heading = 'Another' where key in (select min(key) from fragments)")

        assert "Run: clawmem reindex --force" in home.invoke("verify").stdout
        home.done("reindex", "--force")

        home.assert_whole()

    def test_a_vault_of_noise(self, home: Home) -> None:
        """Nothing of it can be read: the files come back, and nothing that was forgotten."""
        home.put(random.Random(2).randbytes(50_000))

        assert home.advice() == "repair"
        home.done("repair", "--yes")

        home.assert_whole(lost=(*(f"_clawmem/{path}" for path in MEMORIES), "the diary"), pins=False)

    def test_a_server_that_runs(self, home: Home, environ: dict[str, str], tmp_path: Path) -> None:
        """Its vault is not taken from it: the advice is to stop it, and then it is repaired."""
        with serving(environ, tmp_path / "home"):
            refused = home.invoke("repair", "--yes")
            assert refused.exit_code == 5
            assert "Run: clawmem serve --stop, then clawmem repair" in refused.stderr
            home.done("serve", "--stop")

            home.done("repair", "--yes")

        home.assert_whole()

    def test_no_vault(self, invoke: Invoke) -> None:
        """There is nothing to repair, and a way to begin."""
        result = invoke("--vault", "/nowhere/vault.sqlite", "repair", "--yes")

        assert (result.exit_code, "clawmem bootstrap PATH" in result.stderr) == (5, True)


def _pages_of(home: Home, table: str) -> Iterator[tuple[int, Damage]]:
    from clawmem.adapters.sqlite.rescue.cells import read_page

    with closing(SqliteVault(str(home.vault), read_only=True)) as vault:
        root = vault._db.value("select rootpage from sqlite_schema where name = ?", (table,))
    file = PageFile(str(home.vault))
    page = read_page(root, file.__getitem__, file.usable)
    yield from ((child, zeroed) for child in page.children)


class TestForgetting:
    """What was forgotten outlives the vault."""

    def test_a_deleted_vault(self, home: Home) -> None:
        """A new vault over the same files does not take the forgotten note in."""
        home.vault.unlink()

        home.done("init")
        home.done("update")

        listed = home.done("list", "--limit", "500").stdout
        assert PINNED in listed
        assert FORGOTTEN_FILE not in listed
        assert SECRET_WORD not in home.done("search", SECRET_WORD).stdout.replace(f"for: {SECRET_WORD}", "")

    def test_an_older_copy(self, home: Home, tmp_path: Path) -> None:
        """A copy from before the forgetting, put back, forgets with the next update."""
        copy = home.vault.read_bytes()
        home.done("forget", "--yes", "notes/people/team.md")
        home.put(copy)
        assert "notes/people/team.md" in home.done("list", "--limit", "500").stdout

        home.done("update")

        assert "notes/people/team.md" not in home.done("list", "--limit", "500").stdout
        assert home.done("verify").stdout == "Files, records and indexes agree.\n"

    def test_a_lost_record(self, home: Home) -> None:
        """A vault that knows more than the file writes it down with the next update."""
        record = Path(f"{home.vault}.forgotten")
        record.unlink()

        home.done("update")
        home.vault.unlink()
        home.done("init")
        home.done("update")

        assert record.stat().st_mode & 0o777 == 0o600
        assert FORGOTTEN_FILE not in home.done("list", "--limit", "500").stdout

    def test_a_torn_record(self, home: Home) -> None:
        """A line that a kill cut, and lines of anything else, spoil no other line."""
        record = Path(f"{home.vault}.forgotten")
        record.write_bytes(
            b'\xff\xfe\n[1]\n{"collection": 1}\n' + record.read_bytes() + b'{"collection": "no'
        )
        home.done("forget", "--yes", "notes/people/team.md")
        home.vault.unlink()
        home.done("init")
        home.done("update")

        listed = home.done("list", "--limit", "500").stdout
        assert FORGOTTEN_FILE not in listed
        assert "people/team.md" not in listed

    def test_a_cut_record_under_a_sound_vault(self, home: Home) -> None:
        """The doctor finds it, and the advised command writes the file again from the vault."""
        record = Path(f"{home.vault}.forgotten")
        for bytes_lost in (
            2,
            5,
            len(record.read_bytes().splitlines(keepends=True)[-1]),
            record.stat().st_size,
        ):
            os.truncate(record, record.stat().st_size - bytes_lost)

            examined = home.invoke("doctor")
            assert (examined.exit_code, home.advice()) == (1, "update")
            assert f"{record} is damaged: notes that were forgotten may come back" in examined.stdout
            assert home.done("update").stderr == ""

            assert "FAIL" not in home.invoke("doctor").stdout
            assert list(home.vault.parent.glob("*.damaged-*")) == []
            assert record.stat().st_mode & 0o777 == 0o600
        home.vault.unlink()
        home.done("init")
        home.done("update")
        assert FORGOTTEN_FILE not in home.done("list", "--limit", "500").stdout

    def test_a_cut_record_under_a_lost_vault(self, home: Home) -> None:
        """The readable places stay forgotten; the repair and the doctor warn until the copy is deleted."""
        home.done("forget", "--yes", "notes/people/team.md")
        record = Path(f"{home.vault}.forgotten")
        places = record.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join(places)[: -len(places[-1]) - 5])
        cut = record.read_bytes()
        home.put(random.Random(3).randbytes(50_000))

        repaired = home.done("repair", "--yes")

        copy = Path(f"{record}.damaged-1")
        assert f"{record} was damaged" in repaired.stderr
        assert (
            f"notes that were forgotten may come back. Forget them again, then delete {copy}."
            in repaired.stderr
        )
        assert copy.read_bytes() == cut
        listed = home.done("list", "--limit", "500").stdout
        assert ("notes/people/team.md" in listed, FORGOTTEN_FILE in listed) == (True, False)
        assert str(copy) in home.invoke("doctor").stdout
        assert str(copy) in home.done("update").stderr

        home.done("forget", "--yes", "notes/people/team.md")
        copy.unlink()
        assert home.done("update").stderr == ""
        assert "ok    forgotten notes" in home.invoke("doctor").stdout

    def test_a_cut_record_and_a_deleted_vault(self, home: Home) -> None:
        """A new vault cannot know what the file held: the update warns."""
        record = Path(f"{home.vault}.forgotten")
        os.truncate(record, record.stat().st_size // 2)
        home.vault.unlink()

        home.done("init")

        assert "notes that were forgotten may come back" in home.done("update").stderr

    def test_a_changed_letter_in_a_record(self, home: Home) -> None:
        """A place that is not what was written forgets no other note."""
        record = Path(f"{home.vault}.forgotten")
        content = record.read_bytes().replace(FORGOTTEN_FILE.encode(), b"people/team.md")
        assert content != record.read_bytes()
        record.write_bytes(content)

        assert "is damaged" in home.invoke("doctor").stdout
        home.done("update")

        assert "notes/people/team.md" in home.done("list", "--limit", "500").stdout

    def test_a_record_of_an_earlier_version(self, home: Home) -> None:
        """Lines without checksums are read, and get them with the next update."""
        record = Path(f"{home.vault}.forgotten")
        told = [json.loads(line) for line in record.read_bytes().splitlines()]
        places = [{name: one[name] for name in ("collection", "path", "at")} for one in told if "path" in one]
        record.write_text("".join(f"\n{json.dumps(place)}\n" for place in places), "utf-8")
        earlier = record.read_bytes()
        home.vault.unlink()
        home.done("init")

        assert home.done("update").stderr == ""

        assert FORGOTTEN_FILE not in home.done("list", "--limit", "500").stdout
        assert record.read_bytes() != earlier
        os.truncate(record, record.stat().st_size - 5)
        assert "is damaged" in home.invoke("doctor").stdout
