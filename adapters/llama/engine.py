"""
A model that is loaded with the first question and let go when nobody asks any more.

One thread of ours works in llama.cpp, a question at a time. Who asks waits as long as he said and no longer;
his question is then taken out of the queue, or, when it is being worked on, ends with its step: a token that
is written, a text that is read. A step cannot be interrupted, and what is asked next waits for its end.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from traceback import clear_frames
from typing import Any, Generic, NamedTuple, TypeVar

from clawmem.adapters.llama.gguf_model import GgufModel
from clawmem.adapters.llama.loading import Llama, loaded
from clawmem.adapters.llama.refusals import unavailable

Answer = TypeVar("Answer")

IDLE_S = 120.0

GivenUp = Callable[[], bool]
"""Whether nobody waits for the answer any more."""

Work = Callable[[Llama, GivenUp], Answer]
"""What is asked of the loaded model, in steps; between two of them it looks whether it was given up."""


class _Question(NamedTuple, Generic[Answer]):
    work: Work[Answer]
    answer: Future[Answer]
    given_up: Event


class Engine:
    """One model, for any number of threads."""

    def __init__(self, model: GgufModel, *, idle_s: float = IDLE_S) -> None:
        """
        Args:
            idle_s: Seconds without a question, after which the memory is given back.
        """
        self._model = model
        self._idle_s = idle_s
        self._lock = Lock()
        self._closing = Event()
        self._questions: SimpleQueue[_Question[Any] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._llama: Llama | None = None
        _ENGINES.add(self)

    @property
    def is_loaded(self) -> bool:
        """Whether the model takes memory."""
        return self._llama is not None

    def ask(self, work: Work[Answer], *, timeout_s: float) -> Answer:
        """
        What *work* makes of the model.

        Raises:
            ModelUnavailable: it takes longer than *timeout_s*, or there is no time at all.
            ConfigError: the model cannot be loaded.
        """
        if timeout_s <= 0:
            raise unavailable(self._model.label, "no time is left")
        question = _Question[Answer](work, Future(), Event())
        self._put(question)
        try:
            return question.answer.result(timeout_s)
        except TooLate:
            question.given_up.set()
            question.answer.cancel()
            raise unavailable(self._model.label, f"it was not done in {timeout_s:.3g} s") from None

    def close(self) -> None:
        """Let the model go, once the step in hand is done; nothing can be asked any more."""
        with self._lock:
            self._closing.set()
            self._questions.put(None)
            thread = self._thread
        if thread is not None:
            thread.join()

    def _put(self, question: _Question[Any]) -> None:
        with self._lock:
            if self._closing.is_set():
                raise unavailable(self._model.label, "it was closed")
            self._questions.put(question)
            if self._thread is None:
                self._thread = Thread(target=self._work, name=self._model.name, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        """Answer until there was nothing to do for a while."""
        while question := self._next():
            if question.answer.set_running_or_notify_cancel():
                self._answer(question)

    def _next(self) -> _Question[Any] | None:
        """The next question; None when there is none, and the model is let go."""
        while True:
            with suppress(Empty):
                if question := self._questions.get(timeout=self._idle_s):
                    return question
            with self._lock:
                if self._questions.empty():
                    self._llama = self._thread = None
                    return None

    def _answer(self, question: _Question[Any]) -> None:
        def given_up() -> bool:
            return question.given_up.is_set() or self._closing.is_set()

        try:
            if self._closing.is_set():
                raise unavailable(self._model.label, "it was closed")
            self._llama = self._llama or loaded(self._model.path, self._model.known().header)
            question.answer.set_result(question.work(self._llama, given_up))
        except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to who asked
            clear_frames(error.__traceback__)  # they would keep the model in memory
            question.answer.set_exception(error)


_ENGINES: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is still inside of llama.cpp when the interpreter ends brings the process down.
    for engine in list(_ENGINES):
        engine.close()
