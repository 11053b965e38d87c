"""Read connections of a database, and snapshots."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from threading import Barrier

import apsw
import pytest

from clawmem.adapters.sqlite.database import MOST_IDLE, Database
from clawmem.ports.errors import VaultError

THREADS = 12


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "numbers.sqlite")
    with closing(Database(path)) as db:
        db.write_ahead()
        db.write("create table numbers (n)")
        db.write_many("insert into numbers values (?)", [(n,) for n in range(THREADS)])
    return path


def connections(path: str) -> list[apsw.Connection]:
    gc.collect()
    return [one for one in apsw.connections() if one.filename == path]


def test_threads_one_after_the_other_share_one(path: str) -> None:
    """A reader that one thread gave back is lent to the next."""
    with closing(Database(path, read_only=True)) as db:
        for _ in range(3):
            with ThreadPoolExecutor(1) as thread:
                assert thread.submit(db.value, "select count(*) from numbers").result() == THREADS

        assert len(connections(path)) == 1


def test_threads_at_once_have_one_each(path: str) -> None:
    """None waits for another; afterwards no more stay open than are kept for the next."""
    everybody = Barrier(THREADS, timeout=10)

    def read(number: int) -> list[int]:
        rows = db.stream("select n from numbers order by n")
        first = list(islice(rows, 1))
        everybody.wait()  # all of them are in the middle of it
        return [n for (n,) in [*first, *rows]]

    with closing(Database(path, read_only=True)) as db:
        with ThreadPoolExecutor(THREADS) as threads:
            assert list(threads.map(read, range(THREADS))) == [list(range(THREADS))] * THREADS

        assert len(connections(path)) == MOST_IDLE


def test_nothing_is_open_after_the_last_is_closed(path: str) -> None:
    """The others' connections stay; what is closed cannot be read any more."""
    one, other = Database(path, read_only=True), Database(path, read_only=True)
    one.close()
    one.close()
    assert other.value("select count(*) from numbers") == THREADS
    with pytest.raises(VaultError):
        one.value("select 1")

    other.close()
    assert connections(path) == []


def test_what_nobody_closed_closes_with_its_thread(path: str) -> None:
    """A thread of a server ends without a word, and must not keep the log of the vault from being put away."""
    with closing(Database(path)) as writer:
        writer.write_ahead()
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(lambda: Database(path, read_only=True).value("select 1")).result() == 1
        writer.write("delete from numbers")
        gc.collect()

    assert not Path(f"{path}-wal").exists()


# -- snapshots ----------------------------------------------------------------------------------------


def test_a_snapshot_does_not_see_later_changes(path: str) -> None:
    """Whoever writes meanwhile: the thread reads one state in the block, and the latest one after it."""
    with closing(Database(path)) as writer, closing(Database(path, read_only=True)) as db:
        with db.snapshot():
            before = db.value("select count(*) from numbers")
            writer.write("insert into numbers values (99)")

            assert db.rows("select n from numbers where n > 50") == []
            assert db.value("select count(n) from numbers") == before == THREADS

        assert db.value("select count(n) from numbers") == THREADS + 1
