"""Surfacing of context: the steps from a prompt to its block, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeVar

from clawmem.app.services.indexing.serving_embedder import ServingEmbedder
from clawmem.app.services.retrieval.answer import Answer, Result, describe
from clawmem.app.services.retrieval.models import NO_MODELS, Models, reason_of
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.receipts import Explain, Recalls, Receipt, pack
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.rerank import RERANKER
from clawmem.app.services.retrieval.scheduling import NamedThreads
from clawmem.app.services.retrieval.work import Trace, Work
from clawmem.app.services.surfacing.composing import Quotation, compose
from clawmem.app.services.surfacing.steps import (
    Choices,
    RetrievalDependencies,
    SurfacingStores,
    activated,
    focused,
    guarded,
    retrieval_steps,
    text_of,
    threshold,
    visible,
)
from clawmem.app.services.surfacing.turns import Turns, asked_before, quoted_before
from clawmem.app.settings.model import Settings
from clawmem.domain.knowledge.entities import ids_of, only_one
from clawmem.domain.retrieval.diversity import diversify
from clawmem.domain.retrieval.relevance import DEFAULT_FLOOR
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import UNVERIFIED, is_verified
from clawmem.domain.security.quoting import safe
from clawmem.domain.surfacing.block import FACTS_FRAME, block, nudge, routing_hint
from clawmem.domain.surfacing.facts import MOST_ENTITIES, TRIPLES_EACH, seeds_of
from clawmem.domain.surfacing.gate import MOST_PROMPT, looking_back, needs_earlier, without_prefixes
from clawmem.domain.surfacing.packing import pack_lines
from clawmem.domain.surfacing.profiles import NUDGE_INTERVAL, Profile
from clawmem.domain.text.words import token_count
from clawmem.ports.clock import Clock
from clawmem.ports.models import Embedder, LateInteraction
from clawmem.ports.records import VERIFIED, Scope

LINES_A_RESULT = 2  # lines of one document share an entry, and the budget limits their number
FEWEST_TO_ASK = 2  # hits: one needs no reordering, and rewording for none finds nothing
COMPOSING_S = 1.0  # reserve for the start of the process and for composing the block on a busy machine

Receive = Callable[[str], None]
Ranked = tuple[Work, Trace]
Part = TypeVar("Part")


class Surfaced(NamedTuple):
    """
    Surfaced block (empty if nothing is surfaced), its token count, and the answer and request it was made from.

    ``lines`` has the first and last line that is quoted for each result of the answer; 0 if none is.
    """

    block: str
    tokens: int
    answer: Answer
    request: RetrievalRequest
    ms: float
    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SurfaceContext:
    """
    Use case that retrieves context for a prompt that passed the gate, and renders it for a model.

    Args:
        floor: Minimum probability that anything answers; below it no block is produced.
        nudge_interval: Number of blocks from one reminder to curate the memory to the next.
    """

    stores: SurfacingStores
    dependencies: RetrievalDependencies
    clock: Clock
    recalls: Recalls
    floor: float = DEFAULT_FLOOR
    nudge_interval: int = NUDGE_INTERVAL

    def __call__(
        self, prompt: str, turns: Turns, choices: Choices, receive: Receive = lambda block: None
    ) -> Surfaced:
        """
        Return the block for *prompt* and record the turn; the block is empty if nothing is likely enough to answer.

        Args:
            receive: Called with each block as soon as it is complete, before models are asked and before the turn
                is recorded. The last block is the valid one.
        """
        began, profile = perf_counter(), choices.profile
        request = read_request(
            without_prefixes(prompt)[:MOST_PROMPT],
            now_ms=self.clock.now_ms(),
            zone=self.clock.zone(),
            limit=profile.results * LINES_A_RESULT,
            unit=Unit.LINE,
            floor=self.floor,
            purpose=choices.topic,
        )
        with self.stores.retrieval.transactions.reading():
            surfaced = self._surfaced(request, turns, choices)
        receive(surfaced.block)
        elapsed_s, hits = perf_counter() - began, sum(surfaced.answer.trace.hits.values())
        if profile.deepens and elapsed_s < profile.deepen_within_s and hits >= FEWEST_TO_ASK:
            try:
                with self.dependencies.models() as models:
                    if models.are_asked:
                        left_s = profile.deadline_s - COMPOSING_S - (perf_counter() - began)
                        models = models._replace(withheld=lambda: choices.withheld)
                        deepened = self._surfaced(request, turns, choices, models, left_s)
                        if RERANKER in deepened.answer.trace.degraded or not deepened.block:
                            surfaced.answer.trace.degraded.update(deepened.answer.trace.degraded)
                        else:
                            if deepened.block != surfaced.block:
                                receive(deepened.block)
                            surfaced = deepened
            except Exception as error:  # noqa: BLE001  the block without models remains valid
                surfaced.answer.trace.degraded["models"] = reason_of(error)
        surfaced = surfaced._replace(ms=(perf_counter() - began) * 1000)
        self._record(surfaced, turns, choices)
        return surfaced

    def _surfaced(
        self,
        request: RetrievalRequest,
        turns: Turns,
        choices: Choices,
        models: Models = NO_MODELS,
        left_s: float = 0.0,
    ) -> Surfaced:
        stores = self.stores.retrieval
        retrieving = Pipeline(stores, retrieval_steps(stores, self.dependencies, choices, models, left_s))
        filters = {
            "visible": visible(self.stores.captures, choices),
            "focused": focused(choices.topic),
            "threshold": threshold(choices.profile),
            "activated": activated(self.stores.usage),
            "guarded": guarded,
        }
        filtering = Pipeline(stores, filters)
        work, trace = self._with_texts_of_others(request, retrieving, filtering)
        if not work.candidates and turns.rows and needs_earlier(request.question.text):
            work, trace = self._with_earlier(request, turns, retrieving, filtering, (work, trace))
        hint = routing_hint(request.question.text)
        reminder = _optional(partial(self._reminder, turns), "")
        frame = token_count(block([""], hint=hint, nudge=reminder))
        quoted = partial(quoted_before, turns, self.stores.receipts, choices.compacted_at)
        known: set[Quotation] = _optional(partial(quoted, {c.document_id for c in work.candidates}), set())
        budget, folder = choices.profile.budget - frame, choices.folder
        content = compose(stores, work, request, budget, known, choices.withheld, folder)
        facts = partial(
            facts_about, request.question.text, choices.profile.facts_budget, self.stores, choices.withheld
        )
        lines: list[str] = _optional(facts, []) if content.entries and choices.profile.facts_budget else []
        own = [c for c in content.candidates if c.document and is_verified(c.document.origin)]
        text = block(content.entries, content.relations, lines, hint=hint, nudge=reminder, of_others=not own)
        results = describe(work.texts, stores, request, content.candidates)
        answer = Answer(request.question.text, results, trace, answered=work.answered)
        return Surfaced(text, token_count(text), answer, request, 0.0, content.lines)

    def _with_texts_of_others(
        self, request: RetrievalRequest, retrieving: Pipeline, filtering: Pipeline
    ) -> Ranked:
        """
        Return the candidates of a request: texts of the user and of assistants, and then those of others.

        Texts of the user and of assistants are retrieved and filtered as if the vault held no others, so that these can
        neither displace them nor raise their confidence. Scores of others are at most the best own score, because the
        score decides how much of a text is shown.
        """
        documents = self.stores.retrieval.documents
        work, trace = retrieving.rank(request)
        numbers = frozenset(c.document_id for c in work.candidates)
        foreign = documents.ids(Scope(documents=numbers), origins=UNVERIFIED) if numbers else frozenset()
        if not foreign:
            return filtering.rank(request, work, trace)
        verified = documents.ids(request.scope, origins=VERIFIED)
        own, trace = retrieving.rank(request._replace(scope=request.scope._replace(documents=verified)))
        own, trace = filtering.rank(request, own, trace)
        others = work.with_candidates(c for c in work.candidates if c.document_id in foreign)
        others, trace = filtering.rank(request, others, trace)
        best = max((c.score for c in own.candidates), default=inf)
        distinct, _ = diversify(others.candidates, lambda candidate: text_of(work.texts, candidate))
        room = max(0, request.limit - len(own.candidates))
        shown = (c._replace(score=min(best, c.score)) for c in distinct[:room])
        answering = own if own.candidates else others
        return answering.with_candidates([*own.candidates, *shown]), trace

    def _with_earlier(
        self,
        request: RetrievalRequest,
        turns: Turns,
        retrieving: Pipeline,
        filtering: Pipeline,
        alone: Ranked,
    ) -> Ranked:
        """Return the candidates of a prompt together with the prompts before it."""
        now_ms = request.question.now_ms
        earlier: list[Receipt] = _optional(partial(asked_before, turns, self.stores.receipts, now_ms), [])
        text = looking_back(request.question.text, [receipt.question for receipt in earlier])
        if text == request.question.text:
            return alone
        return self._with_texts_of_others(request.asking(text), retrieving, filtering)

    def _reminder(self, turns: Turns) -> str:
        """Return a reminder to curate the memory; empty if it was curated recently, through any interface."""
        if turns.blocks_since() < self.nudge_interval:
            return ""  # most sessions are too short; skip the query for the latest act
        acts = self.stores.acts.latest(1)
        return nudge(turns.blocks_since(acts[0].at if acts else ""), self.nudge_interval)

    def _record(self, surfaced: Surfaced, turns: Turns, choices: Choices) -> None:
        stores, answer = self.stores.retrieval, surfaced.answer

        def receipt() -> bytes:
            explain = Explain(stores.embeddings)
            explained = explain(answer, surfaced.request, turns.verb, surfaced.ms)
            explained.asked |= {"profile": choices.profile.name, "tokens": surfaced.tokens}
            for item, result, lines in zip(explained.items, answer.results, surfaced.lines, strict=True):
                item |= {"hash": result.document.hash, "quoted": lines}
            return pack(explained)

        best: dict[int, Result] = {}  # telemetry counts a document once
        for result in answer.results:
            best.setdefault(result.document.id, result)
        self.recalls.record(
            Answer(answer.query, tuple(best.values()), answer.trace, answered=answer.answered),
            turns.verb,
            surfaced.ms,
            limit=surfaced.request.limit,
            receipt=receipt,
            session_id=turns.session_id,
            turn_index=turns.number,
            prompt_id=turns.prompt_id,
        )


def _optional(part: Callable[[], Part], default: Part) -> Part:
    """Return what *part* returns, or *default* if it fails: the block is useful without it."""
    try:
        return part()
    except Exception:  # noqa: BLE001  whatever fails is left out
        return default


def facts_about(
    prompt: str, budget: int, stores: SurfacingStores, withheld: Collection[int] = ()
) -> list[str]:
    """
    Return the current facts about the entities that *prompt* names, as lines, without those of *withheld* notes.

    They fit into *budget* tokens together with the enclosing tags. Related entities are not followed, and names shared
    by two entities are ignored.
    """
    documents, entities = stores.retrieval.documents, stores.retrieval.entities
    ids, names = seeds_of(prompt)

    def lines() -> Iterator[str]:
        known = entities.known([*ids, *(text for name in names for text in ids_of(name))])
        by_name = (entity.id for name in names if (entity := only_one(name, known)))
        named = dict.fromkeys([*(text for text in ids if text in known), *by_name])
        written = set[str]()
        for entity_id in islice(named, MOST_ENTITIES):
            triples = stores.triples.recorded(entity_id, TRIPLES_EACH, ended=False)
            sources = documents.many({triple.document_id for triple in triples}.difference(withheld))
            for triple in triples:
                source = sources.get(triple.document_id)
                line = " ".join(f"{triple.subject.name} {triple.predicate} {triple.object_name}".split())
                if line in written or source is None or not is_verified(source.origin):
                    continue
                # A stated preference reads as an order without its subject.
                if not any(map(has_injection, (line, triple.object_name))):
                    written.add(line)
                    yield safe(line)

    return pack_lines(lines(), budget, FACTS_FRAME)


def prompt_surfacing(
    settings: Settings,
    profile: Profile,
    *,
    stores: SurfacingStores,
    recalls: Recalls,
    clock: Clock,
    threads: NamedThreads,
    embedder: Callable[[], Embedder],
    local_embedder: Callable[[], Callable[[str], Embedder | None]],
    late: Callable[[], LateInteraction],
    model_servers: Callable[[Settings], AbstractContextManager[Models]],
) -> SurfaceContext:
    """
    Return the use case for the prompts of a client, with only the models that *profile* uses.

    Args:
        embedder: Returns the embedder of the settings, for example an embedding server.
        local_embedder: Returns the function that returns the embedder in this process with a fingerprint, if there is one.
        late: Returns the model that compares texts word by word.
        model_servers: Opens the configured model servers.
    """
    dependencies = RetrievalDependencies(threads=threads)
    if profile.by_meaning:
        serving = ServingEmbedder(stores.retrieval.embeddings, embedder, local_embedder())
        dependencies = dependencies._replace(embedder=serving, late=late())
        if settings.llm_server or settings.rerank_server:
            dependencies = dependencies._replace(models=partial(model_servers, settings))
    return SurfaceContext(stores, dependencies, clock, recalls, nudge_interval=settings.nudge_interval)
