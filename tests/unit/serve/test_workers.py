"""Threads that work for a server: what they do, refuse and survive."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from clawmem.app.bootstrap.resident import WarmVault
from clawmem.app.serve.background import Drainer
from clawmem.app.serve.workers import WAITING, Busy, Turns, Workers

SECONDS = 20.0


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"INDEX_PATH": str(tmp_path / "none.sqlite")}


def test_a_thread_goes_on_after_whatever_happens(environ: dict[str, str]) -> None:
    """An error, even one that ends a program, goes to who asked."""
    workers = Workers(lambda: WarmVault(environ), 1)
    workers.start()

    failed = workers.submit(lambda vault: 1 // 0)
    left = workers.submit(lambda vault: sys.exit(2))
    done = workers.submit(lambda vault: "done")

    assert isinstance(failed.exception(SECONDS), ZeroDivisionError)
    assert isinstance(left.exception(SECONDS), RuntimeError)
    assert done.result(SECONDS) == "done"
    workers.close(SECONDS)


def test_too_much_is_refused_at_once(environ: dict[str, str]) -> None:
    """Who comes to a queue that is long is told, instead of waiting for the end of it."""
    workers = Workers(lambda: WarmVault(environ), 1)
    accepted = [workers.submit(lambda vault: 1) for _ in range(WAITING + 1)]

    with pytest.raises(Busy):
        workers.submit(lambda vault: 1)

    workers.start()
    assert sum(one.result(SECONDS) for one in accepted) == WAITING + 1
    workers.close(SECONDS)


def test_what_hangs_does_not_keep_the_process(environ: dict[str, str]) -> None:
    """Closing waits for as long as it was told to."""
    hanging, held = threading.Event(), threading.Event()
    workers = Workers(lambda: WarmVault(environ), 1)
    workers.start()
    workers.submit(lambda vault: (held.set(), hanging.wait(SECONDS)))
    assert held.wait(SECONDS)

    workers.close(0.05)

    assert [thread for thread in threading.enumerate() if thread.name == "clawmem-0" and thread.daemon]
    hanging.set()


def test_a_drainer_looks_whenever_it_is_woken() -> None:
    """With its start, with every call, and after a failure as before."""
    looked, complaints = threading.Semaphore(0), []

    def drain() -> None:
        looked.release()
        if not complaints:
            raise OSError("the disk")

    drainer = Drainer(drain, complaints.append)
    drainer.start()
    assert looked.acquire(timeout=SECONDS)
    for _ in range(2):
        drainer.wake()
        assert looked.acquire(timeout=SECONDS)
    drainer.close(SECONDS)

    assert [str(error) for error in complaints] == ["the disk"]


class TestTurns:
    """Threads go one after the other, as long as that is quick."""

    def test_one_at_a_time(self) -> None:
        """Nobody begins while somebody is at it."""
        turns, inside, most = Turns(SECONDS), list[int](), list[int]()

        def work() -> None:
            with turns.taken():
                inside.append(1)
                most.append(len(inside))
                sleep(0.005)
                inside.pop()

        _together(work, 8)

        assert most == [1] * 8

    def test_nobody_waits_long(self) -> None:
        """Past its time a turn keeps nobody waiting, and does not let several into the next one."""
        turns, hangs, goes_on = Turns(0.02), threading.Event(), threading.Event()

        def hang() -> None:
            with turns.taken():
                hangs.set()
                goes_on.wait(SECONDS)

        hanging = threading.Thread(target=hang)
        hanging.start()
        assert hangs.wait(SECONDS)
        began = monotonic()
        for _ in range(20):
            with turns.taken():
                pass

        assert monotonic() - began < SECONDS / 2
        assert hanging.is_alive()
        goes_on.set()
        hanging.join(SECONDS)
        with turns.taken():
            assert not turns._turn.acquire(blocking=False)

    def test_an_error_ends_a_turn(self) -> None:
        """The next one may begin at once."""
        turns = Turns(SECONDS)

        with suppress(ValueError), turns.taken():
            raise ValueError

        assert turns._turn.acquire(blocking=False)


def _together(work: Callable[[], None], number: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
