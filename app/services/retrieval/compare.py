"""Fusion of the hits of all retrievers into candidates, their comparison with the question word by word, and weight of the vectors."""

import math
from collections.abc import Iterable, Mapping, Sequence

from clawmem.app.services.retrieval.confidence import WORDS_LOOKED_UP
from clawmem.app.services.retrieval.models import LATE_INTERACTION, reason_of
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, Trace, Work
from clawmem.domain.documents.names import document_names
from clawmem.domain.retrieval import grains, late_interaction
from clawmem.domain.retrieval.fusion import meaning_share, rarity
from clawmem.domain.retrieval.grains import LINE_WEIGHTS, VECTOR
from clawmem.domain.text.words import words
from clawmem.ports.errors import ClawmemError
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.models import LateInteraction
from clawmem.ports.records import FragmentKey, FragmentKind, Grain


def fuse(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Fuse hits by the sum of scaled scores, and keep the best ``candidate_limit`` candidates."""
    if request.unit is Unit.DOCUMENT:
        candidates = fused_documents(request, work, grains.document_weights(work.space, work.legs))
    elif work.legs.get(grains.LINE):
        candidates = fused_lines(request, work)
    else:  # no lexical match, but vectors may find a passage
        return nearest(request, work, trace)
    return work.with_candidates(candidates[: request.candidate_limit or MAX_LIMIT])


def nearest(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Make candidates from vector hits; relevance is the cosine of the best fragment."""
    best: dict[FragmentKey | int, Candidate] = {}
    is_line = request.unit is Unit.LINE
    spans = work.texts.spans(hit.key for hit in work.legs.get(VECTOR, ())) if is_line else {}
    for hit in work.legs.get(VECTOR, ()):
        span = spans.get(hit.key)
        if is_line and (span is None or span.kind in (FragmentKind.DOCUMENT, FragmentKind.SECTION)):
            continue
        relevance = max(0.0, hit.score)
        candidate = Candidate(
            hit.key.document_id, hit.key, relevance, relevance, {VECTOR: hit.score}, span=span
        )
        best.setdefault(hit.key if is_line else hit.key.document_id, candidate)
    return work.with_candidates(best.values())


def fused_lines(request: RetrievalRequest, work: Work) -> list[Candidate]:
    """Return the lines that the retrievers found, best first."""
    weights = grains.with_variants(LINE_WEIGHTS, work.legs)
    wider = (
        hit.key
        for name, hits in work.legs.items()
        if grains.retriever_of(name) in (grains.PASSAGE, grains.PRECISE, VECTOR)
        for hit in hits
    )
    lines = (hit.key for hit in work.legs.get(grains.LINE, ()))
    spans = work.texts.spans({*grains.neighbours(lines), *wider})
    return [
        Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts, span=spans[f.best])
        for f in grains.fuse_lines(work.legs, spans, weights, request.question.speakers)
    ]


def fused_documents(request: RetrievalRequest, work: Work, weights: Mapping[str, float]) -> list[Candidate]:
    """Return the documents that the retrievers found, best first."""
    lines = work.legs.get(grains.LINE, ()) if request.question.speakers else ()
    spans = work.texts.spans(hit.key for hit in lines)
    labels = {key: span.label for key, span in spans.items() if span.kind is FragmentKind.LINE}
    near = work.texts.documents(hit.key.document_id for hit in work.legs.get(VECTOR, ()))
    lengths = {number: document.body_length for number, document in near.items()}
    fused = grains.fuse_documents(work.legs, labels, weights, request.question.speakers, lengths)
    return [Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts) for f in fused]


Signals = Mapping[str, Mapping[FragmentKey, float]]  # by name of the signal and by line

# Independent of the limit, so that the first results do not depend on it.
DOCUMENTS, MOST_LINES = 40, 60


def compare(late: LateInteraction, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Compare the best candidates with the question word by word; candidates that were not compared follow in their order.

    A line counts with adjacent lines and the names of its note, a document with its best line. A failure is reported.
    """

    def refined(work: Work, lines: Sequence[Candidate]) -> list[Candidate]:
        """Return *lines*, in their order, with the relevance from the comparison."""
        found = grains.refine(
            {c.best: c.legs for c in lines},
            by_words(late, request, work.texts, [c.best for c in lines]),
            {*work.legs, grains.SPEAKER},
            grains.with_variants(grains.LINE_WEIGHTS, work.legs),
        )
        return [c._replace(relevance=r, score=r, legs=legs) for c in lines for r, legs in [found[c.best]]]

    if not request.question.forms.words or not work.legs.get(grains.LINE):
        return work  # no words to compare with, or no line to compare
    is_line = request.unit is Unit.LINE
    try:
        if is_line:
            head, tail = work.candidates[:MOST_LINES], work.candidates[MOST_LINES:]
            return work.with_candidates(_before(refined(work, head), tail))
        head, tail = work.candidates[:DOCUMENTS], work.candidates[DOCUMENTS:]
        # Only its best line counts for a document.
        within = work._replace(legs={**work.legs, grains.LINE: work.legs[grains.LINE][:100]})
        lines = refined(within, fused_lines(request, within)[:MOST_LINES])
    except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
        trace.degraded[LATE_INTERACTION] = reason_of(error)
        return work
    best = {c.document_id: c for c in reversed(within.ranked(lines).candidates)}
    of_lines = {c.document_id: best[c.document_id].relevance for c in head if c.document_id in best}
    weights = grains.document_weights(work.space, work.legs)
    found = grains.refine(
        {c.document_id: c.legs for c in head}, {grains.BEST_LINE: of_lines}, work.legs.keys(), weights
    )
    documents = []
    for c in head:
        relevance, legs = found[c.document_id]
        line = best.get(c.document_id, c)
        documents.append(c._replace(best=line.best, relevance=relevance, score=relevance, legs=legs))
    return work.with_candidates(_before(documents, tail))


def _before(head: Iterable[Candidate], tail: Sequence[Candidate]) -> list[Candidate]:
    """Return the head sorted by relevance, then the tail, scaled down below the head so that its order is kept."""
    ranked = sorted(head, key=lambda c: (-c.relevance, c.best))
    share = min(1.0, ranked[-1].relevance / tail[0].relevance) if tail and tail[0].relevance else 0.0
    return [*ranked, *(c.with_relevance(c.relevance * share) for c in tail)]


def by_words(
    late: LateInteraction, request: RetrievalRequest, texts: LoadedTexts, keys: Sequence[FragmentKey]
) -> Signals:
    """Return for each line how well its words, by their vectors out of context, cover those of the question."""
    wanted = sorted(grains.neighbours(keys, late_interaction.REACH))
    spans, bodies = texts.spans(wanted), texts.bodies({key.document_id for key in wanted})
    lines = {
        key: late_interaction.with_columns(bodies.get(key.document_id, ""), span.start, span.end)
        for key, span in spans.items()
        if span.kind is FragmentKind.LINE
    }
    # A property lends nothing to the lines of its note.
    properties = [spans[key] for key in keys if key in spans]
    lines |= {span.key: span.label for span in properties if span.kind is FragmentKind.FRONT_MATTER}
    question = request.question.forms.words
    compared = late.compare(question, [words(line) for line in lines.values()])
    nearest = dict(zip(lines, compared.nearest, strict=True))
    named = lent_words(question, texts, keys)
    return {grains.COVERAGE: late_interaction.line_coverage(keys, nearest, compared.weights, names=named)}


def lent_words(
    question: Sequence[str], texts: LoadedTexts, keys: Iterable[FragmentKey]
) -> dict[int, list[float]]:
    """Return what the names of the documents of *keys* contribute to each word of *question*, by document id."""
    documents = texts.documents(key.document_id for key in keys)
    names = {number: frozenset(words(" ".join(document_names(note)))) for number, note in documents.items()}
    return late_interaction.name_contributions(question, names)


def weigh_vectors(lexical: LexicalIndex, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Rank by vectors the more, the less of the question its best match by words covers.

    Not with a named time or for the newest, as the time tells which notes are meant, nor for lines, which the vector of
    a passage does not tell apart.
    """
    question, legs = request.question, work.legs
    is_other = request.unit is Unit.LINE or question.named_time or question.newest
    if is_other or not legs.get(grains.VECTOR) or grains.DOCUMENT not in legs:
        return work
    try:
        terms, coverage = question.forms.relaxed.terms[:WORDS_LOOKED_UP], 0.0
        for grain in (Grain.DOCUMENT, Grain.PASSAGE):  # a long document scores low
            total = lexical.count(grain)
            most = math.fsum(rarity(total, lexical.holding(term, grain)) for term in terms) or 1.0
            coverage = max([coverage, *(hit.score / most for hit in legs.get(grain, ())[:1])])
    except ClawmemError:  # an unavailable index has no statistics either; its retriever has reported it
        return work
    share = meaning_share(coverage, work.space)
    if not share:
        return work
    trace.note(f"the notes hardly have its words: vectors count {share:.0%}")
    return work.ranked(
        c.with_relevance((1.0 - share) * c.relevance + share * c.legs.get(grains.VECTOR, 0.0))
        for c in work.candidates
    )
