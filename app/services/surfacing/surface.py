"""Surfacing of context: the steps from a prompt to its block, in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from clawmem.app.services.retrieval.answer import Answer, Result, describe
from clawmem.app.services.retrieval.models import reason_of
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.recalls import Recalls
from clawmem.app.services.retrieval.receipts import AnswerContext, Explain, pack
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.rerank import RERANKER
from clawmem.app.services.retrieval.work import Trace, Work
from clawmem.app.services.surfacing.choices import Choices, Watch
from clawmem.app.services.surfacing.composing import BlockContent, Clean, Composer, RedactPart
from clawmem.app.services.surfacing.deepening import deepening
from clawmem.app.services.surfacing.filters import text_of
from clawmem.app.services.surfacing.own_texts import (
    SeparateResults,
    among_own,
    others_in,
    own_before_others,
)
from clawmem.app.services.surfacing.pipeline import RetrievalDependencies, finding, settling
from clawmem.app.services.surfacing.stores import SurfacingStores
from clawmem.app.services.surfacing.turns import (
    CONTEXT_SURFACING,
    Earlier,
    Turns,
    asked_before,
    depends_on_earlier,
    is_fragment,
    with_earlier,
)
from clawmem.domain.retrieval.relevance import DEFAULT_FLOOR
from clawmem.domain.surfacing.block import block, frame_tokens
from clawmem.domain.surfacing.gate import MOST_PROMPT, without_prefixes
from clawmem.domain.surfacing.hints import nudge, routing_hint
from clawmem.domain.surfacing.profiles import NUDGE_INTERVAL
from clawmem.domain.text.words import token_count
from clawmem.ports.clock import Clock

LINES_A_RESULT = 2  # lines of one document share an entry, and the budget limits their number

FactsOf = Callable[[str, int], Sequence[str]]
Receive = Callable[[str], None]


class BlockRendering(NamedTuple):
    """
    Options for rendering a block.

    Attributes:
        clean: Makes a text safe to include in a block.
        redact: Returns the part of a body between two offsets without secrets.
        facts_of: Returns fact lines about a prompt within a number of tokens.
        floor: Minimum answerability; below it no block is produced.
        nudge_interval: Number of blocks from one reminder to curate the memory to the next.
    """

    clean: Clean
    redact: RedactPart = lambda text, start, end: text[start:end]
    facts_of: FactsOf = lambda prompt, budget: ()
    floor: float = DEFAULT_FLOOR
    nudge_interval: int = NUDGE_INTERVAL


class Surfaced(NamedTuple):
    """Surfaced block (empty if nothing is surfaced), its token count, and the answer and request it was made from."""

    block: str
    tokens: int
    answer: Answer
    request: RetrievalRequest
    ms: float


class _PromptState(NamedTuple):
    """State of a prompt in progress: its request, options, timer, and the hint and reminder around its block."""

    request: RetrievalRequest
    choices: Choices
    watch: Watch
    hint: str
    nudge: str


@dataclass(frozen=True, slots=True)
class SurfaceContext:
    """Use case that retrieves context for a prompt that passed the gate, and renders it for a model."""

    stores: SurfacingStores
    means: RetrievalDependencies
    dressing: BlockRendering
    clock: Clock
    recalls: Recalls

    def __call__(
        self, prompt: str, turns: Turns, choices: Choices, receive: Receive = lambda block: None
    ) -> Surfaced:
        """
        Return the block for *prompt* and record the turn; the block is empty if nothing is likely enough to answer.

        Args:
            receive: Called with each block as soon as it is complete, before models are asked and before the turn
                is recorded. The last block is the valid one.
        """
        with self.stores.retrieval.transactions.reading():
            asked = self._asked(prompt, turns, choices)
            found = self._separated(asked, turns)
            said = self._said(asked, found)
        receive(said.block)
        if better := self._better(asked, said, found):
            said = better
            receive(said.block)
        said = said._replace(ms=asked.watch.ms)
        self._write_down(said, turns, choices)
        return said

    def _asked(self, prompt: str, turns: Turns, choices: Choices) -> _PromptState:
        watch = Watch(choices.profile)
        request = self._request(prompt, choices)
        return _PromptState(request, choices, watch, routing_hint(request.question.text), self._nudge(turns))

    def _separated(self, asked: _PromptState, turns: Turns) -> SeparateResults:
        """Return the candidates of the prompt; if texts of others are among them, retrieve own texts separately."""
        work, trace = self._found(asked, turns)
        others = others_in(self.stores.retrieval.documents, work)
        if not others.candidates:
            return SeparateResults(work, trace, others)
        own = asked._replace(request=among_own(self.stores.retrieval.documents, asked.request))
        return SeparateResults(*self._found(own, turns), others)

    def _found(self, asked: _PromptState, turns: Turns) -> tuple[Work, Trace]:
        """Return the candidates of the prompt, followed by those found with earlier prompts if it depends on them."""
        alone = self._ranked(asked.request, asked.choices)
        if is_fragment(asked.request.question.text):
            alone[1].drop(alone[0].candidates, "the prompt names nothing itself")
            alone = alone[0].with_candidates(()), alone[1]
        if not turns.rows or not depends_on_earlier(asked.request.question.text, bool(alone[0].candidates)):
            return alone
        choices = asked.choices._replace(prompt=asked.request.question.text)
        earlier = self._before(turns, asked.request)
        return with_earlier(asked.request, alone, earlier, lambda request: self._ranked(request, choices))

    def _ranked(self, request: RetrievalRequest, choices: Choices) -> tuple[Work, Trace]:
        stores = self.stores.retrieval
        return Pipeline(stores, finding(stores, self.means, choices)).rank(request)

    def _said(self, asked: _PromptState, found: SeparateResults) -> Surfaced:
        stores = self.stores.retrieval
        settled = Pipeline(stores, settling(self.stores, self.means, asked.choices))
        work, trace = settled.rank(asked.request, found.own, found.trace)
        if found.others.candidates:
            others, trace = settled.rank(asked.request, found.others, trace)
            limit = asked.request.limit
            work = own_before_others(work, others, limit, partial(text_of, stores.documents))
        compose = Composer(stores, self.dressing.clean, self.dressing.redact)
        frame = frame_tokens(asked.hint, asked.nudge, is_only_topic=work.is_only_topic)
        budget = asked.choices.profile.budget - frame
        shown = compose(work.candidates, asked.request, budget)
        text = self._block(asked, shown, is_only_topic=work.is_only_topic)
        results = describe(work.texts, stores, asked.request, shown.candidates)
        answer = Answer(asked.request.question.text, results, trace, answered=work.answered)
        return Surfaced(text, token_count(text), answer, asked.request, asked.watch.ms)

    def _better(self, asked: _PromptState, said: Surfaced, found: SeparateResults) -> Surfaced | None:
        """Return the block improved by models; ``None`` if no model is asked or a model fails."""
        if not asked.watch.may_ask(len(found.first.candidates)):
            return None
        try:
            return self._deepened(asked, said, found)
        except Exception as error:  # noqa: BLE001  the block without models remains valid
            said.answer.trace.degraded["models"] = reason_of(error)
            return None

    def _deepened(self, asked: _PromptState, said: Surfaced, found: SeparateResults) -> Surfaced | None:
        stores = self.stores.retrieval
        with self.means.models() as models:
            stages = deepening(stores.documents, stores.lexical, stores.answers, models, asked.watch)
            work, trace = Pipeline(stores, stages).rank(asked.request, found.first, found.trace)
        said.answer.trace.degraded.update(trace.degraded)
        if work == found.first or RERANKER in trace.degraded:
            return None
        return self._said(asked, found.with_first(work, trace))

    def _request(self, prompt: str, choices: Choices) -> RetrievalRequest:
        text = without_prefixes(prompt)[:MOST_PROMPT]
        return read_request(
            text,
            now_ms=self.clock.now_ms(),
            zone=self.clock.zone(),
            limit=choices.profile.results * LINES_A_RESULT,
            unit=Unit.LINE,
            floor=self.dressing.floor,
            purpose=choices.topic,
            show_all=choices.profile.deepens,  # its budget has room for weaker matches
        )

    def _before(self, turns: Turns, request: RetrievalRequest) -> Earlier:
        try:
            return asked_before(turns, self.stores.receipts, request.question.now_ms)
        except Exception:  # noqa: BLE001  retrieval works with the prompt alone
            return Earlier()

    def _nudge(self, turns: Turns) -> str:
        """Return a reminder to curate the memory; empty if it was curated recently, through any interface."""
        interval = self.dressing.nudge_interval
        try:
            if turns.blocks_since() < interval:
                return ""  # most sessions are too short; skip the query for the latest act
            acts = self.stores.acts.latest(1)
            return nudge(turns.blocks_since(acts[0].at if acts else ""), interval)
        except Exception:  # noqa: BLE001  the reminder is optional
            return ""

    def _block(self, asked: _PromptState, shown: BlockContent, *, is_only_topic: bool) -> str:
        budget = asked.choices.profile.facts_budget
        return block(
            shown.entries,
            shown.relations,
            self._facts(asked.request.question.text, budget) if shown.entries and budget else (),
            hint=asked.hint,
            nudge=asked.nudge,
            is_only_topic=is_only_topic,
        )

    def _facts(self, prompt: str, budget: int) -> Sequence[str]:
        try:
            return self.dressing.facts_of(prompt, budget)
        except Exception:  # noqa: BLE001  facts are optional
            return ()

    def _write_down(self, surfaced: Surfaced, turns: Turns, choices: Choices) -> None:
        def receipt() -> bytes:
            stores = self.stores.retrieval
            occasion = AnswerContext(CONTEXT_SURFACING, surfaced.ms, "")
            found = Explain(stores.documents, stores.embeddings)(surfaced.answer, surfaced.request, occasion)
            said = {"profile": choices.profile.name, "tokens": surfaced.tokens}
            return pack(found._replace(asked={**found.asked, **said}))

        self.recalls.record(
            _one_of_each(surfaced.answer),
            CONTEXT_SURFACING,
            surfaced.ms,
            limit=surfaced.request.limit,
            receipt=receipt,
            session_id=turns.session_id,
            turn_index=turns.number,
            prompt_id=turns.prompt_id,
        )


def _one_of_each(found: Answer) -> Answer:
    """Return the answer reduced to the best line of each document: telemetry counts a document once."""
    best: dict[int, Result] = {}
    for result in found.results:
        best.setdefault(result.document.id, result)
    return Answer(found.query, tuple(best.values()), found.trace, answered=found.answered)
