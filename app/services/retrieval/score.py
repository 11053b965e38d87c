"""The one score of a candidate, in which metadata decides near-ties, and the end of the list."""

import math
import re
from collections.abc import Sequence

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import HIDDEN, Candidate, Trace, Work
from clawmem.domain.documents.names import document_names
from clawmem.domain.retrieval import calibrated, composite
from clawmem.domain.retrieval.calibrated import FULL, OF_A_DAY, OF_OTHERS, is_of_a_day, is_own, standing
from clawmem.domain.retrieval.composite import signals_of
from clawmem.domain.retrieval.fusion import diversify
from clawmem.domain.retrieval.intent import GRAPH_INTENTS, asks_for_recent, has_recency_intent
from clawmem.domain.retrieval.query_forms import is_precise
from clawmem.domain.retrieval.question import ANY_KIND
from clawmem.domain.retrieval.relevance import results_to_show
from clawmem.domain.text.words import fold, normalise, words

# Taken from a note that has a word of the question in another spelling alone ("résumé" for "resume"), and given to one
# with exactly the words of a name, of so many notes.
RESPELT, COMPARED = 0.05, 20


def score(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Score candidates with the requested policy, and sort them; those that are not served are dropped."""
    question = request.question
    is_recent = asks_for_recent(question.text)
    if is_recent:
        trace.note("the question asks for what is recent")
    documents = work.texts.documents(c.document_id for c in work.candidates)
    served = {number for number, document in documents.items() if document.inactive is None}
    trace.drop((c for c in work.candidates if c.document_id not in served), "not served")
    places = {key: place for place, key in enumerate(work.by_date.order)}
    wanted, named, quoted = question.forms.words, question.named_time, question.forms.quoted
    phrases = quoted or (zip(wanted) if is_precise(question.text) else ())
    # A pattern that begins with letters is searched for faster.
    patterns = [
        r"[\W_]+".join((rf"{first}(?<![^\W_]{first})", *rest)) + r"(?![^\W_])" for first, *rest in phrases
    ]
    compared = documents if quoted else [c.document_id for c in work.candidates[:COMPARED]]
    exact, respelt, scored = set[int](), set[int](), []
    for number, body in work.texts.bodies(compared).items():
        title = documents[number].title if number in documents else ""
        lower = normalise(f"{title}\n{body}").lower()
        if patterns and all(re.search(pattern, lower) for pattern in patterns):
            exact.add(number)
        lacking = [fold(word) for word in wanted if word not in lower]
        if lacking and not f"{lower}{wanted}".isascii() and any(map(fold(body).__contains__, lacking)):
            respelt.add(number)
    for candidate in work.candidates:
        if candidate.document_id not in served:
            continue
        document, place = documents[candidate.document_id], places.get(candidate.best)
        signals = signals_of(candidate.relevance, document, question.now_ms)
        if place is not None and request.unit is not Unit.LINE:
            terms: dict[str, float] = {"date": 2.0 - place / len(places)}  # in place of all other terms
        elif request.ranking is Ranking.PUBLISHED:
            recency = has_recency_intent(question.text)
            terms = {"published": composite.published(signals, recency_intent=recency)}
        else:
            # Of these relevance is by far the largest.
            terms = calibrated.parts(candidate.relevance, signals, recency_intent=is_recent)
            share = standing(document, wanted) * (FULL if is_own(document) else OF_OTHERS)
            # A prompt, which has a floor, gets several notes: its block loses answers of journals.
            if not (named or is_recent or request.floor) and is_of_a_day(document):
                share *= OF_A_DAY
            terms["standing"] = (share - 1) * terms["relevance"]
            if words(question.text) in map(words, document_names(document)):
                terms["name"] = 0.3  # notes that link to it hold the name too
            is_of_kind = not question.kinds.isdisjoint({ANY_KIND, document.content_type})
            # Of the kind and time that the question names ("decisions taken in June", "notes of last week"), or of the
            # day ("how did I sleep on 12 May"): both decide, and relevance orders such notes.
            is_of_day = named and named.is_day and document.has_own_date and request.unit is Unit.DOCUMENT
            if named and named.has_day_of(document.authored_at, question.zone) and (is_of_kind or is_of_day):
                terms["time"] = 1.0
            if candidate.document_id in respelt:
                terms["spelling"] = -RESPELT
            if candidate.document_id in exact:
                terms["exact"] = 1.0 if quoted else RESPELT
        scored.append(candidate._replace(document=document, score=math.fsum(terms.values()), terms=terms))
    trace.drop((c for c in scored if c.score < request.min_score), "below the minimum score")
    enough = (c for c in scored if c.score >= request.min_score)
    return work.with_candidates(sorted(enough, key=lambda c: (-c.score, c.best)))


SPREAD = 20  # first candidates that are compared with each other, independent of the limit


def cut(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Move near-duplicates of a better document last, keep the first ``limit``, and drop unlikely ones below a likely one.

    None is dropped with ``show_all``, or if relations were followed: a cause need not share the subject of the
    question.
    """
    candidates: Sequence[Candidate] = work.candidates
    if request.diverse and request.unit is Unit.DOCUMENT and not work.by_date.order:
        head, tail = candidates[:SPREAD], candidates[SPREAD:]
        bodies = work.texts.bodies(c.document_id for c in head)
        titles = {c.document_id: c.document.title for c in head if c.document}
        texts = {n: f"{title}\n{bodies.get(n, '')[:800]}" for n, title in titles.items()}
        distinct, copies = diversify(head, lambda c: texts.get(c.document_id, ""))
        candidates = [*distinct, *copies, *tail]
    trace.drop(candidates[request.limit :], "beyond the limit")
    first = candidates[: request.limit]
    has_relations = work.intent is not None and work.intent.intent in GRAPH_INTENTS
    if request.show_all or has_relations:
        return work.with_candidates(first)
    judged = list(zip(first, results_to_show([c.confidence for c in first]), strict=True))
    trace.drop((c for c, is_shown in judged if not is_shown), HIDDEN)
    return work.with_candidates(c for c, is_shown in judged if is_shown)
