"""Optional models of retrieval, and their cached answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import ModelError
from clawmem.ports.models import ModelAnswers

if TYPE_CHECKING:
    from clawmem.ports.models import Generator, Reranker


LATE_INTERACTION = "late interaction"  # name in `Trace.degraded`


class AnswerCache(NamedTuple):
    """Cache of model answers for one purpose. Its errors are ignored, because the model can be asked again."""

    answers: ModelAnswers
    purpose: str

    def get(self, model: str, question: str) -> str | None:
        """Return the cached answer, or ``None``."""
        with suppress(Exception):
            return self.answers.get(model, self.purpose, question)
        return None

    def keep(self, model: str, answers: Mapping[str, str], now_ms: int) -> None:
        """Cache *answers* by their questions."""
        with suppress(Exception):
            self.answers.keep(model, self.purpose, answers, at=iso_utc(now_ms))


def reason_of(error: Exception) -> str:
    """Return the reason why a model call failed, as a sentence for the trace."""
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"


class Models(NamedTuple):
    """Optional models for retrieval."""

    generator: Generator | None = None
    reranker: Reranker | None = None
    withheld: Callable[..., Collection[int]] = frozenset  # documents that no server of another machine reads

    @property
    def are_asked(self) -> bool:
        """Whether a stage waits for one of them."""
        return bool(self.generator or self.reranker)


NO_MODELS = Models()
