"""One run of a maintenance phase: its lease, its questions to a model, its counters and its decisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.domain.knowledge.llm_answer import ModelTask
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelError, ModelUnavailable
from clawmem.ports.journal import Run
from clawmem.ports.storage import Transactions

COUNTERS = ("selected", "processed", "created", "rejected", "null_calls")
MOST_REFUSALS = 50  # refusals in the journal; the others are only counted


class Verdict(StrEnum):
    """Outcome of a decision for its documents."""

    ENRICH = "enrich"  # the documents were enriched
    FAIL = "fail"  # the model gave no usable answer
    MERGE = "merge"
    CONCLUDE = "conclude"  # a conclusion was drawn from the documents
    REFUSE = "refuse"
    LINK = "link"  # the documents contradict each other, and both are served
    SUPERSEDE = "supersede"  # the documents contradict each other, and the later one replaces the other


@dataclass(slots=True)
class PhaseRun:
    """
    The state of one run; the counters are those of `Run`.

    Attributes:
        check: Called in the transaction of each effect and before each question. Its exceptions roll that effect back
            and propagate.
        save: Stores the run so far, in the transaction of each effect.
        dry_run: Whether decisions have no effect.
        stopped: Reason why no more questions are asked.
    """

    check: Callable[[], None] = lambda: None
    save: Callable[[PhaseRun], None] = lambda run: None
    dry_run: bool = False
    selected: int = 0
    processed: int = 0
    created: int = 0
    rejected: int = 0
    null_calls: int = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    stopped: str = ""
    _decisions: dict[tuple[Verdict, frozenset[int], int], dict[str, Any]] = field(default_factory=dict)

    @contextmanager
    def effect(self, transactions: Transactions) -> Iterator[None]:
        """Check the lease before, and store the run after what is done inside, in one transaction."""
        with transactions.writing():
            self.check()
            yield
            self.save(self)

    def ask(self, model: Ask, task: ModelTask, prompt: str) -> Any | None:
        """Return the answer of *model*; ``None`` if it gave no usable one, or no more questions are asked."""
        if self.stopped:
            return None
        self.check()
        answer = None
        try:
            answer = model(task, prompt)
        except (DailyLimitReached, ModelUnavailable) as reason:
            self.stopped = str(reason)
        except ModelError:
            pass
        self.null_calls += answer is None
        return answer

    def decide(self, verdict: Verdict, documents: Collection[int], why: str, **details: Any) -> None:
        """
        Record a decision, unless the same one about these documents and this draft is recorded already.

        It names documents by id alone, so that it holds no text of a document that is forgotten later.

        Args:
            details: The figures behind it, such as a cosine and its threshold; ``made`` is the id of a new document.
        """
        key = verdict, frozenset(documents), details.get("draft", 0)
        if key not in self._decisions:
            decision = {"verdict": verdict.value, "documents": [*documents], "why": why, **details}
            self._decisions[key] = decision
            self.rejected += verdict is Verdict.REFUSE
            self.created += "made" in details

    def decided(self, *verdicts: Verdict) -> list[dict[str, Any]]:
        """Return the decisions with one of *verdicts*, oldest first."""
        return [decision for (verdict, *_), decision in self._decisions.items() if verdict in verdicts]

    def recorded(self, begun: Run) -> Run:
        """Return the row *begun* of the journal with the counters, metrics and decisions so far."""
        effects = self.decided(*(verdict for verdict in Verdict if verdict is not Verdict.REFUSE))
        decisions = [*effects, *self.decided(Verdict.REFUSE)[:MOST_REFUSALS]]
        stopped = {"stopped": self.stopped} if self.stopped else {}
        return replace(
            begun,
            **{counter: getattr(self, counter) for counter in COUNTERS},
            metrics={**self.metrics, "decisions": decisions, **stopped},
        )


def with_notes(documents: DocumentStore, runs: Sequence[Run]) -> list[Run]:
    """Return *runs* whose decisions name their notes, and what was ``made``; a forgotten note has a number."""
    decisions = [decision for run in runs for decision in run.metrics.get("decisions", ())]
    ids = {key for decision in decisions for key in (*decision["documents"], decision.get("made", 0))}
    known = documents.many(ids).values()
    places = {document.id: document.display_path for document in known if document.title}
    noted = []
    for run in runs:
        decisions = [{**decision} for decision in run.metrics.get("decisions", ())]
        for decision in decisions:
            decision["notes"] = [places.get(key, f"number {key}") for key in decision["documents"]]
            if "made" in decision:
                decision["made"] = places.get(decision["made"], decision["made"])
        noted.append(replace(run, metrics={**run.metrics, "decisions": decisions}))
    return noted
