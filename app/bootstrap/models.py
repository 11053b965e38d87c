"""The choice of a model for each role: a configured server, else a model in this process, else none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from clawmem.adapters.models.addresses import shown
from clawmem.adapters.models.catalogue import (
    STATIC,
    STATIC_FAMILY,
    Selection,
    embedder_of,
    known_models,
    model_named,
    selected,
)
from clawmem.app.bootstrap.injector import imported_object
from clawmem.app.services.maintenance.models import Models
from clawmem.app.services.models import (
    NONE,
    REST_MS,
    Choice,
    Option,
    Provider,
    Watch,
    WatchedEmbedder,
    WatchedGenerator,
    WatchedReranker,
    first_of,
    the_only,
)
from clawmem.app.services.retrieval.models import Models as QuestionModels
from clawmem.app.settings.model import Settings
from clawmem.app.settings.sections import ModelServer
from clawmem.domain.maintenance.embedding_policy import keeps_vectors
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ConfigError
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.models import Embedder, ModelFailures, ModelRole

LARGE_EMBEDDER = "embeddinggemma"  # runs in this process, and only if the settings name it


class ModelContext(NamedTuple):
    """
    The dependencies of every model.

    *stack* closes the model at the end; *rest_ms* is the time for which a model is not called after a failure.
    """

    failures: ModelFailures
    clock: Clock
    stack: ExitStack
    rest_ms: int = 0


class LocalModels(NamedTuple):
    """Large models in this process: their folder, and whether they may be run and downloaded."""

    folder: str
    allowed: bool
    may_download: bool


class _Part(NamedTuple):
    """The factories and names for the model of a role."""

    variable: str
    adapter: str  # the class of a model at a server
    local_name: str
    watched: Callable[[Any, Watch], Any]


_PARTS = {
    ModelRole.EMBEDDER: _Part(
        "CLAWMEM_EMBED_URL",
        "adapters.models.api:ApiEmbedder",
        LARGE_EMBEDDER,
        WatchedEmbedder,
    ),
    ModelRole.GENERATOR: _Part(
        "CLAWMEM_LLM_URL",
        "adapters.models.api:ApiGenerator",
        "qmd-query-expansion",
        WatchedGenerator,
    ),
    ModelRole.RERANKER: _Part(
        "CLAWMEM_RERANK_URL",
        "adapters.models.api:ApiReranker",
        "qwen3-reranker",
        WatchedReranker,
    ),
}
_FORBIDDEN = "CLAWMEM_NO_LOCAL_MODELS forbids a model in this process"


def served(role: ModelRole, server: ModelServer, around: ModelContext) -> Choice[Any]:
    """
    Return the model of a configured server; it sends no request yet.

    Raises:
        ConfigError: The address, the provider or the key is invalid.
    """
    part, address = _PARTS[role], shown(server.url)

    def build() -> Any:
        model = imported_object(part.adapter).at(
            server.url, around.clock, **server.model_dump(exclude={"url"})
        )
        return _watched(role, address, model, around)

    return the_only(role, Option(address, f"{part.variable} names it", build))


def chosen(
    role: ModelRole, server: ModelServer | None, local: LocalModels, around: ModelContext
) -> Choice[Any]:
    """
    Return the model of an optional role; it loads no weights yet.

    Raises:
        ConfigError: The configured server is invalid.
    """
    if server:
        return served(role, server, around)
    unnamed = f"{_PARTS[role].variable} names no server"
    if not local.allowed:
        return first_of(role, [], without=f"{unnamed}, and {_FORBIDDEN}")
    return first_of(
        role, [_in_process(role, unnamed, local, around)], without=f"{unnamed}, and there is no model here"
    )


def in_process(role: ModelRole, local: LocalModels, around: ModelContext) -> Choice[Any]:
    """
    Return the large model of a role in this process, which the settings select; it loads no weights yet.

    Raises:
        ConfigError: The model or its runtime is not installed, or local models are forbidden.
    """
    if not local.allowed:
        raise ConfigError(f"{_FORBIDDEN}. Choose another, or leave the variable out.")
    return the_only(role, _in_process(role, "the settings name it", local, around))


def _in_process(role: ModelRole, reason: str, local: LocalModels, around: ModelContext) -> Option[Any]:
    part = _PARTS[role]

    def build() -> Any:
        model = model_named(part.local_name, local.folder, may_download=local.may_download)
        return _watched(role, part.local_name, model.opened(), around)

    return Option(part.local_name, reason, build)


def _watched(role: ModelRole, name: str, model: Any, around: ModelContext) -> Any:
    """Return *model* wrapped in a watch, and close it at the end."""
    around.stack.callback(model.close)
    watch = Watch(around.failures, around.clock, role, name, rest_ms=around.rest_ms)
    return _PARTS[role].watched(model, watch)


@contextmanager
def model_servers(failures: ModelFailures, clock: Clock, settings: Settings) -> Iterator[QuestionModels]:
    """
    Yield the models of the servers that *settings* name, for one prompt.

    Models of this process are not used, as every prompt would load them again.
    """
    with ExitStack() as stack:
        context = ModelContext(failures, clock, stack, REST_MS)

        def model(role: ModelRole, server: ModelServer | None) -> Any:
            return served(role, server, context).model if server else None

        generator = model(ModelRole.GENERATOR, settings.llm_server)
        yield QuestionModels(generator, model(ModelRole.RERANKER, settings.rerank_server), clock)


def embedder_kind(settings: Settings) -> str:
    """Return the kind of the selected embedder: ``server``, ``large`` or ``catalogue``."""
    if settings.embed_server:
        return "server"
    return "large" if settings.embedder == LARGE_EMBEDDER else "catalogue"


class EmbedderSelection:
    """
    Selection of the embedder for the vectors of a vault.

    Args:
        embeddings: Returns the store of the vectors.
        embedder: Returns the embedder that the settings select.
        choice: Returns the choice of a server or a large model; called if the settings name one.
    """

    def __init__(
        self,
        settings: Settings,
        embeddings: Callable[[], EmbeddingStore],
        embedder: Callable[[], Embedder],
        choice: Callable[[], Choice[Any]],
    ) -> None:
        self._settings = settings
        self._embeddings = embeddings
        self._embedder = embedder
        self._choice = choice
        self._local: dict[str, Embedder] = {}

    @property
    def by_name(self) -> bool:
        """Whether the settings name the embedder, instead of leaving its selection to clawmem."""
        return bool(self._settings.embed_server) or self._settings.embedder != "auto"

    def local(self, fingerprint: str) -> Embedder | None:
        """Return the embedder in this process that made vectors with this fingerprint; ``None`` if there is none."""
        if fingerprint not in self._local:
            embedder = embedder_of(fingerprint, self._settings.models)
            if embedder is None:
                return None
            self._local[fingerprint] = embedder
        return self._local[fingerprint]

    def of_vault(self) -> Embedder | None:
        """Return the embedder of the vectors that the vault keeps, ``None`` if it is unavailable; else the selected one."""
        kept = self._kept_vectors()
        return self.local(kept) if kept else self._embedder()

    def installed(self) -> Models:
        """Return the models that can run in this process."""
        return Models(known_models(self._settings.models), self._selected().name)

    def how(self) -> Provider:
        """Return the provider of the embedder, without loading it."""
        if embedder_kind(self._settings) != "catalogue":
            return self._choice().how
        selection, kept = self._selected(), self._kept_vectors()
        if not kept:
            return Provider(ModelRole.EMBEDDER, selection.name, selection.reason)
        change = f"{selection.name} is installed; to change to it, run: clawmem embed --force"
        if self.local(kept) is None:
            reason = f"the model of the vectors is not available here ({selection.reason})"
            return Provider(ModelRole.EMBEDDER, NONE, reason, (change,))
        if kept.startswith(STATIC_FAMILY):
            return Provider(ModelRole.EMBEDDER, STATIC, "the vectors are of this model", (change,))
        return Provider(ModelRole.EMBEDDER, kept, "the vectors are of this model")

    def _selected(self) -> Selection:
        return selected(self._settings.embedder, self._settings.models)

    def _kept_vectors(self) -> str | None:
        """Return the model of the vectors that the vault keeps although another is selected; ``None`` if it is that one."""
        if self.by_name:
            return None
        embeddings = self._embeddings()
        serving, building = embeddings.fingerprint(), embeddings.building()
        kept = keeps_vectors(
            serving, building.fingerprint if building else None, self._embedder().fingerprint
        )
        return serving if kept else None
