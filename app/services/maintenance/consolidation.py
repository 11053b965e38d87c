"""Merging of observations that state the same into one document. A merge can be undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256

from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.maintenance.deciding import (
    CarefulAsk,
    Decisions,
    Fence,
    Tell,
    Verdict,
    ignore_decisions,
)
from clawmem.app.services.maintenance.grouping import (
    Group,
    MergedObservations,
    Observation,
    ObservationGrouper,
    Observations,
    Thresholds,
    is_free,
    serve_again,
)
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.contradiction_gate import (
    LEAST_CONFIDENCE,
    Contradiction,
    Policy,
    contradiction,
    read_verdict,
)
from clawmem.domain.security.origin import is_verified
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.journal import Act, ActEntry, ActJournal, Journal, Replacement
from clawmem.ports.knowledge import EntityStore, Relation, RelationKind, RelationStore, TripleStore
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.storage import Transactions

ORIGIN = "consolidation"
BY_MODEL = "a model says that they contradict each other"
JUDGED = 10  # pairs per run that the model judges


@dataclass(frozen=True)
class ConsolidationStores:
    """Stores and ports that a consolidation reads and changes."""

    documents: DocumentStore
    entities: EntityStore
    triples: TripleStore
    relations: RelationStore
    journal: Journal
    acts: ActJournal
    transactions: Transactions
    publisher: Publisher


@dataclass(frozen=True, slots=True)
class ContradictionFinder:
    """
    Finds pairs of observations that contradict each other, and relates them.

    Args:
        tell: Receives the decisions so far, in the transaction of each effect.
        policy: What happens to the earlier observation of a pair.
        least: The least confidence of a contradiction.
    """

    stores: ConsolidationStores
    clock: Clock
    decisions: Decisions
    tell: Tell
    policy: Policy = Policy.LINK
    least: float = LEAST_CONFIDENCE

    def __call__(
        self,
        every: Sequence[Observation],
        among: Observations,
        grouped: AbstractSet[int],
        ask: CarefulAsk | None,
        fence: Fence,
        *,
        dry_run: bool,
    ) -> int:
        """
        Compare each observation of *every* with similar ones from *among*, leaving out the *grouped*.

        Return the number of new contradictions.
        """
        found, left, gone = 0, JUDGED, set[int]()
        for newer, older in _pairs(every, among, grouped):
            if {newer.id, older.id} & gone or self._is_known(newer, older):
                continue
            verdict = _judged(newer, older, ask) if ask and left > 0 else None
            left -= ask is not None
            told = contradiction(newer.said.text, older.said.text, verdict, least=self.least)
            if told.contradictory:
                # A model's reasoning may quote the notes: store it with their relation, which is deleted with them.
                settle = self._decide if dry_run else partial(self._settle, fence=fence)
                policy = self._policy_for(newer)
                found += settle((newer.id, older.id), policy, told, BY_MODEL if verdict else told.reason)
                gone |= {older.id} if policy is Policy.SUPERSEDE else set()
        return found

    def _policy_for(self, newer: Observation) -> Policy:
        """Return the policy for a contradiction with *newer*; an unverified text supersedes nothing."""
        return self.policy if is_verified(newer.document.origin) else Policy.LINK

    def _decide(self, ends: tuple[int, int], policy: Policy, told: Contradiction, why: str) -> int:
        outcome = Verdict.SUPERSEDE if policy is Policy.SUPERSEDE else Verdict.LINK
        self.decisions.add(outcome, ends, why, confidence=told.confidence)
        return 1

    def _settle(
        self, ends: tuple[int, int], policy: Policy, told: Contradiction, why: str, *, fence: Fence
    ) -> int:
        """Relate the two and apply *policy*. Return 1, or 0 if one of them is no longer served."""
        at, (newer, older) = iso_utc(self.clock.now_ms()), ends
        reasoning = {"reasoning": told.reason}
        edge = Relation(newer, older, RelationKind.CONTRADICTS, told.confidence, ORIGIN, at, reasoning)
        with self.stores.transactions.writing():
            fence()
            served = self.stores.documents.many(ends).values()
            if any(document.inactive is not None for document in served):
                return 0
            self.stores.relations.put([edge])
            if policy is Policy.SUPERSEDE:
                self.stores.publisher.withdraw([older], InactiveReason.SUPERSEDED)
                self.stores.journal.replace(Replacement(newer, (older,), why, at))
            self._decide(ends, policy, told, why)
            self.tell(self.decisions)
        return 1

    def _is_known(self, newer: Observation, older: Observation) -> bool:
        edges = self.stores.relations.outbound([newer.id], {RelationKind.CONTRADICTS}, limit=_MOST_RELATIONS)
        return any(edge.target == older.id for edge in edges)


def _pairs(
    every: Sequence[Observation], among: Observations, grouped: AbstractSet[int]
) -> Iterator[tuple[Observation, Observation]]:
    """Yield each pair once, the later observation first."""
    seen: set[frozenset[int]] = set()
    for observation in every:
        for other in among.near(observation, without=grouped):
            pair = frozenset((observation.id, other.id))
            if pair not in seen:
                seen.add(pair)
                yield (observation, other) if observation.when > other.when else (other, observation)


def _judged(newer: Observation, older: Observation, ask: CarefulAsk) -> Contradiction | None:
    question = patterns.judge_prompt(newer.said.text, older.said.text)
    return read_verdict(ask(patterns.VERDICT, question))


_NAME_CHARS = 12
CHANGED = "one of them changed in the meantime, or the merged note was forgotten"
USUAL_THRESHOLDS = Thresholds()
_MOST_RELATIONS = 1000  # of each document


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """
    Result of one run. In a dry run, *groups* are the merges that would have been made; nothing was changed.

    ``created`` are the documents that now replace groups, ``decisions`` the decisions about documents with
    their reasons. ``contradictions`` counts newly found pairs that contradict each other. ``stopped`` says why no more
    questions were sent to the model; it is empty if there was no reason.
    """

    considered: int = 0
    groups: tuple[Group, ...] = ()
    created: tuple[int, ...] = ()
    decisions: Decisions = field(default_factory=Decisions)
    contradictions: int = 0
    null_calls: int = 0
    stopped: str = ""

    @property
    def rejected(self) -> Counter[str]:
        """Return the number of similar observations that were not merged, by reason."""
        return self.decisions.refused()


class Consolidation:
    """
    Merges repeated observations that pass the merge gate.

    Args:
        ask: Asks a model, which finds paraphrases and contradictions. Without it, only observations in nearly the same words are
            merged.
        policy: What happens to the earlier of two observations that contradict each other.
        least: The least confidence of a contradiction.
    """

    def __init__(
        self,
        stores: ConsolidationStores,
        merged: MergedObservations,
        clock: Clock,
        ask: Ask | None = None,
        *,
        policy: Policy = Policy.LINK,
        thresholds: Thresholds = USUAL_THRESHOLDS,
        least: float = LEAST_CONFIDENCE,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._merged = merged
        self._ask = ask
        self._policy = policy
        self._thresholds = thresholds
        self._least = least

    def __call__(
        self,
        documents: Sequence[Document],
        *,
        dry_run: bool,
        fence: Fence = lambda: None,
        among: Sequence[Document] | None = None,
        tell: Tell = ignore_decisions,
    ) -> ConsolidationReport:
        """
        Merge *documents*, which are served observations, with each other and with the observations of *among*.

        Args:
            fence: Called in the transaction of each effect, and before each question to a model. Its exceptions
                roll that effect back and propagate.
            among: All served observations. Default: *documents*.
            tell: Receives the decisions so far, in the transaction of each effect.

        Raises:
            VaultError: earlier merges of this run persist.
        """
        ask = CarefulAsk(self._ask, fence) if self._ask else None
        decisions = Decisions()
        there = Observations(
            self._stores.documents, self._stores.entities, documents if among is None else among
        )
        every = [there[document.id] for document in documents if is_free(document)]
        every.sort(key=lambda one: one.when, reverse=True)
        groups = self._groups(every, there, ask, decisions)
        merge = _noted if dry_run else self._merge
        created = [merge(group, decisions, fence, tell) for group in groups]
        grouped = {observation.id for group in groups for observation in group.members}
        contradicting = ContradictionFinder(
            self._stores, self._clock, decisions, tell, self._policy, self._least
        )
        rest = [observation for observation in every if observation.id not in grouped]
        contradictions = contradicting(rest, there, grouped, ask, fence, dry_run=dry_run)
        return ConsolidationReport(
            len(every),
            tuple(groups),
            tuple(filter(None, created)),
            decisions,
            contradictions,
            ask.null_calls if ask else 0,
            ask.stopped if ask else "",
        )

    def restore(self, document_id: int, by: str, why: str = "") -> list[Document]:
        """
        Serve the documents again that *document_id* replaced, and return them.

        The replacing document is withdrawn if it was made by consolidation, and the restored documents are not
        merged with each other again.

        Raises:
            VaultError: nothing was changed.
        """
        held = [
            one for one in self._stores.journal.replacements(document_id) if one.document_id == document_id
        ]
        restored = []
        with self._stores.transactions.writing():
            for replacement in held:
                restored += serve_again(self._stores.documents, self._stores.publisher, replacement.replaced)
                self._stores.journal.undo(replacement.id, self._now())
            document = self._stores.documents.get(document_id)
            if held and document is not None and patterns.CONSOLIDATED in document.tags:
                self._stores.publisher.withdraw([document_id], InactiveReason.SUPERSEDED)
            self._stores.acts.add(ActEntry(note.id, Act.RESTORE, by, self._now(), why) for note in restored)
        return restored

    def _groups(
        self, every: Sequence[Observation], among: Observations, ask: CarefulAsk | None, decisions: Decisions
    ) -> list[Group]:
        grouping = ObservationGrouper(self._stores.journal, self._thresholds, decisions)
        by_model = grouping.by_model(every, ask) if ask else []
        taken = {observation.id for group in by_model for observation in group.members}
        return [*by_model, *grouping.by_words(every, among, taken)]

    def _merge(self, group: Group, decisions: Decisions, fence: Fence, tell: Tell) -> int:
        """Write the document that replaces *group* and return its id; 0 if a member changed or was forgotten."""
        ids = [observation.id for observation in group.members]
        with self._stores.transactions.writing():
            fence()
            served = self._stores.documents.many(ids).values()
            if any(document.inactive is not None for document in served) or self._is_forgotten(group):
                decisions.add(Verdict.REFUSE, ids, CHANGED)
                return 0
            created = self._merged.write(group, _path(group))
            self._transfer_facts(ids, created)
            self._stores.publisher.withdraw(ids, InactiveReason.SUPERSEDED)
            self._stores.journal.replace(Replacement(created, tuple(ids), group.why, self._now()))
            decisions.add(Verdict.MERGE, ids, group.why, **_figures(group), made=created)
            tell(decisions)
        return created

    def _transfer_facts(self, document_ids: Sequence[int], to: int) -> None:
        """
        Copy the facts and causal relations of the served documents *document_ids* to the document *to*.

        The originals keep theirs, so that they are complete when they are served again.
        """
        triples, relations = self._stores.triples, self._stores.relations
        stated = (fact for number in document_ids for fact in triples.of_document(number))
        triples.add([replace(fact, document_id=to) for fact in stated])
        kinds = {RelationKind.CAUSAL}
        effects = relations.outbound(document_ids, kinds, limit=_MOST_RELATIONS)
        causes = relations.inbound(document_ids, kinds, limit=_MOST_RELATIONS)
        inside = {to, *document_ids}
        relations.put(
            [
                *(effect._replace(source=to) for effect in effects if effect.target not in inside),
                *(cause._replace(target=to) for cause in causes if cause.source not in inside),
            ]
        )

    def _is_forgotten(self, group: Group) -> bool:
        there = self._stores.documents.at(COLLECTION, _path(group))
        return there is not None and there.inactive is InactiveReason.FORGOTTEN

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())


def _noted(group: Group, decisions: Decisions, fence: Fence, tell: Tell) -> int:
    """Record the merge decision of *group* without any effect, for a dry run."""
    decisions.add(
        Verdict.MERGE, [observation.id for observation in group.members], group.why, **_figures(group)
    )
    return 0


def _figures(group: Group) -> dict[str, float]:
    return {} if group.score is None else {"score": group.score}


def _path(group: Group) -> str:
    """Return a path derived from the members alone, so that a forgotten document is not written again."""
    names = "\0".join(sorted(observation.document.path for observation in group.members))
    name = sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_CHARS]
    return patterns.consolidated_path(group.members[0].document.authored_at[:10], name)
