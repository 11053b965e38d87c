"""State that stages pass on, and the type of a stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.ports.records import Document, FragmentKey, Hit, Span

if TYPE_CHECKING:
    from clawmem.domain.retrieval.expansion import Variant
    from clawmem.domain.retrieval.intent import Classification


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
    confidence: float | None = None  # the probability that it answers; None if no stage computed it


class Work(NamedTuple):
    """
    State of a pipeline: the hits of every retriever, then one list of candidates.

    ``variants`` are reformulations of the question for the retrievers. ``intent`` is the classified intent; None if
    no stage classified it. ``spans`` holds the locations of hits, as far as stages looked them up.
    """

    legs: Mapping[str, Sequence[Hit]] = MappingProxyType({})
    candidates: tuple[Candidate, ...] = ()
    variants: tuple[Variant, ...] = ()
    intent: Classification | None = None
    spans: Mapping[FragmentKey, Span] = MappingProxyType({})
    answered: float | None = None  # the probability that any candidate answers; None if no stage computed it

    def with_candidates(self, candidates: Sequence[Candidate]) -> Work:
        """Return this state with another list of candidates."""
        return self._replace(candidates=tuple(candidates))


Stage = Callable[[RetrievalRequest, Work, Trace], Work]
