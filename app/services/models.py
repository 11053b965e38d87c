"""The query embedder, and monitoring of models: failures at run time and later recoveries are recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.text.vocabulary import language_of, script_of
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import (
    ClawmemError,
    EmbeddingError,
    InputTooLong,
    ModelError,
    ModelMismatch,
    ModelUnavailable,
    VaultError,
)
from clawmem.ports.indexes import EmbeddingStore, surfaces
from clawmem.ports.models import (
    Embedder,
    ModelFailure,
    ModelFailures,
    ModelRole,
    for_background,
    is_in_process,
    is_remote,
)
from clawmem.ports.records import Vector

NONE = "none"
STATIC = "wordllama:"  # prefix of the fingerprints of the static word vectors
ENGLISH = frozenset({"static", "bge-small"})  # models whose vectors connect words of one language
SAMPLE, SAMPLE_CHARS = 200, 2000  # documents, and characters of each, from which languages are counted
LEAST_SHARE = 0.1  # of the documents, above which a language counts

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

    ``chosen`` is a server's address, a model's name, or `NONE`. ``last_failure`` is the last failure of any provider of this role at run time.
    """

    role: ModelRole
    chosen: str
    reason: str
    last_failure: ModelFailure | None = None


@dataclass(frozen=True, slots=True)
class ModelState:
    """
    A model that can run in this process.

    ``in_use`` for an embedder means that the settings select it. A generator or reranker is used as soon as it is
    installed, unless a server is configured. ``dimensions`` is 0 if it makes no vectors; ``origin`` is the source of
    its files.
    """

    name: str
    role: str
    there: bool
    in_use: bool
    dimensions: int
    size_bytes: int
    origin: str
    summary: str


def language_advice(documents: DocumentStore, embedder: str, question: str = "") -> str:
    """Return how to find notes across languages, if notes and *question* are in several and *embedder* knows one."""
    if embedder not in ENGLISH:
        return ""
    bodies = documents.bodies(document.id for document in documents.latest(limit=SAMPLE)).values()
    numbers = Counter(_language_of(body[:SAMPLE_CHARS]) for body in bodies)
    languages = {language for language, number in numbers.items() if number > len(bodies) * LEAST_SHARE}
    languages = (languages | {_language_of(question)}) - {""}
    if not numbers or len(languages) < 2:
        return ""
    return (
        f"several languages ({', '.join(sorted(languages))}) are used, which these vectors do not connect. "
        "Run: clawmem models use multilingual (135 MB, with the extra onnx), then: clawmem embed --force"
    )


def _language_of(text: str) -> str:
    """Return the language of *text*, or its script if that is not Latin; empty if neither is known."""
    script = "" if text.isascii() else script_of(text[:: 1 + len(text) // SAMPLE])
    return script or language_of(surfaces(text))


def roles(
    chosen: Mapping[ModelRole, Callable[[], Provider]], model_failures: ModelFailures
) -> list[Provider]:
    """
    Return the provider of each role in a fixed order, without loading a model or calling a server.

    It is `NONE` with the reason if the settings are invalid.
    """
    latest: Mapping[ModelRole, ModelFailure] = {}
    with suppress(VaultError):
        latest = model_failures.latest()
    providers = []
    for role, choose in chosen.items():
        try:
            provider = choose()
        except ClawmemError as error:
            provider = Provider(role, NONE, str(error))
        providers.append(replace(provider, last_failure=latest.get(role)))
    return providers


@dataclass(eq=False, slots=True)
class ServingEmbedder:
    """
    ``Embedder`` of the currently serving space; for an empty vault, the chosen model.

    While vectors of the chosen model are under construction, the older model embeds questions. Models are loaded on
    first use, and a chosen server gets no requests before it serves.

    Args:
        chosen: Returns the model that the settings select.
        local: Returns the local model with a fingerprint; ``None`` if there is none.
        by_name: Whether the settings name the model; if not, the vault may keep its vectors.
    """

    embeddings: EmbeddingStore
    chosen: Callable[[], Embedder]
    local: Callable[[str], Embedder | None]
    by_name: bool = False
    _known: dict[str, Embedder] = field(default_factory=dict, init=False)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the serving model. Raises `ModelMismatch` if that model is not available."""
        return self._serving().fingerprint

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self._serving().dimensions

    @property
    def in_process(self) -> bool:
        """Whether the serving model computes in this process. Finding out loads no weights and asks no server."""
        stored = self.embeddings.fingerprint()
        if stored and stored not in self._known:
            with suppress(ClawmemError):  # raised again when a question is embedded
                if local := self.local(stored):
                    self._known[stored] = local
        return is_in_process(self._known.get(stored or ""))

    @property
    def is_remote(self) -> bool:
        """Whether the serving model is a server of another machine."""
        return is_remote(self._serving())

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._serving().embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of *texts*."""
        return self._serving().embed_documents(texts)

    def of(self, fingerprint: str) -> Embedder:
        """
        Return the embedder of a space.

        Raises:
            ModelMismatch: no available model has this fingerprint.
            ModelError, EmbeddingError: the chosen model has no known fingerprint.
        """
        if fingerprint not in self._known:
            embedder = self.local(fingerprint)
            if embedder is None:
                embedder = self.chosen()
                if embedder.fingerprint != fingerprint:
                    raise ModelMismatch(fingerprint, embedder.fingerprint)
            self._known[fingerprint] = embedder
        return self._known[fingerprint]

    def for_new_texts(self) -> Embedder:
        """Return the model of the vectors that the vault keeps, else the chosen one. Raises as `of`."""
        older = self._kept()
        return self.of(older) if older else self.chosen()

    def of_vault(self) -> Embedder | None:
        """Return the same as `for_new_texts`; ``None`` if the model of the vault is unavailable."""
        older = self._kept()
        return self.local(older) if older else self.chosen()

    def shown_provider(self, chosen: Provider) -> Provider:
        """Return the provider of the embedder of the vault, which may differ from the *chosen* one; loads nothing."""
        older = self._kept()
        if not older:
            return chosen
        change = f"{chosen.chosen} is installed; to change to it, run: clawmem embed --force"
        if self.local(older) is None:
            reason = f"the model of the vectors is not available here ({chosen.reason})"
            return Provider(chosen.role, NONE, f"{reason}. {change}")
        name = "static" if older.startswith(STATIC) else older
        return Provider(chosen.role, name, f"the vectors are of this model. {change}")

    def _kept(self) -> str | None:
        """
        Return the fingerprint of the vectors that the vault keeps although another model is chosen.

        A model that is installed later replaces no vectors without ``--force``: embedding a large vault again takes
        long. An interrupted replacement continues.
        """
        serving, building = self.embeddings.fingerprint(), self.embeddings.building()
        known = (serving, building.fingerprint if building else None)
        return serving if not self.by_name and serving and self.chosen().fingerprint not in known else None

    def _serving(self) -> Embedder:
        stored = self.embeddings.fingerprint()
        return self.of(stored) if stored else self.chosen()


REST_MS = 60_000  # time for which short-lived processes do not call a model that failed in another one


@dataclass(eq=False, slots=True)
class Watch:
    """
    Records the last failure of one role, and the first answer after it.

    The vault is not accessed as long as nothing fails, except once at the first answer. Errors of the recorder never
    affect the model's answer or error.

    Args:
        model: Name or address of the model for messages.
        rest_ms: Milliseconds for which a model that failed in an earlier process is not called.
    """

    failures: ModelFailures
    clock: Clock
    role: ModelRole
    model: str
    rest_ms: int = 0
    _may_have_failed: bool = field(default=True, init=False)  # in an earlier process

    @contextmanager
    def naming(self) -> Iterator[None]:
        """
        Watch access to properties of the model, which may not need a call to it; errors are recorded and propagate.

        Raises:
            ModelUnavailable: the model failed recently and is not called.
        """
        last = self._open_failure() if self.rest_ms and self._may_have_failed else None
        failed_ms = parse_iso(last.failed_at) if last else None
        if last and failed_ms is not None:
            past_ms = self.clock.now_ms() - failed_ms
            if 0 <= past_ms < self.rest_ms:  # a negative time means that the clock was set back
                reason = f"{last.reason}, {past_ms // 1000} seconds ago"
                raise ModelUnavailable(self.model, reason, retry_after_s=(self.rest_ms - past_ms) / 1000)
        try:
            yield
        except InputTooLong:
            raise  # a problem of the text, not of the model
        except (ModelError, EmbeddingError) as error:
            self._may_have_failed = True
            # The bare reason: the message repeats the address and has the remedy.
            reason = error.reason if isinstance(error, ModelError) else str(error)
            with suppress(Exception):
                now = iso_utc(self.clock.now_ms())
                self.failures.record(ModelFailure(self.role, self.model, now, reason))
            raise

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Watch a call to the model like `naming`, and record its success."""
        with self.naming():
            yield
        if self._may_have_failed:
            self._may_have_failed = False
            if last := self._open_failure():
                with suppress(Exception):
                    self.failures.record(replace(last, answered_at=iso_utc(self.clock.now_ms())))

    def _open_failure(self) -> ModelFailure | None:
        """Return the last failure of this model if no answer was recorded since."""
        with suppress(Exception):
            last = self.failures.latest().get(self.role)
            if last is not None and last.model == self.model and last.answered_at is None:
                return last
        return None


_PLACES = {"in_process": is_in_process, "is_remote": is_remote}


@dataclass(eq=False)
class WatchedModel:
    """Model of any role with a `Watch` on its properties and its answers."""

    _model: Any
    _watch: Watch

    def __getattr__(self, name: str) -> Any:
        if name in {"embed_query", "embed_documents", "generate", "rerank"}:
            return self._watch.asking()(getattr(self._model, name))
        if name in _PLACES:
            return _PLACES[name](self._model)
        if name not in {"fingerprint", "dimensions"}:
            raise AttributeError(name)
        with self._watch.naming():
            return getattr(self._model, name)

    def for_background(self) -> WatchedModel:
        """Return the same model for background work, see `clawmem.ports.models.for_background`."""
        return WatchedModel(for_background(self._model), self._watch)
