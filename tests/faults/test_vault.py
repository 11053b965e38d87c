"""Vaults that cannot serve: each says so in one sentence, and nothing is lost or half-written."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command_line import Invoke, assert_refused, write_notes
from fault_worlds import World
from programs import finish, start_program, wait_until_ready

from clawmem.adapters.sqlite import database
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.errors import ClawmemError, NotAVault, VaultError, VaultFull, VaultLocked, VaultReadOnly
from clawmem.ports.storage import LATEST

VAULTS = 15  # that several processes make at the same moment, one after the other


class TestNotAVault:
    def test_a_newer_schema(self, world: World, invoke: Invoke) -> None:
        """It is left alone to the byte; the way out is an upgrade."""
        world.fill(1)
        world.vault.storage.db.write(f"pragma user_version = {LATEST + 1}")
        world.vault.close()
        before = world.vault_file.read_bytes()

        for verb in ("search x", "update", "status", "doctor --verify", "doctor --repair"):
            assert_refused(invoke(verb), "Install a newer clawmem")

        with pytest.raises(VaultError, match=rf"schema {LATEST + 1}, newer") as caught:
            open_vault(str(world.vault_file))
        assert caught.value.code == "VAULT_TOO_NEW"
        assert world.vault_file.read_bytes() == before

    def test_truncated_to_nothing(self, world: World, invoke: Invoke) -> None:
        """Nothing makes a new vault of it in silence: the advised command does, and says what is lost."""
        world.fill(3)
        world.vault.close()
        world.vault_file.write_bytes(b"")

        for verb in ("search x", "update", "status", "doctor", "vault init"):
            done = invoke(verb)
            assert_refused(done, "the file is empty, so its pins, its diary and captured memories are lost")
            assert "Run: clawmem doctor --repair" in done.stderr
            assert world.vault_file.read_bytes() == b""
        repaired = invoke("doctor", "--repair", "--yes")

        assert repaired.exit_code == 0
        assert "Lost: pins, the diary, captured memories" in repaired.stdout
        assert "n2.md" in invoke("search", "animal2").stdout
        assert "ok    storage" in invoke("doctor").stdout

    def test_bytes_gone_bad(self, world: World) -> None:
        """Whatever byte of a vault is wrong, every use of it ends with an answer or an error of ours."""
        world.fill(4)
        world.vault.close()
        content = world.vault_file.read_bytes()
        chance = random.Random(7)
        for _ in range(30):
            broken = bytearray(content)
            for _ in range(8):
                at = chance.randrange(len(broken))
                broken[at : at + 4] = chance.randbytes(4)
            world.vault_file.write_bytes(bytes(broken[: len(content)]))
            try:
                world.open()
                world.ask("animal3 zoo", "query")
                world.vault.storage.check()
                world.update(force=True)
            except ClawmemError as error:
                assert str(error)
            finally:
                world.vault.close()
                for leftover in world.root.parent.glob("vault.sqlite-*"):
                    leftover.unlink()


class TestPlaces:
    @pytest.mark.parametrize(
        ("below", "error"),
        [
            ("file/vault.sqlite", VaultError),
            ("file/sub/vault.sqlite", VaultReadOnly),
            ("folder", NotAVault),
            ("x" * 300, VaultReadOnly),
        ],
    )
    def test_where_none_can_be_made(self, tmp_path: Path, below: str, error: type[VaultError]) -> None:
        """A file in the way, a folder, a name too long: a sentence with another choice, and nothing made."""
        (tmp_path / "file").write_text("mine")
        (tmp_path / "folder").mkdir()

        with pytest.raises(error, match="choose another --vault"):
            open_vault(str(tmp_path / below))

        assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]
        assert (tmp_path / "file").read_text() == "mine"

    @pytest.mark.parametrize("read_only", [False, True], ids=["without permission", "opened for reading"])
    def test_a_vault_that_cannot_be_written(self, world: World, unprivileged: Path, read_only: bool) -> None:
        """It answers questions; writing is refused, and what it holds stays."""
        world.place, world.root = unprivileged, unprivileged / "notes"
        world.vault_file = unprivileged / "vault.sqlite"
        world.write("a.md", "Zebra.")
        world.open()
        world.update()
        world.vault.close()
        world.vault_file.chmod(0o600 if read_only else 0o400)

        world.open(read_only=read_only)
        assert world.found("zebra", "query") == ["a.md"]
        world.write("b.md", "Yak.")
        for write in (world.update, world.embed, lambda: world.update(force=True)):
            with pytest.raises(VaultReadOnly, match="choose another --vault"):
                write()
        assert world.paths() == ["notes/a.md"]


# -- Vaults that are locked, on a full disk, or of an earlier schema.


class TestLocked:
    def test_writing_says_who_is_in_the_way(
        self, world: World, invoke: Invoke, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While another process writes, questions are answered and writers leave with 5 and a reason."""
        monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
        world.vault.storage.db._main.set_busy_timeout(200)
        world.fill(2)
        world.write("new.md", "Newcomer.")
        with writer(world.vault_file, environ):
            for verb in (("update",), ("update", "--all"), ("embed", "--force")):
                assert_refused(invoke(*verb), "is being written by another process. Try again")
            with pytest.raises(VaultLocked) as caught:
                world.update()
            assert caught.value.code == "VAULT_LOCKED"
            for verb in (("search", "animal1"), ("status",), ("list",), ("doctor", "--verify")):
                assert invoke(*verb).exit_code in (0, 7), verb
            assert world.found("animal1", "query")[0] == "n1.md"

        assert world.update().added == 1
        assert world.verify() == []


class TestFull:
    def test_an_update_on_a_full_disk(self, world: World) -> None:
        """Whichever page is missing: `VaultFull`, whole notes that are old or new, and success after freeing."""
        world.fill(4)
        for number in range(4):
            world.write(f"n{number}.md", f"# Changed {number}\n\n" + f"Beast{number} roams.\n\n" * 60)
        (world.root / "n0.md").unlink()
        for number in range(400):  # more than one transaction, also on a fast machine
            world.write(f"new{number}.md", f"# New {number}\n\n" + f"Word{number} and more. " * 60)
        kept = [len(world.paths())]

        for failure in pages_missing(world, world.update, step=40):
            assert failure.code == "VAULT_FULL"
            assert "Free some space and repeat" in str(failure)
            assert world.torn() == []
            kept.append(len(world.paths()))

        assert kept == sorted(kept)
        assert len(set(kept)) > 1  # what was committed before is not read again

        assert world.update().unchanged == 403
        world.embed()
        assert world.verify() == []


class TestNewVaults:
    def test_several_processes_make_one_vault(self, tmp_path: Path, environ: dict[str, str]) -> None:
        """All that open a new vault at the same moment get it, and it is made once."""
        processes = [start_program(OPEN_AT_ONCE, tmp_path, environ=environ) for _ in range(4)]
        wait_until_ready(*processes)
        for number in range(VAULTS):
            (tmp_path / f"go{number}").touch()
            made = {process.stdout.readline() for process in processes}

            assert len(made) == 1
            assert made.pop().split()[-1] == str(LATEST)
        for process in processes:
            finish(process)

    def test_no_part_of_one_has_its_name(
        self, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever ends its making; nor is the log of a deleted vault read into a new one."""
        write_notes(tmp_path / "notes", {"a.md": "# Zebra\n\nThe zebra runs.\n"})
        vault = tmp_path / "vault.sqlite"
        with monkeypatch.context() as patch, pytest.raises(SystemExit):
            patch.setattr("clawmem.adapters.sqlite.vault.prepare", sys.exit)
            open_vault(str(vault))
        assert not vault.exists()
        with closing(open_vault(str(vault))):
            assert "1 added" in invoke("update").stdout
            log = Path(f"{vault}-wal").read_bytes()
        vault.unlink()
        Path(f"{vault}-wal").write_bytes(log)

        assert "1 added" in invoke("update").stdout


def pages_missing(world: World, run: Callable[[], object], *, step: int) -> Iterator[VaultFull]:
    """*run* again and again, with some more pages each time, until it succeeds; every failure on the way."""
    connection = world.vault.storage.db._main
    pages = connection.pragma("page_count")
    while True:
        connection.pragma("max_page_count", pages)
        try:
            run()
            return
        except VaultFull as full:
            failure = full
        finally:
            connection.pragma("max_page_count", 1 << 30)
        yield failure
        pages += step


@contextmanager
def writer(path: Path, environ: dict[str, str], seconds: float = 600) -> Iterator[None]:
    with start_program(WRITER, path, seconds, environ=environ) as process:
        wait_until_ready(process)
        try:
            yield
        finally:
            process.kill()


WRITER = """
import sys, time
from clawmem.adapters.sqlite.vault import open_vault

vault = open_vault(sys.argv[1])
with vault.transactions.writing():
    print("ready", flush=True)
    time.sleep(float(sys.argv[2]))
"""

OPEN_AT_ONCE = f"""
import sys
from pathlib import Path
from clawmem.adapters.sqlite.vault import open_vault

print("ready", flush=True)
for number in range({VAULTS}):
    while not Path(sys.argv[1], f"go{{number}}").exists():
        pass
    vault = open_vault(str(Path(sys.argv[1], f"v{{number}}.sqlite")))
    print(vault.storage.db.value("select value from meta where name = 'vault_id'"), vault.storage.info().schema, flush=True)
    vault.close()
"""
