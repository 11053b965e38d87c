"""Threads that do what is asked of the server, each with the vault open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from queue import Full, Queue
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from clawmem.app.serve.warm_vault import WarmVault
from clawmem.ports.errors import ClawmemError

T = TypeVar("T")

THREADS = 4
PATIENCE_S = 0.05  # with the thread whose turn it is
WAITING = 16  # pieces of work that may wait for a thread; who comes then is better served elsewhere


class Busy(ClawmemError):
    """All threads have work, and enough waits for them."""

    code = "BUSY"

    def __init__(self) -> None:
        super().__init__("The server has enough to do just now. Try again in a moment.")


class _Task(NamedTuple):
    work: Callable[[WarmVault], Any]
    future: Future[Any]


class Turns:
    """
    One thread at a time, as long as that is quick.

    One interpreter computes for one thread; several that compute hand it to and fro with every row of the vault, and
    together answer a third less than one after the other. But who waits for a model or a disk keeps nobody waiting for
    long: past *patience_s* since its turn began the others go on beside it.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._turn = threading.Lock()
        self._began = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """The length of a turn."""
        patience = self._began + self._patience_s - monotonic()
        if not self._turn.acquire(timeout=max(0.0, patience)):
            yield  # beside who is at it for so long
            return
        self._began = monotonic()
        try:
            yield
        finally:
            self._turn.release()


class Workers:
    """
    *count* threads that take turns. A process that ends does not wait for them: what hangs would keep it.

    Args:
        open_vault: Called once in each thread.
    """

    def __init__(self, open_vault: Callable[[], WarmVault], count: int = THREADS) -> None:
        self._tasks: Queue[_Task | None] = Queue(WAITING + count)
        self._open_vault = open_vault
        self._turns = Turns()
        self._threads = [
            threading.Thread(target=self._run, name=f"clawmem-{number}", daemon=True)
            for number in range(count)
        ]

    def start(self) -> None:
        """Let them begin."""
        for thread in self._threads:
            thread.start()

    def submit(self, work: Callable[[WarmVault], T]) -> Future[T]:
        """
        Have *work* done, sooner or later, with the vault of the thread that does it.

        Raises:
            Busy: too much waits already; nothing was taken on.
        """
        future: Future[T] = Future()
        try:
            self._tasks.put_nowait(_Task(work, future))
        except Full:
            raise Busy from None
        return future

    def close(self, seconds: float) -> None:
        """Take on nothing more, and wait *seconds* at most for what is in hand."""
        end = monotonic() + seconds
        with suppress(Full):  # then they all hang
            for _ in self._threads:
                self._tasks.put(None, timeout=max(0.0, end - monotonic()))
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))

    def _run(self) -> None:
        vault = self._open_vault()
        vault.warm_up()
        while task := self._tasks.get():
            if task.future.set_running_or_notify_cancel():
                with self._turns.taken():
                    _do(task, vault)
        vault.close()


def _do(task: _Task, vault: WarmVault) -> None:
    try:
        task.future.set_result(task.work(vault))
    except Exception as error:  # noqa: BLE001  who asked is told
        task.future.set_exception(error)
    except BaseException as error:  # noqa: BLE001  a thread is not ended by what it does
        task.future.set_exception(RuntimeError(repr(error)))
