"""Surfacing of context: the steps from a prompt to its block, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf
from time import perf_counter
from typing import NamedTuple

from clawmem.app.services.retrieval.answer import Answer, Result, describe
from clawmem.app.services.retrieval.compare import compare, fuse
from clawmem.app.services.retrieval.models import (
    NO_MODELS,
    RERANKER,
    Models,
    expansion_stage,
    reason_of,
    reranking_stages,
    variant_retrievers,
)
from clawmem.app.services.retrieval.pipelines import Pipeline, ending, retrieval
from clawmem.app.services.retrieval.receipts import Recalls, explain, pack, receipt_of
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.retrieve import NamedThreads, Retriever
from clawmem.app.services.retrieval.supersede import supersede
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.app.services.surfacing.composing import Quotation, compose
from clawmem.app.services.surfacing.steps import (
    Choices,
    activated,
    first_notes,
    focused,
    guarded,
    not_to_share,
    text_of,
    threshold,
    visible,
)
from clawmem.app.settings.model import Settings
from clawmem.domain.briefing.failures import query_of
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.entities import ids_of, only_one
from clawmem.domain.retrieval.fusion import diversify
from clawmem.domain.retrieval.grains import VECTOR
from clawmem.domain.retrieval.relevance import DEFAULT_FLOOR, LIKELY
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import UNVERIFIED, is_verified
from clawmem.domain.security.quoting import safe
from clawmem.domain.surfacing.block import FACTS_FRAME, block, nudge, routing_hint
from clawmem.domain.surfacing.facts import MOST_ENTITIES, TRIPLES_EACH, seeds_of
from clawmem.domain.surfacing.gate import MOST_PROMPT, looking_back, needs_earlier
from clawmem.domain.surfacing.packing import pack_lines
from clawmem.domain.surfacing.turns import Turns
from clawmem.domain.text.words import token_count
from clawmem.ports.clock import Clock
from clawmem.ports.journal import ActJournal
from clawmem.ports.knowledge import TripleStore
from clawmem.ports.models import Embedder, LateInteraction
from clawmem.ports.records import VERIFIED, Scope
from clawmem.ports.sessions import CaptureStore, UsageStore
from clawmem.ports.telemetry import Receipts


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
        embedder: Returns the model for query vectors.
        late: Returns the model that compares texts word by word.
        model_servers: Opens the configured model servers, which a deep profile uses.
        threads: Thread pool of a long-running process, in which retrievers run.
        floor: Minimum probability that anything answers; below it no block is produced.
    """

    settings: Settings
    stores: RetrievalStores
    captures: CaptureStore
    usage: UsageStore
    receipts: Receipts
    acts: ActJournal
    triples: TripleStore
    clock: Clock
    recalls: Recalls
    embedder: Callable[[], Embedder]
    late: Callable[[], LateInteraction | None]
    model_servers: Callable[[Settings], AbstractContextManager[Models]]
    threads: NamedThreads | None = None
    floor: float = DEFAULT_FLOOR

    def __call__(
        self, prompt: str, turns: Turns, choices: Choices, receive: Callable[[str], None] = lambda block: None
    ) -> Surfaced:
        """
        Return the block for *prompt* and record the turn; the block is empty if nothing is likely enough to answer.

        *receive* gets each block before models are asked and before the turn is recorded. The last one is valid.
        """
        began, profile = perf_counter(), choices.profile
        request = read_request(
            query_of(prompt)[:MOST_PROMPT],
            now_ms=self.clock.now_ms(),
            zone=self.clock.zone(),
            limit=profile.results * 2,  # lines; those of one document share an entry
            unit=Unit.LINE,
            floor=self.floor,
            purpose=choices.topic,
        )
        with self.stores.transactions.reading():
            surfaced = self._surfaced(request, turns, choices)
        receive(surfaced.block)
        elapsed_s, hits = perf_counter() - began, sum(surfaced.answer.trace.hits.values())
        # One hit needs no reordering, and rewording for none finds nothing.
        if profile.deepens and elapsed_s < profile.deepen_within_s and hits >= 2:
            try:
                with self.model_servers(self.settings) as models:
                    if models.generator or models.reranker:
                        # A second is left for composing the block on a busy machine.
                        left_s = profile.deadline_s - 1.0 - (perf_counter() - began)
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
        stores, profile, prompt = self.stores, choices.profile, request.question.text
        retrieving = Pipeline(stores, self.steps(choices, models, left_s))
        filters: dict[str, Stage] = {
            "visible": partial(visible, self.captures, choices),
            "focused": partial(focused, stores.properties, choices),
            "threshold": partial(threshold, profile),
            "activated": partial(activated, self.usage),
            "guarded": guarded,
        }
        filtering = Pipeline(stores, filters)
        work, trace = self._ranked(request, choices, retrieving, filtering)
        # The block is useful without any part in `suppress`.
        if not work.candidates and turns.rows and needs_earlier(prompt):
            wider = prompt
            with suppress(Exception):
                since = iso_utc(request.question.now_ms - 10 * 60_000)
                rows = (row for row in reversed(turns.rows) if row.asked_at > since)
                receipts = filter(None, (receipt_of(self.receipts, row) for row in rows))
                wider = looking_back(prompt, [receipt.question for receipt in receipts])
            if wider != prompt:
                work, trace = self._ranked(request.asking(wider), choices, retrieving, filtering)
        hint, reminder = routing_hint(prompt), ""
        with suppress(Exception):
            # Most sessions are too short for a reminder; they skip the query for the latest act of curation.
            if turns.blocks_since() >= (interval := self.settings.nudge_interval):
                acts = self.acts.latest(1)
                reminder = nudge(turns.blocks_since(acts[0].at if acts else ""), interval)
        is_sure = any(c.confidence is None or c.confidence >= LIKELY for c in work.candidates)
        share = 5 if is_sure or not profile.by_meaning else 4  # without vectors a confidence says less
        budget = profile.budget * share // 5 - token_count(block([""], hint=hint, nudge=reminder))
        known, facts = set[Quotation](), list[str]()
        with suppress(Exception):
            # Lines of these notes that blocks quoted since the last compaction.
            numbers = {c.document_id for c in work.candidates}
            rows = (row for row in turns.rows if row.asked_at > choices.compacted_at)
            rows = (row for row in rows if any(hit.document_id in numbers for hit in row.hits))
            quoting = filter(None, (receipt_of(self.receipts, row) for row in rows))
            items = (item for receipt in quoting for item in receipt.items if item.get("quoted"))
            known = {Quotation(item["document_id"], item["hash"], *item["quoted"]) for item in items}
        content = compose(stores, work, request, budget, known, choices.withheld, choices.folder)
        with suppress(Exception):
            if content.entries and profile.facts_budget:
                facts = facts_about(prompt, profile.facts_budget, stores, self.triples, choices.withheld)
        own = [c for c in content.candidates if c.document and is_verified(c.document.origin)]
        text = block(content.entries, content.relations, facts, hint=hint, nudge=reminder, of_others=not own)
        results = describe(work.texts, stores, request, content.candidates)
        answer = Answer(prompt, results, trace, answered=work.answered)
        return Surfaced(text, token_count(text), answer, request, 0.0, content.lines)

    def steps(self, choices: Choices, models: Models = NO_MODELS, left_s: float = 0.0) -> dict[str, Stage]:
        """
        Return the steps of retrieval, ending with the confidence of lines.

        They are those of the command `query`, or of `search` if the profile allows no model. A vault without embeddings
        is searched lexically only. A generator rewords the prompt, a reranker reads the best lines, in *left_s* seconds.
        """
        stores, profile = self.stores, choices.profile
        embedder = self.embedder() if profile.by_meaning and stores.embeddings.fingerprint() else None
        late = self.late() if profile.by_meaning else None
        rewording: dict[str, Stage] = {}
        variants: dict[str, Retriever] = {}
        if models.generator and embedder is not None:
            rewording = expansion_stage(stores, models, deadline_s=left_s / 2 if models.reranker else left_s)
            variants = variant_retrievers(stores, embedder)
        steps: dict[str, Stage] = {
            **rewording,
            "search": retrieval(
                stores,
                embedder,
                ["lexical", "vector", "temporal"] if embedder else ["lexical"],
                variants,
                deadline_s=profile.deadline_s,
                patience_s={VECTOR: profile.vector_s},
                threads=self.threads,
            ),
            "fuse": fuse,
            **({"compare": partial(compare, late)} if late else {}),
            "first notes": partial(first_notes, stores, late),
            **reranking_stages(stores, models, most=15, deadline_s=left_s),
            **ending(stores, late),
            "supersede": partial(supersede, stores, of_lines=True),
        }
        del steps["cut"]
        return steps

    def _ranked(
        self, request: RetrievalRequest, choices: Choices, retrieving: Pipeline, filtering: Pipeline
    ) -> tuple[Work, Trace]:
        """
        Return the candidates of a request: texts of the user and of assistants, and then those of others.

        Texts of the user and of assistants are retrieved and filtered as if the vault held no others, so that these can
        neither displace them nor raise their confidence. Scores of others are at most the best own score, because the
        score decides how much of a text is shown. What the session may not see is no evidence either that the vault
        answers: with such candidates the search is repeated without them.
        """
        documents, now = self.stores.documents, iso_utc(request.question.now_ms)
        work, trace = retrieving.rank(request)
        secret = [c for c in work.candidates if c.document and not_to_share(c.document, choices, now)]
        if secret:
            shared = documents.ids(request.scope) - choices.withheld - {c.document_id for c in secret}
            request = request._replace(scope=request.scope._replace(documents=shared))
            work, trace = retrieving.rank(request)
            trace.drop(secret, "not to be shared with this session")
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

    def _record(self, surfaced: Surfaced, turns: Turns, choices: Choices) -> None:
        answer = surfaced.answer

        def receipt() -> bytes:
            choice = {"profile": choices.profile.name, "tokens": surfaced.tokens}
            embeddings, request = self.stores.embeddings, surfaced.request
            explained = explain(answer, request, turns.verb, surfaced.ms, embeddings=embeddings, **choice)
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
            turn_index=len(turns.rows),
            prompt_id=turns.prompt_id,
        )


def facts_about(
    prompt: str, budget: int, stores: RetrievalStores, triples: TripleStore, withheld: Collection[int] = ()
) -> list[str]:
    """
    Return the current facts about the entities that *prompt* names, as lines, without those of *withheld* notes.

    They fit into *budget* tokens together with the enclosing tags. Related entities are not followed, and names shared
    by two entities are ignored.
    """
    ids, names = seeds_of(prompt)
    known = stores.entities.known([*ids, *(text for name in names for text in ids_of(name))])
    by_name = (entity.id for name in names if (entity := only_one(name, known)))
    named = dict.fromkeys([*(text for text in ids if text in known), *by_name])
    lines: dict[str, str] = {}
    for entity_id in islice(named, MOST_ENTITIES):
        current = triples.recorded(entity_id, TRIPLES_EACH, ended=False)
        sources = stores.documents.many({triple.document_id for triple in current}.difference(withheld))
        for triple in current:
            source = sources.get(triple.document_id)
            line = " ".join(f"{triple.subject.name} {triple.predicate} {triple.object_name}".split())
            if line in lines or source is None or not is_verified(source.origin):
                continue
            # A stated preference reads as an order without its subject.
            if not any(map(has_injection, (line, triple.object_name))):
                lines[line] = safe(line)
    return pack_lines(lines.values(), budget, FACTS_FRAME)
