"""Stages of candidate generation for a prompt: lines about named files, of the first notes, and answerability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from clawmem.app.services.retrieval.compare import weigh_vectors
from clawmem.app.services.retrieval.confidence import (
    QuestionStatistics,
    confidence,
    evidence_of,
)
from clawmem.app.services.retrieval.fuse import fuse
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.app.services.surfacing.own_texts import own_evidence
from clawmem.domain.retrieval.grains import PRECISE, VECTOR
from clawmem.domain.retrieval.query_forms import identifiers, query_forms
from clawmem.domain.surfacing.answerability import PromptMatch, answerability
from clawmem.domain.surfacing.ordering import LEAST_NOTE, NOTE_SHARES
from clawmem.domain.surfacing.prompt_form import (
    RESULTS_EACH,
    PromptForm,
    named_files,
    prompt_form,
    proper_names,
)
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex
from clawmem.ports.records import FragmentKey, Grain, LexicalQuery, Scope, Term

SHARE = 0.8  # of the best relevance: a named file matters, but the prompt also asks about something else
MOST_LOOKED_UP = 4  # identifiers, and as many names, of a prompt: the first ones of a pasted page are enough


def about_named_files(documents: DocumentStore, lexical: LexicalIndex) -> Stage:
    """Return a stage that adds lines mentioning a file named in the prompt, even if they hold no other query word."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        best = max((c.relevance for c in work.candidates), default=0.0)
        found = _lines_about(lexical, request)
        spans = documents.spans(found)
        added = [
            Candidate(key.document_id, key, SHARE * best, SHARE * best, span=spans[key])
            for key in found
            if key in spans
        ]
        others = [c for c in work.candidates if c.best not in spans or c.relevance >= SHARE * best]
        known = {c.best for c in others}
        every = [*others, *(c for c in added if c.best not in known)]
        return work.with_candidates(sorted(every, key=lambda c: -c.relevance)) if added else work

    return stage


def _lines_about(lexical: LexicalIndex, request: RetrievalRequest) -> list[FragmentKey]:
    wanted = (query_forms(name).precise for name in named_files(request.question.text))
    hits = (lexical.search(query, Grain.LINE, RESULTS_EACH, request.scope) for query in wanted if query)
    return list(dict.fromkeys(hit.key for found in hits for hit in found))


def first_notes(
    documents: DocumentStore,
    lexical: LexicalIndex,
    embeddings: EmbeddingStore,
    comparison: Mapping[str, Stage],
) -> Stage:
    """
    Return a stage that raises the best line of each note that the command `query` would rank first.

    The line with most words of the prompt is often in another note than the one that answers as a whole.

    Args:
        comparison: The stage of late interaction, if the profile has one.
    """
    by_note: tuple[Stage, ...] = (fuse, *comparison.values(), weigh_vectors(lexical, embeddings))

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        found = work
        for one in by_note:
            found = one(request._replace(unit=Unit.DOCUMENT), found, trace)
        raised = _raised(documents, work, found.candidates)
        others = [c for c in work.candidates if c.best not in raised]
        return work.with_candidates(sorted([*others, *raised.values()], key=lambda c: -c.relevance))

    return stage


def _raised(documents: DocumentStore, work: Work, notes: Sequence[Candidate]) -> dict[FragmentKey, Candidate]:
    """Return the best lines of the first *notes* that are less relevant than they should be; see `NOTE_SHARES`."""
    lines = {c.document_id: c for c in reversed(work.candidates)}
    best = max((c.relevance for c in work.candidates), default=0.0)
    least = LEAST_NOTE * max((c.relevance for c in notes), default=0.0)
    shares = list(zip((c for c in notes if c.relevance >= least), NOTE_SHARES, strict=False))
    spans = documents.spans([note.best for note, _ in shares if note.document_id not in lines])
    raised = {}
    for note, share in shares:
        line = lines.get(note.document_id)
        if line is None and note.best in spans:
            line = Candidate(note.document_id, note.best, 0.0, 0.0, span=spans[note.best])
        if line and line.relevance < share * best:
            raised[line.best] = line._replace(relevance=share * best, score=share * best)
    return raised


def answering(
    documents: DocumentStore, lexical: LexicalIndex, embeddings: EmbeddingStore, prompt: str = ""
) -> Stage:
    """
    Return a stage that gives each candidate a confidence and drops all candidates below the answerability floor.

    If an index is unavailable, answerability cannot be computed, and the stage drops nothing.

    Args:
        prompt: Prompt whose form is used when the request's query also contains earlier prompts; empty to use the query.
    """

    def likely(request: RetrievalRequest, work: Work, words: QuestionStatistics) -> float:
        return likelihood(documents, lexical, embeddings, request, work, words, _form(request, prompt))

    return confidence(lexical, embeddings, likely)


def _form(request: RetrievalRequest, prompt: str) -> PromptForm:
    """Return the form of *prompt*, marked as telling because earlier prompts add content; else that of the query."""
    return prompt_form(prompt)._replace(telling=True) if prompt else prompt_form(request.question.text)


def likelihood(
    documents: DocumentStore,
    lexical: LexicalIndex,
    embeddings: EmbeddingStore,
    request: RetrievalRequest,
    work: Work,
    words: QuestionStatistics,
    form: PromptForm,
) -> float:
    """Return the probability, in [0, 1), that the vault answers the request."""
    fingerprint = embeddings.fingerprint() if work.legs.get(VECTOR) else None
    evidence = evidence_of(lexical, work, words)
    if form.task and not request.question.demands.has_identifier:
        # The numbers of a task are its author's own: "write an invoice for 1,200 words".
        evidence = evidence._replace(unmet=evidence.unmet._replace(number=0.0))
    if request.scope.documents is not None:
        evidence = own_evidence(documents, lexical, request, work, evidence)
    return answerability(evidence, form, match_of(lexical, request, work), fingerprint)


def match_of(lexical: LexicalIndex, request: RetrievalRequest, work: Work) -> PromptMatch:
    """Return which identifiers, names or whole phrases of the prompt occur verbatim in the vault."""
    named = any(_in_a_line(lexical, request, one) for one in _first(identifiers(request.question.text)))
    return PromptMatch(
        identifier=named,
        name=any(
            _is_held(lexical, Term(one), request.scope) for one in _first(proper_names(request.question.text))
        ),
        whole=not named and bool(work.legs.get(PRECISE)),
    )


def _is_held(lexical: LexicalIndex, term: Term, scope: Scope) -> bool:
    if scope.documents is None:
        return bool(lexical.holding(term, Grain.DOCUMENT))
    return bool(lexical.search(LexicalQuery((term,)), Grain.DOCUMENT, 1, scope))


def _in_a_line(lexical: LexicalIndex, request: RetrievalRequest, identifier: str) -> bool:
    wanted = query_forms(identifier).precise
    return wanted is not None and bool(lexical.search(wanted, Grain.LINE, 1, request.scope))


def _first(names: list[str]) -> list[str]:
    return list(islice(dict.fromkeys(names), MOST_LOOKED_UP))
