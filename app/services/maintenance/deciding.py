"""Decisions of maintenance about documents and their reasons, reported in the transaction of each effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

MOST_REFUSALS = 50  # refusals stored per run; the others are only counted


class Verdict(StrEnum):
    """Outcome of a decision for its documents."""

    ENRICH = "enrich"  # the documents were enriched
    FAIL = "fail"  # the model gave no usable answer
    MERGE = "merge"
    CONCLUDE = "conclude"  # a conclusion was drawn from the documents
    REFUSE = "refuse"
    LINK = "link"  # the documents contradict each other, and both are served
    SUPERSEDE = "supersede"  # the documents contradict each other, and the later one replaces the other


class Decision(NamedTuple):
    """
    One decision. It names documents by id alone, so that it holds no text of a document that is forgotten later.

    ``details`` are the figures behind it, such as a cosine and its threshold, or a confidence.
    """

    verdict: Verdict
    documents: tuple[int, ...]
    why: str
    details: Mapping[str, Any] = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        """Return the decision as the journal stores it."""
        return {
            "verdict": self.verdict.value,
            "documents": list(self.documents),
            "why": self.why,
            **self.details,
        }


class Decisions:
    """Decisions of one run without duplicates: one per verdict, set of documents and draft."""

    def __init__(self) -> None:
        self._every: dict[tuple[Verdict, frozenset[int], int], Decision] = {}

    def add(self, verdict: Verdict, documents: Iterable[int], why: str, **details: Any) -> None:
        """Record a decision unless the same one is recorded already."""
        decision = Decision(verdict, tuple(documents), why, details)
        key = verdict, frozenset(decision.documents), details.get("draft", 0)
        self._every.setdefault(key, decision)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._every.values())

    def refused(self) -> Counter[str]:
        """Return the number of refusals by reason."""
        return Counter(one.why for one in self if one.verdict is Verdict.REFUSE)

    def count(self, *verdicts: Verdict) -> int:
        """Return the number of decisions whose verdict is one of *verdicts*."""
        return sum(one.verdict in verdicts for one in self)

    def in_journal(self) -> dict[str, Any]:
        """Return all decisions except refusals, the first `MOST_REFUSALS` refusals, and the count of all."""
        others = [one for one in self if one.verdict is not Verdict.REFUSE]
        refusals = (one for one in self if one.verdict is Verdict.REFUSE)
        kept = [*others, *islice(refusals, MOST_REFUSALS)]
        return {"decided": len(self._every), "decisions": [one.as_json() for one in kept]}


Tell = Callable[[Decisions], None]


def ignore_decisions(decisions: Decisions) -> None:
    """Ignore *decisions*, for callers without a journal."""
