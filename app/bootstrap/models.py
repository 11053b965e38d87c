"""Selection of a model for each role: a configured server, else a model in this process, else none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from clawmem.adapters.models import catalogue
from clawmem.adapters.models.store import EMBED
from clawmem.app.bootstrap.lazy import imported_object
from clawmem.app.services.models import NONE, REST_MS, ModelState, Provider, Watch, WatchedModel
from clawmem.app.services.retrieval.models import Models as QuestionModels
from clawmem.app.settings.model import ModelServer, Settings
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ConfigError, InvalidInput
from clawmem.ports.models import Embedder, ModelFailures, ModelRole

SETS = catalogue.SETS
LARGE_EMBEDDER = "embeddinggemma"  # runs in this process, and only if the settings name it


class Choice(NamedTuple):
    """A selected model, if any, and its provider record."""

    model: Any
    how: Provider


_ROLES = {  # the variable that names a server, and the models of this process, the first that is installed
    ModelRole.EMBEDDER: ("CLAWMEM_EMBED_URL", LARGE_EMBEDDER),
    ModelRole.GENERATOR: ("CLAWMEM_LLM_URL", "qmd-query-expansion"),
    ModelRole.RERANKER: ("CLAWMEM_RERANK_URL", "qwen3-reranker", "ms-marco"),
}
_FORBIDDEN = "CLAWMEM_NO_LOCAL_MODELS forbids a model in this process"


@dataclass
class ModelSelection:
    """
    The model of each role, with the reason for its selection. Nothing is loaded or requested before its first use.

    Args:
        failures: Returns the record of failures, which the vault has.
        stack: Closes the models at the end.
        rest_ms: Time for which a model is not called after a failure.
    """

    settings: Settings
    failures: Callable[[], ModelFailures]
    clock: Clock
    stack: ExitStack
    rest_ms: int = 0
    _local: dict[str, Embedder | None] = field(default_factory=dict)

    @property
    def names_embedder(self) -> bool:
        """Whether the settings name the embedder, instead of leaving its selection to clawmem."""
        return bool(self.settings.embed_server) or self.settings.embedder != "auto"

    @property
    def offer(self) -> str:
        """A sentence about better models for a person; empty if they are installed, or the settings name others."""
        models = [self.known(name) for name in SETS["better"]]
        missing = sum(model.download_bytes for model, state in models if not state.there)
        if not missing or self.names_embedder or self.settings.no_local_models or self.settings.rerank_server:
            return ""
        return (
            f"For English notes, clawmem models use better ({missing / 1e6:.1f} MB) finds the right note first in 64 "
            "of 100 questions instead of 60, measured on notes of others."
        )

    def local(self, fingerprint: str) -> Embedder | None:
        """Return the embedder in this process that made vectors with this fingerprint; ``None`` if there is none."""
        if self._local.get(fingerprint) is None:
            self._local[fingerprint] = catalogue.embedder_of(fingerprint, self.settings.models)
        return self._local[fingerprint]

    def states(self) -> list[ModelState]:
        """Return the state of every model that can run in this process."""
        folder = self.settings.models
        used = catalogue.selected(self.settings.embedder, folder).name
        return [
            ModelState(
                name=model.name,
                role=str(model.role),
                there=model.is_there(),
                in_use=model.name == used if model.role == EMBED else model.is_there(),
                dimensions=model.dimensions,
                size_bytes=model.size_bytes() if model.is_there() else model.download_bytes,
                origin=model.origin,
                summary=model.summary,
            )
            for model in catalogue.known_models(folder)
        ]

    def known(self, name: str) -> tuple[catalogue.Model, ModelState]:
        """Return a model that can run in this process, and its state. Raises `NotFound`."""
        model = catalogue.model_named(name, self.settings.models)
        return model, next(state for state in self.states() if state.name == name)

    def installed(self, name: str) -> tuple[catalogue.Model, ModelState]:
        """Return an installed model and its state. Raises as `known`, and `InvalidInput` if it is not installed."""
        model, state = self.known(name)
        if not state.there:
            raise InvalidInput("NOT_ADDED", f"{name!r} is not installed. Run: clawmem models add {name}")
        return model, state

    @cached_property
    def embedder(self) -> Choice:
        """The embedder. Raises `ConfigError` if the one that the settings name is not available."""
        settings, role = self.settings, ModelRole.EMBEDDER
        if settings.embed_server:
            return self._served(role, settings.embed_server)
        if settings.embedder != LARGE_EMBEDDER:
            selection = catalogue.selected(settings.embedder, settings.models)
            model = catalogue.model_named(selection.name, settings.models).opened()
            return Choice(model, Provider(role, selection.name, selection.reason))
        if settings.no_local_models:
            raise ConfigError(f"{_FORBIDDEN}. Choose another, or leave the variable out.")
        model = catalogue.model_named(LARGE_EMBEDDER, settings.models).opened()
        return self._watched(role, LARGE_EMBEDDER, "the settings name it", model)

    @cached_property
    def generator(self) -> Choice:
        """The optional generator. Raises `ConfigError` for an invalid server."""
        return self._optional(ModelRole.GENERATOR, self.settings.llm_server)

    @cached_property
    def reranker(self) -> Choice:
        """The optional reranker. Raises `ConfigError` for an invalid server."""
        return self._optional(ModelRole.RERANKER, self.settings.rerank_server)

    def _optional(self, role: ModelRole, server: ModelServer | None) -> Choice:
        if server:
            return self._served(role, server)
        variable, *names = _ROLES[role]
        models = (catalogue.model_named(name, self.settings.models) for name in names)
        name = next((model.name for model in models if model.is_there()), names[-1])
        reason = f"{variable} names no server"
        if self.settings.no_local_models:
            return Choice(None, Provider(role, NONE, f"{reason}, and {_FORBIDDEN}"))
        try:
            model = catalogue.model_named(name, self.settings.models).opened()
            return self._watched(role, name, reason, model)
        except ConfigError as error:
            fault = str(error) if name in str(error) else f"{name}: {error}"
            return Choice(None, Provider(role, NONE, f"{reason}, and there is no model here ({fault})"))

    def _served(self, role: ModelRole, server: ModelServer) -> Choice:
        adapter = imported_object(f"adapters.models.api:Api{role.capitalize()}")  # such as ApiEmbedder
        model = adapter.at(server.url, self.clock, **server.model_dump(exclude={"url"}))
        return self._watched(role, model.server.location, f"{_ROLES[role][0]} names it", model)

    def _watched(self, role: ModelRole, name: str, reason: str, model: Any) -> Choice:
        self.stack.callback(getattr(model, "close", int))  # a model in this process may have none
        watch = Watch(self.failures(), self.clock, role, name, rest_ms=self.rest_ms)
        return Choice(WatchedModel(model, watch), Provider(role, name, reason))


@contextmanager
def model_servers(failures: ModelFailures, clock: Clock, settings: Settings) -> Iterator[QuestionModels]:
    """
    Yield the models of the servers that *settings* name, for one prompt.

    Models of this process are not used, as every prompt would load them again.
    """
    with ExitStack() as stack:
        remote = settings.model_copy(update={"no_local_models": True})
        models = ModelSelection(remote, lambda: failures, clock, stack, rest_ms=REST_MS)
        yield QuestionModels(models.generator.model, models.reranker.model)
