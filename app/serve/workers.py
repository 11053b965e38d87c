"""Worker threads of the server, each with its own open vault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from queue import Full, Queue
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from clawmem.app.bootstrap.resident import WarmVault
from clawmem.app.operations.dispatch import Busy

T = TypeVar("T")

THREADS = 4
PATIENCE_S = 0.05  # time that a thread may hold the scheduling lock before others run concurrently
WAITING = 16  # tasks that may wait for a thread; further ones are rejected


class _Task(NamedTuple):
    work: Callable[[WarmVault], Any]
    future: Future[Any]


class Turns:
    """
    Scheduling lock that runs short tasks one at a time.

    apsw releases the GIL at every row, and threads contending for it together answer a third fewer requests than one
    after the other. A task that waits for a model or a disk does not block others for long: *patience_s* seconds
    after it took the lock, other tasks run concurrently with it.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._turn = threading.Lock()
        self._began = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the lock during the block, or run without it once the current holder has used up its time."""
        patience = self._began + self._patience_s - monotonic()
        if not self._turn.acquire(timeout=max(0.0, patience)):
            yield  # concurrently with the slow holder
            return
        self._began = monotonic()
        try:
            yield
        finally:
            self._turn.release()


class Workers:
    """
    Pool of *count* daemon threads with a scheduling lock.

    The threads are daemons, so that a hanging task cannot keep the process from ending.

    Args:
        open_vault: Returns the vault of a thread; called once in each thread.
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
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def submit(self, work: Callable[[WarmVault], T]) -> Future[T]:
        """
        Queue *work*, which is called with the vault of the thread that runs it, and return its future.

        Raises:
            Busy: The queue is full; *work* was not queued.
        """
        future: Future[T] = Future()
        try:
            self._tasks.put_nowait(_Task(work, future))
        except Full:
            raise Busy from None
        return future

    def close(self, seconds: float) -> None:
        """Stop the threads, and wait at most *seconds* for queued and running tasks."""
        end = monotonic() + seconds
        with suppress(Full):  # if all threads hang
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
    except Exception as error:  # noqa: BLE001  passed on to the caller
        task.future.set_exception(error)
    except BaseException as error:  # noqa: BLE001  a task must not end its thread
        task.future.set_exception(RuntimeError(repr(error)))
