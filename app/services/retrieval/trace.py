"""How an answer came about, stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from clawmem.ports.records import FragmentKey, Hit

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.work import Candidate

DROPS_NAMED = 5  # by each stage for each reason; the others are only counted


class Drop(NamedTuple):
    """A candidate that a stage let go: by its document and fragment, with the score it had, and why."""

    document_id: int
    key: FragmentKey
    score: float
    reason: str


@dataclass(slots=True)
class StageTrace:
    """
    One stage: how many candidates came in and went out, how long it took, and what it wants said.

    ``dropped`` counts what it let go by reason, ``drops`` names the first `DROPS_NAMED` of each: candidates
    mostly come best first, so these are the ones that somebody may miss.
    """

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    drops: list[Drop] = field(default_factory=list)

    def drop(self, candidates: Iterable[Candidate], reason: str) -> None:
        """Say that these were let go, and why."""
        gone = list(candidates)
        if gone:
            room = max(0, DROPS_NAMED - self.dropped.get(reason, 0))
            self.dropped[reason] = self.dropped.get(reason, 0) + len(gone)
            self.drops += [Drop(c.document_id, c.best, c.score, reason) for c in islice(gone, room)]


@dataclass(slots=True)
class Trace:
    """
    How an answer came about. ``degraded`` says which leg was missing and why; the rest answered.

    ``hits`` counts what each leg found. ``legs`` is what they found, best first: from it the ranks of an
    answer are read when somebody wants to know them.
    """

    stages: list[StageTrace] = field(default_factory=list)
    degraded: dict[str, str] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    legs: Mapping[str, Sequence[Hit]] = field(default_factory=dict)

    def drop(self, candidates: Iterable[Candidate], reason: str) -> None:
        """Say of the stage that is running that it lets these go; of one that runs by itself nobody asks."""
        if self.stages:
            self.stages[-1].drop(candidates, reason)
