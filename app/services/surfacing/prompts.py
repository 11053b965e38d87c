"""Surfacing for the prompts of a client, with only the models that the profile uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import islice

from clawmem.app.services.indexing.serving_embedder import ServingEmbedder
from clawmem.app.services.models import REST_MS, Watch
from clawmem.app.services.retrieval.models import Models
from clawmem.app.services.retrieval.receipts import Recalls
from clawmem.app.services.retrieval.scheduling import LATE, NamedThreads
from clawmem.app.services.surfacing.steps import Choices, RetrievalDependencies, SurfacingStores
from clawmem.app.services.surfacing.surface import Receive, SurfaceContext, Surfaced
from clawmem.app.services.surfacing.turns import Turns
from clawmem.app.settings.model import Settings
from clawmem.domain.knowledge.entities import ids_of, only_one
from clawmem.domain.knowledge.triples import Statement
from clawmem.domain.retrieval.grains import VECTOR
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.safety import safe
from clawmem.domain.surfacing.block import FACTS_FRAME
from clawmem.domain.surfacing.facts import MOST_ENTITIES, TRIPLES_EACH, Seeds, seeds_of, triple_line
from clawmem.domain.surfacing.packing import pack_lines
from clawmem.domain.surfacing.profiles import Profile
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.knowledge import EntityStore, TripleStore
from clawmem.ports.models import Embedder, LateInteraction, ModelFailures, ModelRole


class PromptSurfacing:
    """
    The surfacing service of one profile.

    A retriever that misses the deadline is abandoned, and its process ends with the prompt, before the client of the
    embedding server could record the timeout. Therefore the service records it, and a server that hangs is asked again
    once a minute.

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
        recalls: Recalls,
        model_failures: ModelFailures,
        clock: Clock,
        threads: NamedThreads,
        embedder: Callable[[], Embedder],
        local_embedder: Callable[[], Callable[[str], Embedder | None]],
        late: Callable[[], LateInteraction],
        model_servers: Callable[[Settings], AbstractContextManager[Models]],
        shown: Callable[[str], str],
    ) -> None:
        self._embedder = embedder
        self._is_asked = False
        name = shown(settings.embed_server.url) if settings.embed_server else ""
        self._server = (
            Watch(model_failures, clock, ModelRole.EMBEDDER, name, rest_ms=REST_MS) if name else None
        )
        dependencies = RetrievalDependencies(threads=threads)
        if profile.by_meaning:
            serving = ServingEmbedder(stores.retrieval.embeddings, self._chosen, local_embedder())
            dependencies = dependencies._replace(embedder=serving, late=late())
            if settings.llm_server or settings.rerank_server:
                dependencies = dependencies._replace(models=partial(model_servers, settings))
        facts = FactsAbout(stores.retrieval.documents, stores.retrieval.entities, triples)
        self._surface = SurfaceContext(
            stores, dependencies, clock, recalls, facts, nudge_interval=settings.nudge_interval
        )

    def __call__(
        self, prompt: str, turns: Turns, choices: Choices, receive: Receive = lambda block: None
    ) -> Surfaced:
        """Return the block for *prompt*; *receive* gets a provisional one as soon as there is one."""
        surfaced = self._surface(prompt, turns, choices, receive)
        reason = surfaced.answer.trace.degraded.get(VECTOR, "")
        if self._server and self._is_asked and reason.startswith(LATE):
            self._server.gave_up(reason)
        return surfaced

    def _chosen(self) -> Embedder:
        """Return the embedder of the settings; called only if no local model made the vectors of the vault."""
        if self._server:
            with self._server.naming():
                self._is_asked = True
        return self._embedder()


@dataclass(frozen=True, slots=True)
class FactsAbout:
    """Lookup of the current facts about entities that a prompt names; related entities are not followed."""

    documents: DocumentStore
    entities: EntityStore
    triples: TripleStore

    def __call__(self, prompt: str, budget: int) -> list[str]:
        """Return the fact lines that fit into *budget* tokens together with the enclosing tags."""
        return pack_lines(self._lines(prompt), budget, FACTS_FRAME)

    def _lines(self, prompt: str) -> Iterator[str]:
        lines = set[str]()
        for entity_id in self._named(seeds_of(prompt)):
            triples = self.triples.recorded(entity_id, TRIPLES_EACH, ended=False)
            documents = self.documents.many({triple.document_id for triple in triples}) if triples else {}
            for triple in triples:
                document = documents.get(triple.document_id)
                line = triple_line(Statement(triple.subject.name, triple.predicate, triple.object_name))
                if line in lines or document is None or not is_verified(document.origin):
                    continue
                # A stated preference reads as an order without its subject.
                if not any(map(has_injection, (line, triple.object_name))):
                    lines.add(line)
                    yield safe(line)

    def _named(self, seeds: Seeds) -> list[str]:
        """Return the distinct ids of the entities that *seeds* name; names shared by two entities are ignored."""
        names = [*seeds.names, *seeds.grams]
        known = self.entities.known([*seeds.ids, *(text for name in names for text in ids_of(name))])
        by_id = (text for text in seeds.ids if text in known)
        by_name = (found.id for name in names if (found := only_one(name, known)))
        return list(islice(dict.fromkeys([*by_id, *by_name]), MOST_ENTITIES))
