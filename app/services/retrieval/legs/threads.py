"""Threads that answer in turn. ``concurrent.futures`` does the same, and has every prompt load ``logging`` first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue

    Waiting = SimpleQueue[Callable[[], None] | None]

Found = TypeVar("Found")


class Promise(Generic[Found]):
    """What a thread will have found, or the error that it ended with."""

    def __init__(self, work: Callable[[], Found]) -> None:
        self._work = work
        self._ended = threading.Event()
        self._is_wanted = True
        self._found: list[Found] = []
        self.error: BaseException | None = None

    def keep(self) -> None:
        """Do the work, unless nobody wants it any more."""
        try:
            if self._is_wanted:
                self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001  it belongs to whoever waits
            self.error = error
        self._ended.set()

    def found(self, within_s: float) -> Found:
        """
        What was found.

        Raises:
            TimeoutError: it is not there within so many seconds, and not wanted any more if it was not begun.
        """
        if not self._ended.wait(within_s):
            self._is_wanted = False
            raise TimeoutError
        if self.error:
            raise self.error
        return self._found[0]


class Threads:
    """
    A thread for each name, kept for the next question: its own connection to the vault is worth keeping.

    Not a common pool, which a leg that hangs would fill, question after question, until no leg answers.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Waiting] = {}

    def ask(self, name: str, work: Callable[[], Found]) -> Promise[Found]:
        """Have the thread of that name do *work* when it is done with what it was asked before."""
        promise = Promise(work)
        self._of(name).put(promise.keep)
        return promise

    def close(self) -> None:
        """Let them end with what they have in hand."""
        for waiting in self._kept.values():
            waiting.put(None)
        self._kept.clear()

    __del__ = close

    def _of(self, name: str) -> Waiting:
        from queue import SimpleQueue  # a question by words alone needs none

        if name not in self._kept:
            waiting = self._kept[name] = SimpleQueue()
            # A leg that hangs must not keep the process.
            threading.Thread(target=_work_off, args=(waiting,), name=f"leg-{name}", daemon=True).start()
        return self._kept[name]


def _work_off(waiting: Waiting) -> None:
    while work := waiting.get():
        work()
        del work  # what it found is not kept until the next question
