"""Conclusions that follow from several memories and that none of them states, drafted and judged by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.maintenance.phase_run import PhaseRun, Verdict
from clawmem.domain.capture.notes import COLLECTION, title_of
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.knowledge.triples import is_grounded
from clawmem.domain.maintenance import deduction
from clawmem.domain.maintenance.contradiction_gate import heuristic
from clawmem.domain.maintenance.deduction import Candidate, Draft, RejectionReason
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.storage import Transactions

ORIGIN = "deduction"
TYPE = "deductive"
FOLDER = "deductions"
RECENT_MS = 7 * DAY_MS
EARLIER = 20  # earlier conclusions that a new one is compared with
RELATED = 10  # relations between the sources that the judge's prompt lists
_SHOWN = 600  # characters of each memory
_NAME_CHARS = 12
SUPPORTED = "the judging model says that the quoted sentences support it"
UNJUDGED = "the judging model gave no usable answer"
CHANGED = "one of its notes changed in the meantime, or the conclusion was forgotten"


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Draws conclusions from decisions, preferences, milestones and problems of the last week."""

    documents: DocumentStore
    relations: RelationStore
    transactions: Transactions
    memories: Memories
    clock: Clock
    ask: Ask | None

    def __call__(
        self,
        run: PhaseRun,
        choose: Callable[[Sequence[Document]], Sequence[Document]] = lambda documents: documents,
    ) -> PhaseRun:
        """
        Draft and judge conclusions, and store the accepted ones.

        Args:
            choose: Selects the memories to use from all eligible ones, which are sorted by time, latest first.

        Raises:
            VaultError: conclusions stored before it persist.
        """
        machine_made = self.documents.latest(Scope(frozenset({COLLECTION})))
        drawn = [note for note in machine_made if note.content_type == TYPE]
        edges = self.relations.inbound([note.id for note in drawn], {RelationKind.SUPPORTING}, limit=1000)
        used = {edge.source for edge in edges if edge.origin == ORIGIN}
        since = iso_utc(self.clock.now_ms() - RECENT_MS)
        recent = [
            note
            for note in machine_made
            if note.content_type in deduction.TYPES and note.authored_at >= since and note.id not in used
        ]
        pool = [Candidate(note.id, self.documents.body(note.id) or "") for note in choose(recent)]
        earlier = {note.title: note.id for note in drawn[:EARLIER]}  # conclusions as document ids by title
        run.selected = len(pool)
        run.metrics = dict.fromkeys((*deduction.ACCEPTANCES, *RejectionReason), 0)
        if self.ask is None or len(pool) < deduction.LEAST_SOURCES:
            return run
        prompt = deduction.draft_prompt([candidate.text[:_SHOWN] for candidate in pool])
        drafts = deduction.read_drafts(run.ask(self.ask, deduction.DRAFTS, prompt))
        run.processed = len(drafts)
        for number, draft in enumerate(drafts, start=1):
            cited = deduction.sources(draft, pool)
            answer = None
            if deduction.draft_fault(draft, pool) is None:
                answer = run.ask(self.ask, deduction.JUDGE, self._question(draft, cited))
            outcomes = deduction.judge_draft(draft, pool, answer)
            if deduction.ACCEPTED in outcomes and deduction.is_known(draft.conclusion, list(earlier)):
                outcomes = (*outcomes, RejectionReason.KNOWN)
            for outcome in outcomes:
                run.metrics[outcome] += 1
            if isinstance(outcomes[-1], RejectionReason):
                ids = [candidate.document_id for candidate in cited]
                run.decide(Verdict.REFUSE, ids, deduction.WHY[outcomes[-1]], draft=number)
            else:
                why = UNJUDGED if deduction.UNJUDGED in outcomes else SUPPORTED
                self._save(draft, cited, earlier, run, why, number)
        return run

    def _question(self, draft: Draft, cited: Sequence[Candidate]) -> str:
        ids = [candidate.document_id for candidate in cited]
        titles = {document.id: document.title for document in self.documents.many(ids).values()}
        edges = self.relations.outbound(ids, limit=RELATED)
        related = [
            f"{titles[edge.source]!r} {edge.kind} {titles[edge.target]!r}"
            for edge in edges
            if edge.target in titles
        ]
        return deduction.judge_prompt(draft, deduction.evidence(draft.conclusion, cited), related[:RELATED])

    def _save(
        self,
        draft: Draft,
        cited: Sequence[Candidate],
        earlier: dict[str, int],
        run: PhaseRun,
        why: str,
        number: int,
    ) -> None:
        """Store a draft, unless it was forgotten or one of its sources changed."""
        now, ids = iso_utc(self.clock.now_ms()), sorted(candidate.document_id for candidate in cited)
        name = sha256(draft.conclusion.encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_CHARS]
        path = f"{FOLDER}/{now[:10]}-{'-'.join(map(str, ids))}-{name}.md"
        text = "\n".join(candidate.text for candidate in cited)
        premises = tuple(premise for premise in draft.premises if is_grounded(premise, text))
        with run.effect(self.transactions):
            served = [note for note in self.documents.many(ids).values() if note.inactive is None]
            known = self.documents.at(COLLECTION, path)
            if len(served) < len(ids) or (known and known.inactive is InactiveReason.FORGOTTEN):
                run.decide(Verdict.REFUSE, ids, CHANGED, draft=number)
                return
            made = self.memories.write(
                path,
                title_of(draft.conclusion),
                deduction.body(
                    draft._replace(premises=premises), sorted(note.display_path for note in served)
                ),
                TYPE,
                deduction.CONFIDENCE,
                now,
                tags=(TYPE,),
                sources=served,
                origin=Origin.MODEL,
            )
            edges = [
                Relation(source, made, RelationKind.SUPPORTING, deduction.CONFIDENCE, ORIGIN, now)
                for source in ids
            ]
            for title in deduction.similar_titles(draft.conclusion, list(earlier)):
                conflict, kind = heuristic(draft.conclusion, title), RelationKind.CONTRADICTS
                if conflict.contradictory and earlier[title] != made:
                    reasoning = {"reasoning": conflict.reason}
                    edges.append(
                        Relation(made, earlier[title], kind, conflict.confidence, ORIGIN, now, reasoning)
                    )
            self.relations.put(edges)
            run.decide(Verdict.CONCLUDE, ids, why, draft=number, made=made)
        earlier[draft.conclusion] = made
