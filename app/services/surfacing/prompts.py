"""Surfacing for the prompts of a client, with only the models that the profile uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property, partial

from clawmem.app.services.indexing.serving_embedder import ServingEmbedder
from clawmem.app.services.models import REST_MS, Watch
from clawmem.app.services.retrieval.models import Models
from clawmem.app.services.retrieval.recalls import Recalls, Retention
from clawmem.app.services.retrieval.scheduling import LATE, NamedThreads
from clawmem.app.services.surfacing.choices import Choices
from clawmem.app.services.surfacing.facts import FactsAbout
from clawmem.app.services.surfacing.steps import RetrievalDependencies, SurfacingStores
from clawmem.app.services.surfacing.surface import BlockRendering, Receive, SurfaceContext, Surfaced
from clawmem.app.services.surfacing.turns import Turns
from clawmem.app.settings.model import Settings
from clawmem.domain.security.redaction import redact_part
from clawmem.domain.security.safety import safe
from clawmem.domain.surfacing.profiles import Profile
from clawmem.ports.clock import Clock
from clawmem.ports.knowledge import TripleStore
from clawmem.ports.models import Embedder, LateInteraction, ModelFailures, ModelRole
from clawmem.ports.telemetry import Telemetry

VECTOR = "vector"  # the retriever that waits for the server


class PromptSurfacing:
    """
    The surfacing service of one profile; it records a timeout of the embedding server.

    Args:
        embedder: Returns the embedder of the settings, for example an embedding server.
        local_embedder: Returns the function that returns the embedder in this process with a fingerprint, if there is one.
        late: Returns the model that compares texts word by word.
        model_servers: Opens the configured model servers.
        shown: Returns an address without its secrets.
    """

    def __init__(
        self,
        settings: Settings,
        profile: Profile,
        *,
        stores: SurfacingStores,
        triples: TripleStore,
        telemetry: Telemetry,
        model_failures: ModelFailures,
        clock: Clock,
        threads: NamedThreads,
        embedder: Callable[[], Embedder],
        local_embedder: Callable[[], Callable[[str], Embedder | None]],
        late: Callable[[], LateInteraction],
        model_servers: Callable[[Settings], AbstractContextManager[Models]],
        shown: Callable[[str], str],
    ) -> None:
        name = shown(settings.embed_server.url) if settings.embed_server else ""
        self._server = EmbedServer(embedder, name, model_failures, clock)
        dependencies = RetrievalDependencies(threads=threads)
        if profile.by_meaning:
            serving = ServingEmbedder(stores.retrieval.embeddings, self._server, local_embedder())
            dependencies = dependencies._replace(embedder=serving, late=late())
            if settings.llm_server or settings.rerank_server:
                dependencies = dependencies._replace(models=partial(model_servers, settings))
        recalls = Recalls(
            telemetry,
            clock,
            stores.receipts,
            enabled=settings.records_questions,
            forgets=not settings.read_only,
            retention=Retention(settings.retention_days, settings.kept_receipt_days),
        )
        facts = FactsAbout(stores.retrieval.documents, stores.retrieval.entities, triples, safe)
        rendering = BlockRendering(safe, redact_part, facts, nudge_interval=settings.nudge_interval)
        self._surface = SurfaceContext(stores, dependencies, rendering, clock, recalls)

    def __call__(
        self, prompt: str, turns: Turns, choices: Choices, receive: Receive = lambda block: None
    ) -> Surfaced:
        """Return the block for *prompt*; *receive* gets a provisional one as soon as there is one."""
        surfaced = self._surface(prompt, turns, choices, receive)
        self._server.learn(surfaced.answer.trace.degraded)
        return surfaced


class EmbedServer:
    """
    Factory of the embedder of the settings, for example an embedding server.

    A retriever that misses the deadline is abandoned, and its process ends with the prompt, before the client of the
    server could record the timeout. Therefore the hook records the timeout with `learn`, and a server that hangs is
    asked again once a minute.

    Args:
        name: Address of the server; empty if none is configured.
    """

    def __init__(
        self, embedder: Callable[[], Embedder], name: str, failures: ModelFailures, clock: Clock
    ) -> None:
        self._embedder = embedder
        self._name = name
        self._failures = failures
        self._clock = clock
        self._was_asked = False

    def __call__(self) -> Embedder:
        """
        Return the embedder. Called only if no local model made the vectors of the vault.

        Raises:
            ModelUnavailable: the server timed out for another prompt less than a minute ago.
        """
        if self._name:
            with self._watch.naming():
                self._was_asked = True
        return self._embedder()

    def learn(self, degraded: Mapping[str, str]) -> None:
        """Record a timeout of the server, if *degraded* reports one."""
        if self._was_asked and (reason := degraded.get(VECTOR, "")).startswith(LATE):
            self._watch.gave_up(reason)

    @cached_property
    def _watch(self) -> Watch:
        return Watch(self._failures, self._clock, ModelRole.EMBEDDER, self._name, rest_ms=REST_MS)
