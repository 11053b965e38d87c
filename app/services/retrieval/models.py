"""Optional models of retrieval: their stages, deadlines and cached answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clawmem.app.services.retrieval.work import Stage
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.models import ModelAnswers
from clawmem.ports.vault import Vault

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from clawmem.app.services.retrieval.scheduling import Retriever
    from clawmem.ports.models import Embedder, Generator, LateInteraction, Reranker


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
        from concurrent.futures import ThreadPoolExecutor

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
            self._answers.keep_all(model, self._purpose, answers, at=iso_utc(self._clock.now_ms()))
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


def comparison_stage(
    vault: Vault, late: LateInteraction | None, embedder: Embedder | None
) -> dict[str, Stage]:
    """Return the stage after fusion that compares the best candidates with the question word by word."""
    if late is None:
        return {}
    from clawmem.app.services.retrieval.stages.compare import compare

    return {"compare": compare(vault, late, embedder)}


def expansion_stage(vault: Vault, models: Models) -> dict[str, Stage]:
    """Return the stage before retrieval that reformulates the question."""
    if models.generator is None or models.clock is None:
        return {}
    from clawmem.app.services.retrieval.stages.expand import expand

    return {"expand": expand(vault.lexical, models.generator, vault.answers, models.clock)}


def reformulation_retrievers(vault: Vault, embedder: Embedder, models: Models) -> dict[str, Retriever]:
    """Return the additional retrievers for reformulations of the question."""
    if models.generator is None:
        return {}
    from clawmem.app.services.retrieval.stages.expand import variant_retrievers

    return variant_retrievers(vault, embedder)


def reranking_stages(vault: Vault, models: Models) -> dict[str, Stage]:
    """Return the stages between fusion and scoring in which a reranker reads the best candidates."""
    if models.reranker is None or models.clock is None:
        return {}
    from clawmem.app.services.retrieval.stages.rerank import blend, choose_chunk, rerank

    return {
        "choose chunk": choose_chunk(vault.documents, models.reranker),
        "rerank": rerank(models.reranker, vault.answers, models.clock),
        "blend": blend,
    }
