"""Threads of a server: the work that they do and refuse, and the errors that they survive."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from time import monotonic

import anyio
import pytest

from clawmem.app.operations.dispatch import READERS, WAITING, Busy, Dispatcher
from clawmem.app.serve.background import BackgroundThread
from clawmem.app.settings.model import load_settings

SECONDS = 20.0


@pytest.fixture
def dispatcher(tmp_path: Path) -> Dispatcher:
    environ = {"HOME": str(tmp_path), "INDEX_PATH": str(tmp_path / "none.sqlite")}
    return Dispatcher(lambda: load_settings(environ=environ))


def test_threads_go_on_after_errors(dispatcher: Dispatcher) -> None:
    """An error, even one that ends a program, goes to the caller."""

    async def ask() -> str:
        with pytest.raises(ZeroDivisionError):
            await dispatcher.in_thread(lambda: 1 // 0)
        with pytest.raises(SystemExit):
            await dispatcher.in_thread(lambda: sys.exit(2))
        return await dispatcher.in_thread(lambda: "done")

    assert anyio.run(ask) == "done"


def test_too_much_is_refused_at_once(dispatcher: Dispatcher) -> None:
    """24 requests run or wait; a further one is refused instead of waiting."""
    release, results = threading.Event(), list[bool]()

    async def wait() -> None:
        results.append(await dispatcher.in_thread(lambda: release.wait(SECONDS)))

    async def crowd() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(READERS + WAITING):
                tasks.start_soon(wait)
            await anyio.sleep(0.2)
            with pytest.raises(Busy):
                await dispatcher.in_thread(lambda: None)
            release.set()

    anyio.run(crowd)
    assert results == [True] * 24


def test_slow_work_keeps_nobody_waiting(dispatcher: Dispatcher) -> None:
    """Other requests run concurrently with it, and its caller may leave."""
    release = threading.Event()

    async def ask() -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(dispatcher.in_thread, lambda: release.wait(SECONDS))
            await anyio.sleep(0.05)
            result = await dispatcher.in_thread(lambda: "done")
            tasks.cancel_scope.cancel()
        release.set()
        return result

    began = monotonic()
    assert anyio.run(ask) == "done"
    assert monotonic() - began < SECONDS / 2


def test_a_drainer_looks_whenever_it_is_woken() -> None:
    """With its start, with every call, and after a failure as before."""
    looked, complaints = threading.Semaphore(0), []

    def drain() -> None:
        looked.release()
        if not complaints:
            raise OSError("the disk")

    drainer = BackgroundThread("drain", lambda stop: drain(), lambda name, error: complaints.append(error))
    drainer.start()
    assert looked.acquire(timeout=SECONDS)
    for _ in range(2):
        drainer.wake()
        assert looked.acquire(timeout=SECONDS)
    drainer.stop()
    drainer.join(SECONDS)

    assert [str(error) for error in complaints] == ["the disk"]
