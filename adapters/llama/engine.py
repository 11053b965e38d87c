"""
A model that is loaded for the first request and unloaded after a time without requests.

One thread runs llama.cpp, one request at a time. A caller waits for at most its timeout. Its request is then
removed from the queue or, if it is being processed, ends with the current step, which is one generated token
or one text. A step cannot be interrupted; the next request waits until it ends.
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

IsCancelled = Callable[[], bool]
"""Whether the caller has stopped waiting for the result."""

Work = Callable[[Llama, IsCancelled], Answer]
"""A function of the loaded model that works in steps and checks between them whether it is cancelled."""


class _Request(NamedTuple, Generic[Answer]):
    work: Work[Answer]
    answer: Future[Answer]
    cancelled: Event


class Engine:
    """Queue and worker thread of one model, for any number of calling threads."""

    def __init__(self, model: GgufModel, *, idle_s: float = IDLE_S) -> None:
        """
        Prepare the engine without loading the model.

        Args:
            idle_s: Seconds without a request after which the memory is released.
        """
        self._model = model
        self._idle_s = idle_s
        self._lock = Lock()
        self._closing = Event()
        self._requests: SimpleQueue[_Request[Any] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._llama: Llama | None = None
        _ENGINES.add(self)

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._llama is not None

    def ask(self, work: Work[Answer], *, timeout_s: float) -> Answer:
        """
        Run *work* with the loaded model and return its result.

        Raises:
            ModelUnavailable: the work takes longer than *timeout_s*, or *timeout_s* is not positive.
            ConfigError: the model cannot be loaded.
        """
        if timeout_s <= 0:
            raise unavailable(self._model.label, "no time is left")
        request = _Request[Answer](work, Future(), Event())
        self._put(request)
        try:
            return request.answer.result(timeout_s)
        except TooLate:
            request.cancelled.set()
            request.answer.cancel()
            raise unavailable(self._model.label, f"it was not done in {timeout_s:.3g} s") from None

    def close(self) -> None:
        """Unload the model after the current step. Later requests fail."""
        with self._lock:
            self._closing.set()
            self._requests.put(None)
            thread = self._thread
        if thread is not None:
            thread.join()

    def _put(self, request: _Request[Any]) -> None:
        with self._lock:
            if self._closing.is_set():
                raise unavailable(self._model.label, "it was closed")
            self._requests.put(request)
            if self._thread is None:
                self._thread = Thread(target=self._work, name=self._model.name, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        """Process requests until none came for a while."""
        while request := self._next():
            if request.answer.set_running_or_notify_cancel():
                self._process(request)

    def _next(self) -> _Request[Any] | None:
        """Return the next request; None after the idle time, when the model is unloaded."""
        while True:
            with suppress(Empty):
                if request := self._requests.get(timeout=self._idle_s):
                    return request
            with self._lock:
                if self._requests.empty():
                    self._llama = self._thread = None
                    return None

    def _process(self, request: _Request[Any]) -> None:
        def cancelled() -> bool:
            return request.cancelled.is_set() or self._closing.is_set()

        try:
            if self._closing.is_set():
                raise unavailable(self._model.label, "it was closed")
            self._llama = self._llama or loaded(self._model.path, self._model.known().header)
            request.answer.set_result(request.work(self._llama, cancelled))
        except BaseException as error:  # noqa: BLE001  raised again in the calling thread
            clear_frames(error.__traceback__)  # the frames of the traceback would keep the model in memory
            request.answer.set_exception(error)


class LlamaModel:
    """A model with its engine, whatever its role."""

    def __init__(self, model: GgufModel, *, idle_s: float = IDLE_S) -> None:
        """Prepare the model without loading it; after *idle_s* seconds without a request its memory is released."""
        self._model = model
        self.engine = Engine(model, idle_s=idle_s)

    def close(self) -> None:
        """Release the memory."""
        self.engine.close()


_ENGINES: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # The process crashes if a thread is still inside llama.cpp when the interpreter ends.
    for engine in list(_ENGINES):
        engine.close()
