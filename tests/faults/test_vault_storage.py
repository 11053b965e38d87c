"""Vaults that are locked, on a full disk, or of an earlier schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Invoke, assert_refused
from fault_worlds import World
from programs import finish, start_program, wait_until_ready

from clawmem.adapters.sqlite import database
from clawmem.adapters.sqlite.schema import LATEST
from clawmem.ports.errors import VaultFull, VaultLocked


class TestLocked:
    def test_writing_says_who_is_in_the_way(
        self, world: World, invoke: Invoke, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While another process writes, questions are answered and writers leave with 5 and a reason."""
        monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
        world.fill(2)
        world.write("new.md", "Newcomer.")
        with writer(world.vault_file, environ):
            for verb in (("update",), ("reindex", "--force"), ("embed", "--force")):
                assert_refused(invoke(*verb), "is being written by another process. Try again")
            with pytest.raises(VaultLocked) as caught:
                world.update()
            assert caught.value.code == "VAULT_LOCKED"
            for verb in (("search", "animal1"), ("status",), ("list",), ("verify",)):
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
        for number in range(60):
            world.write(f"new{number}.md", f"# New {number}\n\n" + f"Word{number} and more. " * 300)
        kept = [len(world.paths())]

        for failure in pages_missing(world, world.update, step=12):
            assert failure.code == "VAULT_FULL"
            assert "Free some space and repeat" in str(failure)
            assert world.torn() == []
            kept.append(len(world.paths()))

        assert kept == sorted(kept)
        assert len(set(kept)) > 1  # what was committed before is not read again

        assert world.update().unchanged == 63
        world.embed()
        assert world.verify() == []


class TestNewVaults:
    def test_several_processes_make_one_vault(self, tmp_path: Path, environ: dict[str, str]) -> None:
        """All that open a new vault at the same moment get it, and it is made once."""
        processes = [start_program(OPEN_AT_ONCE, tmp_path, environ=environ) for _ in range(4)]
        wait_until_ready(*processes)
        for number in range(40):
            (tmp_path / f"go{number}").touch()
            made = {process.stdout.readline() for process in processes}

            assert len(made) == 1
            assert made.pop().split()[-1] == str(LATEST)
        for process in processes:
            finish(process)


def pages_missing(world: World, run: Callable[[], object], *, step: int) -> Iterator[VaultFull]:
    """*run* again and again, with some more pages each time, until it succeeds; every failure on the way."""
    connection = world.vault.storage._db._main
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
    """Another process in the middle of a write."""
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

OPEN_AT_ONCE = """
import sys
from pathlib import Path
from clawmem.adapters.sqlite.vault import open_vault

print("ready", flush=True)
for number in range(40):
    while not Path(sys.argv[1], f"go{number}").exists():
        pass
    vault = open_vault(str(Path(sys.argv[1], f"v{number}.sqlite")))
    print(vault.storage._db.value("select value from meta where name = 'vault_id'"), vault.storage.info().schema, flush=True)
    vault.close()
"""
