"""Confidence of each candidate, and an empty answer if the confidence of the whole answer is below the floor."""

import math
from collections.abc import Mapping
from itertools import accumulate, chain
from typing import NamedTuple

from clawmem.app.services.retrieval.dates import BY_TIME_OF_FILE
from clawmem.app.services.retrieval.models import LATE_INTERACTION, reason_of
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.supersede import ABOVE
from clawmem.app.services.retrieval.work import Trace, Work
from clawmem.domain.documents.names import searchable_names
from clawmem.domain.retrieval import relevance
from clawmem.domain.retrieval.calibrated import is_own
from clawmem.domain.retrieval.fusion import rarity
from clawmem.domain.retrieval.grains import VECTOR
from clawmem.domain.text.likeness import has_words
from clawmem.domain.text.vocabulary import function_words, language_of
from clawmem.domain.text.words import words
from clawmem.domain.text.written_dates import local_day
from clawmem.ports.errors import ClawmemError
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.models import LateInteraction
from clawmem.ports.records import FragmentKey, FragmentKind, Grain

COMPARED = 20  # best candidates whose passages are compared with the question
WORDS_LOOKED_UP = 16  # first words of the question; more words of a pasted page add no information
# Confidence of a rival from which on the first note is not likely: so it was wrong in 19 of 33 questions on 13 folders of
# notes, and in 7 of 11 of the biologist, while of all likely notes 1 in 4 is. With an older one it is .30 and .40.
RIVAL = 0.2
PASSAGE = 800  # characters before and after a line
PROPERTIES = 10_000  # characters of front matter; a generated one may have a million


class Passages(NamedTuple):
    """
    Comparison of the passages of the best candidates with the question, by their fragments.

    ``coverage`` is the share of the question's words, weighted by how telling they are, that a passage has; similar
    words count in part if a model compares them (``by_meaning``; ``failure`` tells why not). ``shared`` counts equal
    words only. ``miss`` is the least weight of a most telling word that a passage lacks, ``specificity`` that of all
    words.
    """

    coverage: Mapping[FragmentKey, float]
    shared: Mapping[FragmentKey, float]
    miss: float
    specificity: float
    by_meaning: bool = False
    failure: str = ""
    is_task: bool = False


def confidence(
    lexical: LexicalIndex, late: LateInteraction | None, request: RetrievalRequest, work: Work, trace: Trace
) -> Work:
    """
    Give every candidate the probability that it answers.

    If the probability that any of them does is below the request's floor, the answer is empty. Without *late*, which
    compares words by meaning, or if it fails, only equal words count. If an index is unavailable, no probability is
    computed. No document is less likely than its date tells, or than one that follows it. A note that a newer one may have
    changed is at most possible, and so is every note if the first has a rival that is no unlikely answer; a likely rival,
    which is newer, goes first.
    """
    if not work.candidates:
        return work
    try:
        passages = passages_of(lexical, late, request, work)
        if passages.failure:
            trace.degraded[LATE_INTERACTION] = passages.failure
        fingerprint = work.space if work.legs.get(VECTOR) else None
        answered = relevance.answer_probability(evidence_of(lexical, request, work, passages), fingerprint)
    except ClawmemError as error:  # an unavailable index cannot provide statistics either
        trace.note(f"how likely it is cannot be told: {error}")
        return work
    by_date = work.by_date
    confidences = []
    for c, place in zip(work.candidates, places_of(request, work, passages), strict=True):
        own, least = answered * relevance.place_probability(place), by_date.confidence.get(c.document_id)
        bounded = min(own, by_date.others) if least is None else max(own, least)
        confidences.append(least if least == BY_TIME_OF_FILE else bounded)
    if request.unit is Unit.DOCUMENT:
        confidences = [*accumulate(reversed(confidences), max)][::-1]
    rival = work.candidates[0].rival
    at = [c.document_id for c in work.candidates].index(rival.id) if rival else 0
    if rival and confidences[0] >= relevance.LIKELY and confidences[at] >= RIVAL:
        first, newer = work.candidates[0], work.candidates[at]
        if confidences[at] >= relevance.LIKELY and first.document and is_own(rival) >= is_own(first.document):
            others = (c for c in work.candidates if c is not newer)
            lifted = newer.plus("change", max(0.0, first.score + ABOVE - newer.score))
            work = work.with_candidates([lifted, *others])
        confidences = [min(number, relevance.CHANGED) for number in confidences]
        day = local_day(rival.authored_at)
        trace.notice = f"Two notes may differ; the newer one is {rival.display_path} ({day})."
    candidates = [
        c._replace(confidence=min(number, relevance.CHANGED) if c.changed_by else number)
        for c, number in zip(work.candidates, confidences, strict=True)
    ]
    dated = [by_date.confidence[c.document_id] for c in candidates if c.document_id in by_date.confidence]
    answered = max(answered, *dated) if dated else min(answered, by_date.others)
    return above_floor(request, work.with_candidates(candidates)._replace(answered=answered), trace)


def above_floor(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Return *work*, without candidates if the probability of an answer is below the request's floor."""
    if work.answered is None or work.answered >= request.floor:
        return work
    trace.note(f"nothing here answers: {work.answered:.2f}, floor {request.floor:.2f}")
    trace.drop(work.candidates, "below the floor")
    return work.with_candidates(())


def evidence_of(
    lexical: LexicalIndex, request: RetrievalRequest, work: Work, passages: Passages
) -> relevance.Evidence:
    """Return the evidence that any candidate answers."""
    # A cosine is fitted with words by meaning. Who asks the notes wants an answer; only a prompt, with a floor, may ask for work.
    vectors = work.legs.get(VECTOR) if passages.by_meaning else None
    return relevance.Evidence(
        shared=max(passages.shared.values(), default=0.0),
        miss=passages.miss,
        specificity=passages.specificity,
        entries=lexical.count(Grain.LINE) + lexical.count(Grain.PASSAGE),
        cosine=vectors[0].score if vectors else None,
        is_task=passages.is_task and request.floor > 0,
        language=language_of(words(request.question.text)),
    )


def places_of(request: RetrievalRequest, work: Work, passages: Passages) -> list[relevance.ResultPlace]:
    """Return the candidates as inputs of the model of confidence, best first."""
    cosines = {hit.key.document_id: hit.score for hit in reversed(work.legs.get(VECTOR, ()))}
    nearest, most = max(cosines.values(), default=0.0), max(passages.coverage.values(), default=0.0) or 1.0
    return [
        relevance.ResultPlace(
            c.relevance,
            rank,
            request.unit,
            coverage_share=passages.coverage.get(c.best, 0.0) / most,
            cosine_gap=nearest - cosines.get(c.document_id, 0.0),
            is_short=c.document is not None and c.document.body_length <= relevance.SHORT_NOTE,
        )
        for rank, c in enumerate(work.candidates, start=1)
    ]


def passages_of(
    lexical: LexicalIndex, late: LateInteraction | None, request: RetrievalRequest, work: Work
) -> Passages:
    """Compare the passages around the lines of the first candidates with the question."""
    # No word is common in a vault of ten notes.
    question, entries = request.question, max(5_000, lexical.count(Grain.DOCUMENT))
    # A note need not have the verb of a request for work on something of the writer: with it .034 of BEAM's questions got no
    # block, without it .006.
    is_task, forms = relevance.is_task(question.text), question.forms
    verb = "" if is_task else relevance.task_verb(words(question.text))
    weights = {
        word: rarity(entries, lexical.holding(term, Grain.DOCUMENT))
        for word, term in zip(forms.words, forms.relaxed.terms[:WORDS_LOOKED_UP], strict=False)
        if word != verb or len(forms.words) == 1
    }
    terms, total = tuple(weights), math.fsum(weights.values())
    texts, phrases = _texts_of(request, work), question.phrases
    absent = {
        key: {term for term, has in zip(terms, has_words(terms, text, phrases), strict=True) if not has}
        for key, text in texts.items()
    }
    lost = {key: [weights[word] for word in lacking] for key, lacking in absent.items()}
    shared = {key: 1 - math.fsum(rest) / (total or 1.0) for key, rest in lost.items()}
    least_miss = min((max(rest, default=0.0) for rest in lost.values()), default=math.inf)
    equal_words = Passages(shared, shared, least_miss, total, is_task=is_task)
    every = words(question.text)
    if function_words(every).issuperset(every):
        return equal_words._replace(specificity=0.0, by_meaning=late is not None)
    if late is None:
        return equal_words
    in_phrases = frozenset(chain.from_iterable(question.phrases))
    try:
        similarities = late.compare(terms, [words(text) for text in texts.values()])
        missing = {
            key: [
                weight * (1 - (0.0 if word in absent[key] & in_phrases else near))
                for word, weight, near in zip(terms, similarities.weights, row, strict=True)
            ]
            for key, row in zip(texts, similarities.nearest, strict=True)
        }
    except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
        return equal_words._replace(failure=reason_of(error))
    return Passages(
        {key: 1 - math.fsum(rest) for key, rest in missing.items()},
        shared,
        min((max(rest, default=0.0) for rest in missing.values()), default=math.inf) * similarities.weight,
        similarities.weight,
        by_meaning=True,
        is_task=is_task,
    )


def _texts_of(request: RetrievalRequest, work: Work) -> dict[FragmentKey, str]:
    """Return the text around the lines of the first candidates, with names, date, and the words of a named time."""
    candidates, named = work.candidates[:COMPARED], request.question.named_time
    documents = work.texts.documents(c.document_id for c in candidates)
    bodies, spans = work.texts.bodies(documents), work.texts.spans(c.best for c in candidates)
    texts = {}
    for c in candidates:
        if (document := documents.get(c.document_id)) is None:
            continue
        span = c.span or spans.get(c.best)
        start, end = (span.start, span.end) if span else (0, 0)
        margin = 0 if c.span and c.span.kind is FragmentKind.SECTION else PASSAGE  # that of a day
        parts = [
            bodies.get(c.document_id, "")[max(0, start - margin) : end + margin],
            " ".join([*searchable_names(document), *document.tags, document.front_matter[:PROPERTIES]]),
            document.authored_at[:10],
        ]
        if named is not None and named.has_day_of(document.authored_at, request.question.zone):
            parts.append(request.question.text[named.start : named.end])
        texts[c.best] = "\n".join(parts)
    return texts
