"""Detection of observations that contradict each other; by policy, the later one supersedes the earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.services.maintenance.deciding import CarefulAsk, Decisions, Fence, Tell, Verdict
from clawmem.app.services.maintenance.grouping import Observation, Observations
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
from clawmem.ports.journal import Replacement
from clawmem.ports.records import InactiveReason
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.stores import LifecycleStores

ORIGIN = "consolidation"
BY_MODEL = "a model says that they contradict each other"
JUDGED = 10  # pairs per run that the model judges
_MOST_RELATIONS = 1000


class ContradictionFinder:
    """
    Finds pairs of observations that contradict each other, and relates them.

    Args:
        tell: Receives the decisions so far, in the transaction of each effect.
        policy: What happens to the earlier observation of a pair.
        least: The least confidence of a contradiction.
    """

    def __init__(
        self,
        vault: LifecycleStores,
        clock: Clock,
        decisions: Decisions,
        tell: Tell,
        policy: Policy = Policy.LINK,
        least: float = LEAST_CONFIDENCE,
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._decisions = decisions
        self._tell = tell
        self._policy = policy
        self._least = least

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
            told = contradiction(newer.said.text, older.said.text, verdict, least=self._least)
            if told.contradictory:
                # A model's reasoning may quote the notes: store it with their relation, which is deleted with them.
                settle = self._decide if dry_run else partial(self._settle, fence=fence)
                policy = self._policy_for(newer)
                found += settle((newer.id, older.id), policy, told, BY_MODEL if verdict else told.reason)
                gone |= {older.id} if policy is Policy.SUPERSEDE else set()
        return found

    def _policy_for(self, newer: Observation) -> Policy:
        """Return the policy for a contradiction with *newer*; an unverified text supersedes nothing."""
        return self._policy if is_verified(newer.document.origin) else Policy.LINK

    def _decide(self, ends: tuple[int, int], policy: Policy, told: Contradiction, why: str) -> int:
        outcome = Verdict.SUPERSEDE if policy is Policy.SUPERSEDE else Verdict.LINK
        self._decisions.add(outcome, ends, why, confidence=told.confidence)
        return 1

    def _settle(
        self, ends: tuple[int, int], policy: Policy, told: Contradiction, why: str, *, fence: Fence
    ) -> int:
        """Relate the two and apply *policy*. Return 1, or 0 if one of them is no longer served."""
        at, (newer, older) = iso_utc(self._clock.now_ms()), ends
        reasoning = {"reasoning": told.reason}
        edge = Relation(newer, older, RelationKind.CONTRADICTS, told.confidence, ORIGIN, at, reasoning)
        with self._vault.writing():
            fence()
            served = self._vault.documents.many(ends).values()
            if any(one.inactive is not None for one in served):
                return 0
            self._vault.relations.put([edge])
            if policy is Policy.SUPERSEDE:
                withdraw(self._vault, [older], InactiveReason.SUPERSEDED)
                self._vault.journal.replace(Replacement(newer, (older,), why, at))
            self._decide(ends, policy, told, why)
            self._tell(self._decisions)
        return 1

    def _is_known(self, newer: Observation, older: Observation) -> bool:
        edges = self._vault.relations.outbound([newer.id], {RelationKind.CONTRADICTS}, limit=_MOST_RELATIONS)
        return any(edge.target == older.id for edge in edges)


def _pairs(
    every: Sequence[Observation], among: Observations, grouped: AbstractSet[int]
) -> Iterator[tuple[Observation, Observation]]:
    """Yield each pair once, the later observation first."""
    seen: set[frozenset[int]] = set()
    for one in every:
        for other in among.near(one, without=grouped):
            pair = frozenset((one.id, other.id))
            if pair not in seen:
                seen.add(pair)
                yield (one, other) if one.when > other.when else (other, one)


def _judged(newer: Observation, older: Observation, ask: CarefulAsk) -> Contradiction | None:
    question = patterns.judge_prompt(newer.said.text, older.said.text)
    return read_verdict(ask(patterns.VERDICT, question))
