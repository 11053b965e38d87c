"""Optional models of retrieval: their stages, deadlines and cached answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.models import ModelAnswers

if TYPE_CHECKING:
    from clawmem.ports.models import Generator, Reranker


LATE_INTERACTION = "late interaction"  # name in `Trace.degraded`
CALLS_AT_ONCE = 4  # concurrent calls of one stage; further calls queue within their own deadline

Result = TypeVar("Result")
Left = Callable[[], float]


class DeadlineExceeded(Exception):
    """The model did not answer within the deadline of its stage."""

    def __init__(self, deadline_s: float) -> None:
        super().__init__(f"no answer within {deadline_s:g} s")


class DeadlineExecutor:
    """
    Runs calls on its own threads, and waits for each at most until a deadline.

    A call receives a function that returns the seconds left. A call that exceeds the deadline keeps running; its
    result can only serve later questions, through a cache. Threads are created on first use.
    """

    def __init__(self, name: str, deadline_s: float) -> None:
        self._name = name
        self._deadline_s = deadline_s

    def __call__(self, call: Callable[[Left], Result]) -> Result:
        """
        Return or raise what *call* returns or raises.

        Raises:
            DeadlineExceeded: *call* did not end in time.
        """
        until = perf_counter() + self._deadline_s
        future = self._threads.submit(call, lambda: until - perf_counter())
        try:
            return future.result(self._deadline_s)
        except TimeoutError as late:
            future.cancel()  # effective if the call is still queued
            raise DeadlineExceeded(self._deadline_s) from late

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix=self._name)


class AnswerCache:
    """Best-effort cache of model answers for one purpose; errors of the cache are ignored."""

    def __init__(self, answers: ModelAnswers, clock: Clock, purpose: str) -> None:
        self._answers = answers
        self._clock = clock
        self._purpose = purpose

    def get(self, model: str, question: str) -> str | None:
        """Return the cached answer, or ``None``."""
        try:
            return self._answers.get(model, self._purpose, question)
        except Exception:  # noqa: BLE001  the model can be asked again
            return None

    def keep(self, model: str, answers: Mapping[str, str]) -> None:
        """Cache *answers* by their questions."""
        try:
            self._answers.keep(model, self._purpose, answers, at=iso_utc(self._clock.now_ms()))
        except Exception:  # noqa: BLE001  the current answer does not depend on the cache
            return


def reason_of(error: Exception) -> str:
    """Return the reason why a model call failed, as a sentence for the trace."""
    if isinstance(error, ModelError | DeadlineExceeded):
        return str(error)
    return f"{type(error).__name__}: {error}"


class Models(NamedTuple):
    """Optional models for retrieval, and the clock that dates their cached answers."""

    generator: Generator | None = None
    reranker: Reranker | None = None
    clock: Clock | None = None

    @property
    def are_asked(self) -> bool:
        """Whether a stage waits for one of them."""
        return bool(self.generator or self.reranker)


NO_MODELS = Models()
