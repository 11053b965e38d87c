"""Surfacing over an opened vault, with only the models that the profile uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clawmem.app.bootstrap.oneshot import PromptModels, system_clock
from clawmem.app.settings.model import Settings
from clawmem.domain.security.safety import safe

if TYPE_CHECKING:
    from clawmem.app.services.models import Watch
    from clawmem.app.services.retrieval.models import Models
    from clawmem.app.services.retrieval.recalls import Recalls
    from clawmem.app.services.surfacing.choices import Choices
    from clawmem.app.services.surfacing.pipeline import RetrievalDependencies
    from clawmem.app.services.surfacing.surface import Receive, SurfaceContext, Surfaced
    from clawmem.app.services.surfacing.turns import Turns
    from clawmem.app.settings.sections import ModelServer
    from clawmem.domain.surfacing.profiles import Profile
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.vault import Vault

VECTOR = "vector"  # the retriever that waits for the server


class Surfacing:
    """The surfacing service over *vault*, which records a timeout of the embedding server."""

    def __init__(
        self,
        vault: Vault,
        settings: Settings,
        profile: Profile,
        models: PromptModels | None = None,
    ) -> None:
        self._vault = vault
        self._settings = settings
        self._models = models or PromptModels()
        self._server = EmbedServer(vault, settings)
        self._surface = self._wired(profile)

    def __call__(
        self, prompt: str, turns: Turns, choices: Choices, receive: Receive = lambda block: None
    ) -> Surfaced:
        surfaced = self._surface(prompt, turns, choices, receive)
        self._server.learn(surfaced.answer.trace.degraded)
        return surfaced

    def _wired(self, profile: Profile) -> SurfaceContext:
        from clawmem.app.services.surfacing.surface import BlockRendering, SurfaceContext

        rendering = BlockRendering(safe, _redacted, self._facts, nudge_interval=self._settings.nudge_interval)
        return SurfaceContext(
            self._vault, self._dependencies(profile), rendering, system_clock(), self._recalls()
        )

    def _dependencies(self, profile: Profile) -> RetrievalDependencies:
        from clawmem.app.services.surfacing.pipeline import RetrievalDependencies

        guard = RetrievalDependencies(_gives_orders, threads=self._models.threads)
        if not profile.by_meaning:
            return guard
        local = guard._replace(embedder=self._embedder(), late=self._models.comparing())
        return (
            local._replace(models=self._model_servers)
            if self._settings.llm_server or self._settings.rerank_server
            else local
        )

    def _facts(self, prompt: str, budget: int) -> list[str]:
        """Return facts about names in *prompt*."""
        from clawmem.app.services.surfacing.facts import FactsAbout

        return FactsAbout(self._vault, safe, _gives_orders)(prompt, budget)

    def _embedder(self) -> Embedder:
        from clawmem.app.services.indexing.serving_embedder import ServingEmbedder

        folder, embedder_of = self._settings.models, self._models.embedder_of
        return ServingEmbedder(
            self._vault.embeddings, self._server, lambda fingerprint: embedder_of(fingerprint, folder)
        )

    @contextmanager
    def _model_servers(self) -> Iterator[Models]:
        """Yield the configured model servers. Local models are not used, as every prompt would load them again."""
        from clawmem.app.bootstrap.models import ModelContext, served
        from clawmem.app.services.models import REST_MS
        from clawmem.app.services.retrieval.models import Models
        from clawmem.ports.model_records import ModelRole

        clock = system_clock()
        with ExitStack() as stack:
            around = ModelContext(self._vault.model_failures, clock, stack, REST_MS)

            def model(role: ModelRole, server: ModelServer | None) -> Any:
                return served(role, server.model_dump(), around).model if server else None

            generator = model(ModelRole.GENERATOR, self._settings.llm_server)
            yield Models(generator, model(ModelRole.RERANKER, self._settings.rerank_server), clock)

    def _recalls(self) -> Recalls:
        from clawmem.app.services.retrieval.recalls import Recalls, Retention

        settings = self._settings
        return Recalls(
            self._vault.telemetry,
            system_clock(),
            self._vault.receipts,
            enabled=settings.records_questions,
            forgets=not settings.read_only,
            retention=Retention(settings.retention_days, settings.kept_receipt_days),
        )


class EmbedServer:
    """
    Factory of the embedder of the full configuration, for example an embedding server.

    A retriever that misses the deadline is abandoned, and its process ends with the prompt, before the client of the
    server could record the timeout. Therefore the hook records the timeout with `learn`, and a server that hangs is
    asked again once a minute.
    """

    def __init__(self, vault: Vault, settings: Settings) -> None:
        self._vault = vault
        self._settings = settings
        self._url = settings.embed_server.url if settings.embed_server else ""
        self._was_asked = False

    def __call__(self) -> Embedder:
        """
        Return the embedder. Called only if no local model made the vectors of the vault.

        Raises:
            ModelUnavailable: the server timed out for another prompt less than a minute ago.
        """
        if self._url:
            with self._watch.naming():
                self._was_asked = True
        from clawmem.app.bootstrap.adapters import Adapters

        return Adapters(self._settings, read_only=True).embedder

    def learn(self, degraded: Mapping[str, str]) -> None:
        """Record a timeout of the server, if *degraded* reports one."""
        if not self._was_asked:
            return
        from clawmem.app.services.retrieval.scheduling import LATE

        if (reason := degraded.get(VECTOR, "")).startswith(LATE):
            self._watch.gave_up(reason)

    @cached_property
    def _watch(self) -> Watch:
        from clawmem.adapters.http.addresses import shown
        from clawmem.app.services.models import REST_MS, Watch
        from clawmem.ports.model_records import ModelRole

        failures, name = self._vault.model_failures, shown(self._url)
        return Watch(failures, system_clock(), ModelRole.EMBEDDER, name, rest_ms=REST_MS)


def _redacted(text: str, start: int, end: int) -> str:
    from clawmem.domain.security.redaction import redact_part

    return redact_part(text, start, end)


def _gives_orders(text: str) -> bool:
    from clawmem.domain.security.promptguard import inspect

    return inspect(text).dropped
