"""How an answer came about, stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import FragmentKey, Hit

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.work import Candidate

HIDDEN = "unlikely, below a likely one"  # the reason of a drop
DROPS_NAMED = 5  # by each stage for each reason; the others are only counted


class Drop(NamedTuple):
    """A candidate that a stage let go: by its document and fragment, with the score it had, and why."""

    document_id: int
    key: FragmentKey
    score: float
    reason: str


class StageTrace:
    """
    One stage: how many candidates came in and went out, how long it took, and what it wants said.

    ``dropped`` counts what it let go by reason, ``drops`` names the first `DROPS_NAMED` of each: candidates
    mostly come best first, so these are the ones that somebody may miss.
    """

    def __init__(self, name: str, came_in: int, went_out: int, ms: float) -> None:
        self.name = name
        self.came_in = came_in
        self.went_out = went_out
        self.ms = ms
        self.notes: list[str] = []
        self.dropped: dict[str, int] = {}
        self.drops: list[Drop] = []

    def drop(self, candidates: Iterable[Candidate], reason: str) -> None:
        """Say that these were let go, and why."""
        gone = list(candidates)
        if gone:
            room = max(0, DROPS_NAMED - self.dropped.get(reason, 0))
            self.dropped[reason] = self.dropped.get(reason, 0) + len(gone)
            self.drops += [Drop(c.document_id, c.best, c.score, reason) for c in islice(gone, room)]


class Trace:
    """
    How an answer came about. ``degraded`` says which leg was missing and why; the rest answered.

    ``hits`` counts what each leg found. ``legs`` is what they found, best first: from it the ranks of an
    answer are read when somebody wants to know them.
    """

    def __init__(self, stages: Iterable[StageTrace] = ()) -> None:
        self.stages = list(stages)
        self.degraded: dict[str, str] = {}
        self.hits: dict[str, int] = {}
        self.legs: Mapping[str, Sequence[Hit]] = {}

    @property
    def hidden(self) -> int:
        """How many unlikely results were left out below a likely one."""
        return sum(stage.dropped.get(HIDDEN, 0) for stage in self.stages)

    def continued(self) -> Trace:
        """Another trace with the same beginning."""
        other = Trace(self.stages)
        other.degraded.update(self.degraded)
        other.hits.update(self.hits)
        other.legs = self.legs
        return other

    def drop(self, candidates: Iterable[Candidate], reason: str) -> None:
        """Say of the stage that is running that it lets these go; of one that runs by itself nobody asks."""
        if self.stages:
            self.stages[-1].drop(candidates, reason)
