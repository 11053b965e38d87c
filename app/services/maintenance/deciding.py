"""What upkeep decided about some documents, and why: written into the journal with the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

MOST_KEPT = 50  # of one run; the others are counted


class Verdict(StrEnum):
    """What becomes of documents that looked the same."""

    MERGE = "merge"
    REFUSE = "refuse"
    LINK = "link"  # they contradict each other, and both are served
    SUPERSEDE = "supersede"  # they contradict each other, and the later one holds


class Decision(NamedTuple):
    """
    One decision. Documents are named by their ids alone, so that nothing is left here of what is forgotten.

    ``details`` are the figures that it rests on: a cosine and what it had to be, a confidence.
    """

    verdict: Verdict
    documents: tuple[int, ...]
    why: str
    details: Mapping[str, Any] = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        """For the journal."""
        return {
            "verdict": self.verdict.value,
            "documents": list(self.documents),
            "why": self.why,
            **self.details,
        }


class Decisions:
    """The decisions of one run, each about the same documents once."""

    def __init__(self) -> None:
        self._every: dict[tuple[Verdict, frozenset[int]], Decision] = {}

    def add(self, verdict: Verdict, documents: Iterable[int], why: str, **details: Any) -> None:
        """Remember one."""
        decision = Decision(verdict, tuple(documents), why, details)
        self._every.setdefault((verdict, frozenset(decision.documents)), decision)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._every.values())

    def refused(self) -> Counter[str]:
        """How often each reason kept documents apart."""
        return Counter(one.why for one in self if one.verdict is Verdict.REFUSE)

    def in_journal(self) -> dict[str, Any]:
        """The first `MOST_KEPT`, those that changed something before refusals, and how many there were."""
        first = sorted(self, key=lambda one: one.verdict is Verdict.REFUSE)[:MOST_KEPT]
        return {"decided": len(self._every), "decisions": [one.as_json() for one in first]}
