"""Named worker threads. ``concurrent.futures`` would do, but it imports ``logging``, which slows down every hook."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue

    Waiting = SimpleQueue[Callable[[], None] | None]

Found = TypeVar("Found")


class PendingResult(Generic[Found]):
    """Result or error of work that a thread does."""

    def __init__(self, work: Callable[[], Found]) -> None:
        self._work = work
        self._ended = threading.Event()
        self._is_wanted = True
        self._found: list[Found] = []
        self.error: BaseException | None = None

    def keep(self) -> None:
        """Do the work, unless it was abandoned."""
        try:
            if self._is_wanted:
                self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001  raised in the waiting thread
            self.error = error
        self._ended.set()

    def found(self, within_s: float) -> Found:
        """
        Return the result of the work, or raise its error.

        Raises:
            TimeoutError: no result within *within_s* seconds; work that has not begun is abandoned.
        """
        if not self._ended.wait(within_s):
            self._is_wanted = False
            raise TimeoutError
        if self.error:
            raise self.error
        return self._found[0]


class NamedThreads:
    """
    One thread per name, reused by later questions: each has its own connection to the vault.

    This is no common pool, because hanging retrievers would fill a pool until none answers.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Waiting] = {}

    def ask(self, name: str, work: Callable[[], Found]) -> PendingResult[Found]:
        """Queue *work* on the thread of that *name*."""
        promise = PendingResult(work)
        self._of(name).put(promise.keep)
        return promise

    def close(self) -> None:
        """Let the threads finish their current work and end."""
        for waiting in self._kept.values():
            waiting.put(None)
        self._kept.clear()

    __del__ = close

    def _of(self, name: str) -> Waiting:
        from queue import SimpleQueue  # not needed for lexical search

        if name not in self._kept:
            waiting = self._kept[name] = SimpleQueue()
            # A daemon thread, so that a hanging retriever does not keep the process alive.
            threading.Thread(target=_work_off, args=(waiting,), name=f"leg-{name}", daemon=True).start()
        return self._kept[name]


def _work_off(waiting: Waiting) -> None:
    while work := waiting.get():
        work()
        del work  # releases its result before waiting for the next question
