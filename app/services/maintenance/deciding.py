"""What upkeep decided about some documents, and why: told in the transaction of its effect, and kept with the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

MOST_REFUSALS = 50  # of one run that are kept; the others are counted


class Verdict(StrEnum):
    """What becomes of documents."""

    ENRICH = "enrich"  # they were looked at, and what came of it is kept
    FAIL = "fail"  # a model could make nothing of them
    MERGE = "merge"
    CONCLUDE = "conclude"  # something follows from them
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
    """The decisions of one run, each about the same documents once; of several drafts from them, about each draft."""

    def __init__(self) -> None:
        self._every: dict[tuple[Verdict, frozenset[int], int], Decision] = {}

    def add(self, verdict: Verdict, documents: Iterable[int], why: str, **details: Any) -> None:
        """Remember one."""
        decision = Decision(verdict, tuple(documents), why, details)
        key = verdict, frozenset(decision.documents), details.get("draft", 0)
        self._every.setdefault(key, decision)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._every.values())

    def refused(self) -> Counter[str]:
        """How often each reason kept documents apart."""
        return Counter(one.why for one in self if one.verdict is Verdict.REFUSE)

    def count(self, *verdicts: Verdict) -> int:
        """How many of them are one of *verdicts*."""
        return sum(one.verdict in verdicts for one in self)

    def in_journal(self) -> dict[str, Any]:
        """All but refusals, then the first `MOST_REFUSALS` of these, and how many there were of both."""
        others = [one for one in self if one.verdict is not Verdict.REFUSE]
        refusals = (one for one in self if one.verdict is Verdict.REFUSE)
        kept = [*others, *islice(refusals, MOST_REFUSALS)]
        return {"decided": len(self._every), "decisions": [one.as_json() for one in kept]}


Tell = Callable[[Decisions], None]


def untold(decisions: Decisions) -> None:
    """For who works without a journal."""
