"""What walks through the stages, and what a stage is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Document, FragmentKey, Hit, Span

if TYPE_CHECKING:
    from clawmem.domain.retrieval.expansion import Variant
    from clawmem.domain.retrieval.intent import Classification


class Candidate(NamedTuple):
    """
    Something that may be an answer, as the stages see it.

    ``legs`` says what each leg contributed, ``terms`` what the ranking policy made of it; ``score`` orders.
    """

    document_id: int
    best: FragmentKey
    relevance: float
    score: float
    legs: Mapping[str, float] = MappingProxyType({})
    terms: Mapping[str, float] = MappingProxyType({})
    document: Document | None = None
    span: Span | None = None
    chunk: str = ""  # what a reranker reads of it
    confidence: float | None = None  # the probability that it answers; None where no stage judged


class Work(NamedTuple):
    """
    What walks through the stages: the hits of every leg, then the one list of candidates.

    ``variants`` are the question in other words, for the legs to ask as well. ``intent`` is what kind of
    answer it wants; None where no stage asked.
    ``spans`` says where the hits lie, once a stage wanted to know.
    """

    legs: Mapping[str, Sequence[Hit]] = MappingProxyType({})
    candidates: tuple[Candidate, ...] = ()
    variants: tuple[Variant, ...] = ()
    intent: Classification | None = None
    spans: Mapping[FragmentKey, Span] = MappingProxyType({})
    beyond: tuple[Candidate, ...] = ()  # found, and not looked up: none of them can come among the first
    answered: float | None = None  # the probability that any candidate answers; None where no stage judged

    def with_candidates(self, candidates: Sequence[Candidate]) -> Work:
        """The same hits with another list of candidates."""
        return self._replace(candidates=tuple(candidates))


Stage = Callable[[RetrievalRequest, Work, Trace], Work]
