"""Monitoring of models: failures at run time and later recoveries are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.ports.clock import Clock
from clawmem.ports.errors import (
    ClawmemError,
    EmbeddingError,
    InputTooLong,
    ModelError,
    ModelUnavailable,
    VaultError,
)
from clawmem.ports.models import (
    Embedder,
    Generator,
    JsonSchema,
    ModelFailure,
    ModelFailures,
    ModelRole,
    Reranker,
    for_background,
)
from clawmem.ports.records import Vector

NONE = "none"

# Effect on answers when the model of a role failed.
WITHOUT = {
    ModelRole.EMBEDDER: "answers were found by words alone",
    ModelRole.GENERATOR: "questions were not expanded",
    ModelRole.RERANKER: "answers were not reranked",
}


@dataclass(frozen=True, slots=True)
class Provider:
    """
    The provider of a role, and the reason for its selection.

    ``chosen`` is a server's address, a model's name, or `NONE`. ``passed_over`` holds the reasons why preferred models
    were not selected. ``last_failure`` is the last failure of any provider of this role at run time.
    """

    role: ModelRole
    chosen: str
    reason: str
    passed_over: tuple[str, ...] = ()
    last_failure: ModelFailure | None = None


class Roles:
    """Determines the provider of each role, without loading a model or calling a server."""

    def __init__(
        self, chosen: Mapping[ModelRole, Callable[[], Provider]], model_failures: ModelFailures
    ) -> None:
        self._chosen = chosen
        self._failures = model_failures

    def __call__(self) -> list[Provider]:
        """Return one provider per role in a fixed order; `NONE` with the reason if the settings are invalid."""
        latest: Mapping[ModelRole, ModelFailure] = {}
        with suppress(VaultError):
            latest = self._failures.latest()
        return [replace(self._of(role), last_failure=latest.get(role)) for role in self._chosen]

    def _of(self, role: ModelRole) -> Provider:
        try:
            return self._chosen[role]()
        except ClawmemError as error:
            return Provider(role, NONE, str(error))


AGAIN_MS = 60_000  # least time between records of failures; a server that is down fails every question
REST_MS = 60_000  # time for which short-lived processes do not call a model that failed in another one


class Watch:
    """
    Records the last failure of one role, and the first answer after it.

    The vault is not accessed as long as nothing fails, except once at the first answer. Errors of the recorder never
    affect the model's answer or error.
    """

    def __init__(
        self, failures: ModelFailures, clock: Clock, role: ModelRole, model: str, *, rest_ms: int = 0
    ) -> None:
        """
        Args:
            model: Name or address of the model for messages.
            rest_ms: Milliseconds for which a model that failed in an earlier process is not called.
        """
        self._failures = failures
        self._clock = clock
        self._role = role
        self._model = model
        self._rest_ms = rest_ms
        self._may_have_failed = True  # in an earlier process
        self._noted_ms: int | None = None

    @contextmanager
    def naming(self) -> Iterator[None]:
        """
        Watch access to properties of the model, which may not need a call to it; errors are recorded and propagate.

        Raises:
            ModelUnavailable: the model failed recently and is not called.
        """
        self._let_rest()
        try:
            yield
        except InputTooLong:
            raise  # a problem of the text, not of the model
        except (ModelError, EmbeddingError) as error:
            self._failed(error)
            raise

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Watch a call to the model like `naming`, and record its success."""
        with self.naming():
            yield
        self._answered()

    def gave_up(self, reason: str) -> None:
        """Record a failure of which the caller did not wait for the error."""
        self._failed(ModelUnavailable(self._model, reason))

    def _failed(self, error: ModelError | EmbeddingError) -> None:
        now_ms = self._clock.now_ms()
        if self._noted_ms is not None and 0 <= now_ms - self._noted_ms < AGAIN_MS:
            return
        self._noted_ms, self._may_have_failed = now_ms, True
        # Record the bare reason: the full message repeats the address and includes the remedy.
        reason = error.reason if isinstance(error, ModelError) else str(error)
        with suppress(Exception):
            self._failures.record(ModelFailure(self._role, self._model, iso_utc(now_ms), reason))

    def _let_rest(self) -> None:
        last = self._open_failure() if self._rest_ms and self._may_have_failed else None
        failed_ms = parse_iso(last.failed_at) if last else None
        if last is None or failed_ms is None:
            return
        past_ms = self._clock.now_ms() - failed_ms
        if 0 <= past_ms < self._rest_ms:  # a negative time means that the clock was set back
            reason = f"{last.reason}, {past_ms // 1000} seconds ago"
            raise ModelUnavailable(self._model, reason, retry_after_s=(self._rest_ms - past_ms) / 1000)

    def _answered(self) -> None:
        if not self._may_have_failed:
            return
        self._noted_ms, self._may_have_failed = None, False
        if last := self._open_failure():
            with suppress(Exception):
                self._failures.record(replace(last, answered_at=iso_utc(self._clock.now_ms())))

    def _open_failure(self) -> ModelFailure | None:
        """Return the last failure of this model if no answer was recorded since."""
        with suppress(Exception):
            last = self._failures.latest().get(self._role)
            if last is not None and last.model == self._model and last.answered_at is None:
                return last
        return None


class WatchedEmbedder:
    """``Embedder`` that records failures."""

    def __init__(self, embedder: Embedder, watch: Watch) -> None:
        self._embedder = embedder
        self._watch = watch

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model."""
        with self._watch.naming():
            return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        with self._watch.naming():
            return self._embedder.dimensions

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        with self._watch.asking():
            return self._embedder.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of *texts*."""
        with self._watch.asking():
            return self._embedder.embed_documents(texts)

    def for_background(self) -> WatchedEmbedder:
        return WatchedEmbedder(for_background(self._embedder), self._watch)


class WatchedGenerator:
    """``Generator`` that records failures."""

    def __init__(self, generator: Generator, watch: Watch) -> None:
        self._generator = generator
        self._watch = watch

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model."""
        with self._watch.naming():
            return self._generator.fingerprint

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        with self._watch.asking():
            return self._generator.generate(
                prompt, timeout_s=timeout_s, max_tokens=max_tokens, temperature=temperature, schema=schema
            )


class WatchedReranker:
    """``Reranker`` that records failures."""

    def __init__(self, reranker: Reranker, watch: Watch) -> None:
        self._reranker = reranker
        self._watch = watch

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model."""
        with self._watch.naming():
            return self._reranker.fingerprint

    @property
    def max_document_chars(self) -> int:
        """The number of characters that the model reads of a document."""
        return self._reranker.max_document_chars

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        with self._watch.asking():
            return self._reranker.rerank(query, documents, timeout_s=timeout_s)
