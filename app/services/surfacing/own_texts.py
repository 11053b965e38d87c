"""Separate retrieval of own texts (of the user and of assistants) and of texts by others.

There are two candidate lists. Own texts are retrieved, scored and filtered as if the vault held no texts of others, so
that those can neither displace an own text nor raise its confidence. Texts of others get the remaining places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from math import fsum, inf
from typing import NamedTuple

from clawmem.app.services.retrieval.confidence import WORDS_LOOKED_UP
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Trace, Work
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.domain.retrieval.diversity import without_copies
from clawmem.domain.retrieval.grains import DOCUMENT, LINE
from clawmem.domain.retrieval.relevance import Evidence
from clawmem.domain.security.origin import UNVERIFIED
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import K1, B, LexicalIndex
from clawmem.ports.records import VERIFIED, FragmentKind, Grain, LexicalQuery, Scope, Term


class SeparateResults(NamedTuple):
    """Candidates among own texts with their trace, and candidates among texts of others."""

    own: Work
    trace: Trace
    others: Work

    @property
    def first(self) -> Work:
        """The own candidates; if there are none, the candidates of others."""
        return self.own if self.own.candidates else self.others

    def with_first(self, work: Work, trace: Trace) -> SeparateResults:
        """Return the same results with ``first`` replaced by *work*."""
        return self._replace(**{"own" if self.own.candidates else "others": work}, trace=trace)


def others_in(documents: DocumentStore, work: Work) -> Work:
    """Return *work* reduced to the candidates that neither the user nor an assistant wrote."""
    found = frozenset(c.document_id for c in work.candidates)
    others = documents.ids(Scope(documents=found), origins=UNVERIFIED) if found else frozenset()
    return work.with_candidates([c for c in work.candidates if c.document_id in others])


def among_own(documents: DocumentStore, request: RetrievalRequest) -> RetrievalRequest:
    """Return *request* restricted to documents of the user and of assistants."""
    own = documents.ids(request.scope, origins=VERIFIED)
    return request._replace(scope=request.scope._replace(documents=own))


def own_before_others(own: Work, others: Work, limit: int, text_of: Callable[[Candidate], str]) -> Work:
    """
    Return the *own* candidates, then the best of *others* up to *limit* in total, without near-duplicates.

    Scores of others are capped at the best own score, because the score decides how much of a text is shown.
    """
    best = max((c.score for c in own.candidates), default=inf)
    room = max(0, limit - len(own.candidates))
    shown = without_copies(others.candidates, text_of)[:room]
    work = own if own.candidates else others
    return work.with_candidates([*own.candidates, *(c._replace(score=min(best, c.score)) for c in shown)])


MOST_COUNTED = 2_000  # entries of others that hold a word
SAMPLE = 40  # documents whose lines are counted and whose lengths are averaged


class WordRarity(NamedTuple):
    """Rarity of one prompt word: in the whole vault, and among own documents (0 if no own document holds it)."""

    term: Term
    whole: float
    own: float


def own_evidence(
    store: DocumentStore, lexical: LexicalIndex, request: RetrievalRequest, work: Work, evidence: Evidence
) -> Evidence:
    """
    Return *evidence* with the statistics of only the documents in scope.

    Indexes keep statistics of the whole vault. Texts of others that repeat a prompt make its words common, which
    lowers the score of every own line, and make words count as known that no own document holds.
    """
    own = request.scope.documents or frozenset()
    others = store.ids(request.scope._replace(documents=None)) - own
    terms = list(islice(request.question.forms.relaxed.terms, WORDS_LOOKED_UP))
    if not others or not terms:
        return evidence
    lines_of_others = _line_count(store, sorted(others))
    lines = _rarities(lexical, terms, Grain.LINE, others, lines_of_others)
    documents = _rarities(lexical, terms, Grain.DOCUMENT, others, len(others))
    coverage = evidence.coverage * _gain(_held_by_best(lexical, documents, work, DOCUMENT)) / _gain(documents)
    return evidence._replace(
        line=evidence.line * _gain(_held_by_best(lexical, lines, work, LINE)),
        coverage=coverage * _length_gain(store, work, sorted(own), sorted(others)),
        unknown=sum(not word.own for word in documents) / len(terms),
        entries=max(1, evidence.entries - lines_of_others - len(others)),  # one passage per document
    )


def _rarities(
    lexical: LexicalIndex,
    terms: Sequence[Term],
    grain: Grain,
    others: Collection[int],
    entries_of_others: int,
) -> list[WordRarity]:
    total, scope, found = lexical.count(grain), Scope(documents=frozenset(others)), []
    for term in terms:
        every = lexical.holding(term, grain)
        own = max(0, every - len(lexical.search(LexicalQuery((term,)), grain, MOST_COUNTED, scope)))
        among_own = rarity(max(own, total - entries_of_others), own) if own else 0.0
        found.append(WordRarity(term, rarity(total, every), among_own))
    return found


def _held_by_best(
    lexical: LexicalIndex, words: Sequence[WordRarity], work: Work, leg: str
) -> list[WordRarity]:
    """Return the *words* that occur in the document of the best hit of retriever *leg*."""
    hits = work.legs.get(leg)
    if not hits:
        return list(words)
    scope = Scope(documents=frozenset({hits[0].key.document_id}))
    found = lexical.search
    return [word for word in words if found(LexicalQuery((word.term,)), Grain.DOCUMENT, 1, scope)]


def _gain(words: Sequence[WordRarity]) -> float:
    """Return how much rarer the *words* are among own documents than in the whole vault."""
    whole, own = fsum(word.whole for word in words if word.own), fsum(word.own for word in words)
    return own / whole if whole else 1.0


def _length_gain(documents: DocumentStore, work: Work, own: Sequence[int], others: Sequence[int]) -> float:
    """
    Return the factor that undoes the effect of the lengths of others' documents on the best document's score.

    BM25 normalises by the mean document length, so many short documents of others lower the score.
    """
    hits = work.legs.get(DOCUMENT)
    if not hits:
        return 1.0
    mean_own, mean_others = _mean_length(documents, own), _mean_length(documents, others)
    mean = (len(own) * mean_own + len(others) * mean_others) / (len(own) + len(others))
    length = len(documents.body(hits[0].key.document_id) or "")
    damped = [1 + K1 * (1 - B + B * length / max(1.0, one)) for one in (mean, mean_own)]
    return damped[0] / damped[1]


def _mean_length(store: DocumentStore, documents: Sequence[int]) -> float:
    bodies = store.bodies(_sample(documents)).values()
    return fsum(map(len, bodies)) / max(1, len(bodies))


def _sample(documents: Sequence[int]) -> Sequence[int]:
    return documents[:: -(-len(documents) // SAMPLE)] if documents else ()


def _line_count(store: DocumentStore, documents: Sequence[int]) -> int:
    """Estimate the number of lines in *documents* from a sample."""
    sample = _sample(documents)
    lines = sum(part.kind is FragmentKind.LINE for one in sample for part in store.fragments(one))
    return round(len(documents) * lines / len(sample))
