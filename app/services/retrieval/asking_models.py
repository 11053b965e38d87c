"""How stages ask models: once for the same question, and never for longer than an answer may wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.model_answers import ModelAnswers

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

CALLS_AT_ONCE = 4  # of one stage: further questions wait for their turn, within their own deadline

Result = TypeVar("Result")
Left = Callable[[], float]


class TooLate(Exception):
    """A model that did not answer within the deadline of its stage."""

    def __init__(self, deadline_s: float) -> None:
        super().__init__(f"no answer within {deadline_s:g} s")


class InTime:
    """
    Makes calls on threads of its own, and waits for each until a deadline at most.

    A call is told how many seconds are left. One that does not heed it is left to itself: what it brings
    later is of use to the next question at best. Threads are made with the first call.
    """

    def __init__(self, name: str, deadline_s: float) -> None:
        self._name = name
        self._deadline_s = deadline_s

    def __call__(self, call: Callable[[Left], Result]) -> Result:
        """
        What *call* returns or raises.

        Raises:
            TooLate: it does neither in time.
        """
        until = perf_counter() + self._deadline_s
        future = self._threads.submit(call, lambda: until - perf_counter())
        try:
            return future.result(self._deadline_s)
        except TimeoutError as late:
            future.cancel()  # one that still waits for its turn is not wanted any more
            raise TooLate(self._deadline_s) from late

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix=self._name)


class Remembered:
    """What models said before, for one purpose. Whatever is wrong with that memory, nobody notices."""

    def __init__(self, answers: ModelAnswers, clock: Clock, purpose: str) -> None:
        self._answers = answers
        self._clock = clock
        self._purpose = purpose

    def get(self, model: str, question: str) -> str | None:
        """The answer that was kept, if there is one and it can be read."""
        try:
            return self._answers.get(model, self._purpose, question)
        except Exception:  # noqa: BLE001  the model can be asked again
            return None

    def keep(self, model: str, answers: Mapping[str, str]) -> None:
        """Keep answers by their questions, if that is possible at once."""
        try:
            self._answers.keep_all(model, self._purpose, answers, at=iso_utc(self._clock.now_ms()))
        except Exception:  # noqa: BLE001  the answer of today stands without
            return


def reason_of(error: Exception) -> str:
    """Why a model was no help, in a sentence for the trace."""
    if isinstance(error, ModelError | TooLate):
        return str(error)
    return f"{type(error).__name__}: {error}"
