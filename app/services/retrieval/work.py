"""State that stages pass on, its trace, and the type of a stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.ports.records import Document, FragmentKey, Hit, Span

if TYPE_CHECKING:
    from clawmem.domain.retrieval.expansion import Variant
    from clawmem.domain.retrieval.intent import Classification
    from clawmem.domain.retrieval.requested import Shortfall

HIDDEN = "unlikely, below a likely one"  # reason of a drop
DROPS_NAMED = 5  # drops recorded per stage and reason; the others are only counted


class Drop(NamedTuple):
    """A candidate that a stage dropped: its document and fragment, its score, and the reason."""

    document_id: int
    key: FragmentKey
    score: float
    reason: str


class StageTrace:
    """
    One stage: the number of candidates before and after, its duration in milliseconds, and notes.

    ``dropped`` counts dropped candidates by reason; ``drops`` records the first `DROPS_NAMED` of each, which usually
    are the best ones.
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
        """Record dropped *candidates* with the *reason*."""
        gone = list(candidates)
        if gone:
            room = max(0, DROPS_NAMED - self.dropped.get(reason, 0))
            self.dropped[reason] = self.dropped.get(reason, 0) + len(gone)
            self.drops += [Drop(c.document_id, c.best, c.score, reason) for c in islice(gone, room)]


class Trace:
    """
    Trace of an answer. ``degraded`` names missing retrievers and the reasons; the others provided the answer.

    ``corrected`` maps misspelt words of the question to the words that were searched instead.
    ``hits`` counts the hits per retriever. ``legs`` holds these hits, best first; the ranks in receipts come from it.
    """

    def __init__(self, stages: Iterable[StageTrace] = ()) -> None:
        self.stages = list(stages)
        self.degraded: dict[str, str] = {}
        self.hits: dict[str, int] = {}
        self.legs: Mapping[str, Sequence[Hit]] = {}
        self.corrected: dict[str, str] = {}

    @property
    def hidden(self) -> int:
        """The number of unlikely results that were left out below a likely one."""
        return sum(stage.dropped.get(HIDDEN, 0) for stage in self.stages)

    def continued(self) -> Trace:
        """Return a copy to continue with."""
        other = Trace(self.stages)
        other.degraded.update(self.degraded)
        other.hits.update(self.hits)
        other.legs = self.legs
        other.corrected.update(self.corrected)
        return other

    def drop(self, candidates: Iterable[Candidate], reason: str) -> None:
        """Record drops of the current stage; ignored outside a pipeline."""
        if self.stages:
            self.stages[-1].drop(candidates, reason)


class Candidate(NamedTuple):
    """
    A candidate for a result.

    ``legs`` holds the contributions of retrievers, ``terms`` the terms of the score; candidates are ordered by
    ``score``.
    """

    document_id: int
    best: FragmentKey
    relevance: float
    score: float
    legs: Mapping[str, float] = MappingProxyType({})
    terms: Mapping[str, float] = MappingProxyType({})
    document: Document | None = None
    span: Span | None = None
    chunk: str = ""  # text for a reranker
    is_partly_superseded: bool = (
        False  # whether its successors replace other passages than the one that answers
    )
    confidence: float | None = None  # the probability that it answers; None if no stage computed it


class Work(NamedTuple):
    """
    State of a pipeline: the hits of every retriever, then one list of candidates.

    ``variants`` are reformulations of the question for the retrievers. ``intent`` is the classified intent; None if
    no stage classified it. ``spans`` holds the locations of hits, as far as stages looked them up, and ``lacks`` what
    passages lack of a question, by its text and the fragment.
    """

    legs: Mapping[str, Sequence[Hit]] = MappingProxyType({})
    candidates: tuple[Candidate, ...] = ()
    variants: tuple[Variant, ...] = ()
    intent: Classification | None = None
    spans: Mapping[FragmentKey, Span] = MappingProxyType({})
    lacks: Mapping[tuple[str, FragmentKey], Shortfall] = MappingProxyType({})
    answered: float | None = None  # the probability that any candidate answers; None if no stage computed it
    is_only_topic: bool = False  # whether no candidate seems to state what the question asks for

    def with_candidates(self, candidates: Sequence[Candidate]) -> Work:
        """Return this state with another list of candidates."""
        return self._replace(candidates=tuple(candidates))


Stage = Callable[[RetrievalRequest, Work, Trace], Work]
