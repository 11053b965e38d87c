"""State that the steps of retrieval pass on, its trace, the stores they read, and the type of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.ports.documents import DocumentStore, LinkStore, PropertyStore, SuccessionStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.knowledge import EntityStore, RelationStore
from clawmem.ports.models import ModelAnswers
from clawmem.ports.records import Document, FragmentKey, Hit, Span
from clawmem.ports.storage import Transactions

if TYPE_CHECKING:
    from clawmem.domain.retrieval.expansion import Variant
    from clawmem.domain.retrieval.intent import Classification

HIDDEN = "unlikely, below a likely one"  # reason of a drop
DROPS_NAMED = 5  # drops recorded per stage and reason; the others are only counted

Key = TypeVar("Key", int, FragmentKey)
Value = TypeVar("Value")


@dataclass(frozen=True)
class RetrievalStores:
    """Stores and indexes that the pipelines of questions share; only ``answers``, a cache, is written."""

    transactions: Transactions
    documents: DocumentStore
    successions: SuccessionStore
    properties: PropertyStore
    links: LinkStore
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    entities: EntityStore
    relations: RelationStore
    answers: ModelAnswers


@dataclass
class LoadedTexts:
    """Documents, bodies and positions of fragments that the steps of one question need, each read once."""

    store: DocumentStore
    _documents: dict[int, Document | None] = field(default_factory=dict)
    _bodies: dict[int, str | None] = field(default_factory=dict)
    _spans: dict[FragmentKey, Span | None] = field(default_factory=dict)

    def documents(self, document_ids: Iterable[int]) -> dict[int, Document]:
        """Return the documents with these ids that exist, active or not."""
        return _loaded(self._documents, document_ids, self.store.many)

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        """Return the texts of the documents with these ids."""
        return _loaded(self._bodies, document_ids, self.store.bodies)

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        """Return the positions of the fragments that exist, in active documents."""
        return _loaded(self._spans, keys, self.store.spans)


def _loaded(
    known: dict[Key, Value | None], keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]]
) -> dict[Key, Value]:
    wanted = list(dict.fromkeys(keys))
    if missing := [key for key in wanted if key not in known]:
        known.update(dict.fromkeys(missing))
        known.update(read(missing))
    return {key: value for key in wanted if (value := known[key]) is not None}


@dataclass
class StageTrace:
    """
    One stage: the number of candidates before and after, its duration in milliseconds, and notes.

    ``dropped`` counts dropped candidates by reason; ``drops`` records the first `DROPS_NAMED` of each.
    """

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    drops: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Trace:
    """
    Trace of an answer. ``degraded`` names missing retrievers and the reasons; the others provided the answer.

    ``corrected`` maps misspelt words of the question to the words that were searched instead. ``hits`` counts the hits
    per retriever, and ``legs`` holds them, best first. ``notice`` is a sentence about the notes of a time without any.
    """

    stages: list[StageTrace] = field(default_factory=list)
    degraded: dict[str, str] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    legs: Mapping[str, Sequence[Hit]] = field(default_factory=dict)
    corrected: dict[str, str] = field(default_factory=dict)
    notice: str = ""

    @property
    def hidden(self) -> int:
        """The number of unlikely results that were left out below a likely one."""
        return sum(stage.dropped.get(HIDDEN, 0) for stage in self.stages)

    def drop(self, candidates: Iterable[Candidate], reason: str) -> None:
        """Record dropped *candidates* of the current stage with the *reason*; ignored outside a pipeline."""
        dropped = list(candidates)
        if self.stages and dropped:
            stage = self.stages[-1]
            room = max(0, DROPS_NAMED - stage.dropped.get(reason, 0))
            stage.dropped[reason] = stage.dropped.get(reason, 0) + len(dropped)
            stage.drops += [
                {"document_id": c.document_id, "score": c.score, "reason": reason} for c in dropped[:room]
            ]

    def note(self, *notes: str) -> None:
        """Add *notes* to the current stage; ignored outside a pipeline."""
        if self.stages:
            self.stages[-1].notes += notes


class Candidate(NamedTuple):
    """A candidate, ordered by ``score``; ``legs`` are contributions of retrievers, ``terms`` of the score."""

    document_id: int
    best: FragmentKey
    relevance: float
    score: float
    legs: Mapping[str, float] = MappingProxyType({})
    terms: Mapping[str, float] = MappingProxyType({})
    document: Document | None = None
    span: Span | None = None
    confidence: float | None = None  # the probability that it answers; None if no stage computed it
    changed_by: Document | None = None  # a newer note that says that something changed
    rival: Document | None = None  # a newer note that matches nearly as well

    def with_relevance(self, relevance: float, **legs: float) -> Candidate:
        """Return the candidate with another relevance, which is also its score until metadata counts."""
        return self._replace(
            relevance=relevance, score=relevance, legs={**self.legs, **legs} if legs else self.legs
        )

    def plus(self, term: str, amount: float) -> Candidate:
        """Return the candidate with *amount* added to its score as the *term*."""
        terms = {**self.terms, term: self.terms.get(term, 0.0) + amount}
        return self._replace(score=self.score + amount, terms=terms)


class DateOrder(NamedTuple):
    """
    Documents, or sections of them, that a question selects by date, in the order that it asks for.

    ``confidence`` is the least probability of each document to answer; ``others`` the highest of all other candidates.
    """

    order: tuple[FragmentKey, ...] = ()
    confidence: Mapping[int, float] = MappingProxyType({})
    others: float = 1.0


class Work(NamedTuple):
    """
    State of a pipeline: the hits of every retriever, then one list of candidates.

    ``space`` is the fingerprint of the embedder whose vectors were searched. ``variants`` are reformulations of the
    question. ``intent`` is None if no stage classified it. ``texts`` holds what was read of the documents.
    """

    texts: LoadedTexts
    legs: Mapping[str, Sequence[Hit]] = MappingProxyType({})
    space: str = ""
    candidates: tuple[Candidate, ...] = ()
    variants: tuple[Variant, ...] = ()
    intent: Classification | None = None
    by_date: DateOrder = DateOrder()
    answered: float | None = None  # the probability that any candidate answers; None if no stage computed it

    def with_candidates(self, candidates: Iterable[Candidate]) -> Work:
        """Return this state with another list of candidates."""
        return self._replace(candidates=tuple(candidates))

    def ranked(self, candidates: Iterable[Candidate]) -> Work:
        """Return this state with *candidates*, the most relevant first."""
        return self.with_candidates(sorted(candidates, key=lambda c: (-c.relevance, c.best)))


Stage = Callable[[RetrievalRequest, Work, Trace], Work]
