"""Conclusions that follow from several memories and that none of them states, drafted and judged by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.maintenance.deciding import CarefulAsk, Decisions, Fence, Verdict
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.knowledge.evidence import is_grounded
from clawmem.domain.maintenance import deduction
from clawmem.domain.maintenance.contradiction_gate import heuristic
from clawmem.domain.maintenance.deduction import Candidate, Draft, Stats
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.storage import Transactions

ORIGIN = "deduction"
TYPE = "deductive"
FOLDER = "deductions"
RECENT_MS = 7 * DAY_MS
MOST = 20  # memories in one prompt for conclusions
EARLIER = 20  # earlier conclusions that a new one is compared with
RELATED = 10  # relations between the sources that the judge's prompt lists
_SHOWN = 600  # characters of each memory
_NAME_CHARS = 12


Choose = Callable[[Sequence[Document]], Sequence[Document]]
Tell = Callable[[Stats, Decisions], None]
SUPPORTED = "the judging model says that the quoted sentences support it"
UNJUDGED = "the judging model gave no usable answer"
CHANGED = "one of its notes changed in the meantime, or the conclusion was forgotten"


class _Pool(NamedTuple):
    """Memories to draw conclusions from, and earlier conclusions as document ids by title."""

    candidates: list[Candidate]
    earlier: dict[str, int]


class _Run(NamedTuple):
    """Context of one draft: its number within the run, the sources, the model, and the decisions of the run."""

    number: int
    pool: _Pool
    ask: CarefulAsk
    fence: Fence
    tell: Tell
    decisions: Decisions

    def decide(self, verdict: Verdict, draft: Draft, why: str, **details: int) -> None:
        """Record a decision about the sources of *draft*, without the text that the model wrote."""
        cited = [candidate.document_id for candidate in deduction.sources(draft, self.pool.candidates)]
        self.decisions.add(verdict, cited, why, draft=self.number, **details)


def newest(documents: Sequence[Document]) -> Sequence[Document]:
    """Return the first `MOST` memories of *documents*, which are the latest."""
    return documents[:MOST]


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Draws conclusions from decisions, preferences, milestones and problems of the last week."""

    documents: DocumentStore
    relations: RelationStore
    transactions: Transactions
    memories: Memories
    clock: Clock
    ask: Ask

    def __call__(
        self,
        choose: Choose = newest,
        *,
        fence: Fence = lambda: None,
        tell: Tell = lambda stats, decisions: None,
    ) -> Stats:
        """
        Draft and judge conclusions, store the accepted ones, and return the counters.

        Args:
            choose: Selects the memories to use from all eligible ones.
            fence: Called before each question and in the transaction of each effect. Its exceptions propagate.
            tell: Receives the counters and decisions so far, in the transaction of each effect and at the end.

        Raises:
            VaultError: conclusions stored before it persist.
        """
        pool = self._pool(choose)
        stats = Stats(considered=len(pool.candidates))
        if len(pool.candidates) < deduction.LEAST_SOURCES:
            return stats
        ask = CarefulAsk(self.ask, fence)
        prompt = deduction.draft_prompt([candidate.text[:_SHOWN] for candidate in pool.candidates])
        drafts = deduction.read_drafts(ask(deduction.DRAFTS, prompt))
        stats = replace(stats, drafted=len(drafts or ()))
        decisions = Decisions()
        for number, draft in enumerate(drafts or (), start=1):
            stats = self._settled(draft, stats, _Run(number, pool, ask, fence, tell, decisions))
        stats = replace(stats, nullCalls=ask.null_calls)
        tell(stats, decisions)
        return stats

    def _settled(self, draft: Draft, stats: Stats, run: _Run) -> Stats:
        """Refuse or store a draft; return the updated counters."""
        candidates, answer = run.pool.candidates, None
        if deduction.draft_fault(draft, candidates) is None:
            answer = run.ask(deduction.JUDGE, self._question(draft, run.pool))
        kept, after = deduction.judge_draft(draft, candidates, answer, stats)
        if kept and deduction.is_known(draft.conclusion, list(run.pool.earlier)):
            kept, after = False, after.plus(deduction.RejectionReason.KNOWN)
        if kept:
            is_judged = after.validatorFallbackAccepts == stats.validatorFallbackAccepts
            return self._save(draft, after, run, SUPPORTED if is_judged else UNJUDGED)
        run.decide(Verdict.REFUSE, draft, deduction.rejection(stats, after))
        return after

    def _question(self, draft: Draft, pool: _Pool) -> str:
        cited = deduction.sources(draft, pool.candidates)
        ids = [candidate.document_id for candidate in cited]
        titles = {document.id: document.title for document in self.documents.many(ids).values()}
        edges = self.relations.outbound(ids, limit=RELATED)
        related = [f"{titles[e.source]!r} {e.kind} {titles[e.target]!r}" for e in edges if e.target in titles]
        return deduction.judge_prompt(draft, deduction.evidence(draft.conclusion, cited), related[:RELATED])

    def _save(self, draft: Draft, stats: Stats, run: _Run, why: str) -> Stats:
        """Store a draft unless it was forgotten or one of its sources changed; return the updated counters."""
        cited, now = deduction.sources(draft, run.pool.candidates), iso_utc(self.clock.now_ms())
        ids = sorted(one.document_id for one in cited)
        name = sha256(draft.conclusion.encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_CHARS]
        path = f"{FOLDER}/{now[:10]}-{'-'.join(map(str, ids))}-{name}.md"
        with self.transactions.writing():
            run.fence()
            served = [note for note in self.documents.many(ids).values() if note.inactive is None]
            there = self.documents.at(COLLECTION, path)
            if len(served) < len(ids) or (there and there.inactive is InactiveReason.FORGOTTEN):
                run.decide(Verdict.REFUSE, draft, CHANGED)
                return stats
            text = "\n".join(candidate.text for candidate in cited)
            premises = tuple(premise for premise in draft.premises if is_grounded(premise, text))
            paths = sorted(document.display_path for document in served)
            body = deduction.body(draft._replace(premises=premises), paths)
            title = deduction.title(draft)
            made = self.memories.write(
                path,
                title,
                body,
                TYPE,
                deduction.CONFIDENCE,
                now,
                tags=(TYPE,),
                sources=served,
                origin=Origin.MODEL,
            )
            edges = [
                Relation(number, made, RelationKind.SUPPORTING, deduction.CONFIDENCE, ORIGIN, now)
                for number in ids
            ]
            self.relations.put([*edges, *self._against(draft, made, run.pool, now)])
            stats = replace(stats.plus("created"), nullCalls=run.ask.null_calls)
            run.decide(Verdict.CONCLUDE, draft, why, made=made)
            run.tell(stats, run.decisions)
        run.pool.earlier[draft.conclusion] = made
        return stats

    def _against(self, draft: Draft, made: int, pool: _Pool, now: str) -> list[Relation]:
        """Return the relations of a conclusion to similar earlier ones that contradict it."""
        found = []
        for title in deduction.similar_titles(draft.conclusion, list(pool.earlier)):
            told, other = heuristic(draft.conclusion, title), pool.earlier[title]
            if told.contradictory and other != made:
                why = {"reasoning": told.reason}
                kind = RelationKind.CONTRADICTS
                found.append(Relation(made, other, kind, told.confidence, ORIGIN, now, why))
        return found

    def _pool(self, choose: Choose) -> _Pool:
        earlier = self.documents.latest(Scope(frozenset({COLLECTION})))
        since = iso_utc(self.clock.now_ms() - RECENT_MS)
        drawn = [note for note in earlier if note.content_type == TYPE]
        used = self._used([note.id for note in drawn])
        recent = [
            note
            for note in earlier
            if note.content_type in deduction.TYPES and note.authored_at >= since and note.id not in used
        ]
        return _Pool(
            [Candidate(document.id, self.documents.body(document.id) or "") for document in choose(recent)],
            {note.title: note.id for note in drawn[:EARLIER]},
        )

    def _used(self, drawn: Sequence[int]) -> set[int]:
        kinds = {RelationKind.SUPPORTING}
        edges = self.relations.inbound(drawn, kinds, limit=1000) if drawn else []
        return {edge.source for edge in edges if edge.origin == ORIGIN}
