"""Comparison of the best candidates with the question, word by word (late interaction) or by sketches."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from clawmem.app.services.retrieval.models import reason_of
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.fuse import fused_lines, lines_located, located
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.tables import with_columns
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.late_interaction import (
    READ,
    Rows,
    agreement,
    around,
    line_coverage,
    name_contributions,
    nearest_words,
    read_rows,
)
from clawmem.domain.retrieval.query_forms import asks_for_number, holds_number
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.indexes import EmbeddingStore, SketchStore
from clawmem.ports.models import Embedder, LateInteraction, Sketcher, sketcher_of
from clawmem.ports.records import FragmentKey, FragmentKind

Names = Mapping[int, tuple[str, ...]]

Seen = Mapping[str, Mapping[FragmentKey, float]]  # score by name of the signal and by line
NAMES_SKETCHED = 16  # documents whose names are sketched per question; a name takes about a millisecond
LEAST_KNOWN = 0.5  # least share of lines with a sketch; with fewer, the order would be arbitrary
LATE_INTERACTION = "late interaction"
# Independent of the limit, so that the first results do not depend on it.
LINES = 60
SKETCHED_LINES = 100
DOCUMENTS = 40
LINE_HITS = 100  # line hits from which the lines of documents are chosen
TEXTS_KEPT = 3_000  # texts whose words are cached for later questions: 3 MB


def names_of(store: DocumentStore, keys: Iterable[FragmentKey]) -> Names:
    """Return the names of the documents of *keys*, by document id."""
    documents = store.many({key.document_id for key in keys})
    return {number: document_names(one) for number, one in documents.items()}


def lent_words(question: Iterable[str], names: Names) -> dict[int, list[float]]:
    """Return the contribution of *names* to each word of *question*, by document id; see `name_contributions`."""
    held = {number: frozenset(words(" ".join(some))) for number, some in names.items()}
    return name_contributions(tuple(question), held)


def serving_sketcher(
    sketches: SketchStore, embeddings: EmbeddingStore, embedder: Embedder | None
) -> Sketcher | None:
    """Return the model of the vault's sketches and vectors; ``None`` if the embedder is another model or unavailable."""
    stored = sketches.fingerprint()
    if stored is None or stored != embeddings.fingerprint():
        return None  # avoids loading the model
    try:
        sketcher = sketcher_of(embedder)
    except ModelMismatch:  # the vector retriever reports it
        return None
    return sketcher if sketcher and sketcher.fingerprint == stored else None


def by_sketches(
    documents: DocumentStore,
    sketches: SketchStore,
    sketcher: Sketcher,
    request: RetrievalRequest,
    keys: Sequence[FragmentKey],
) -> Seen:
    """
    Return for each line how well it covers the words of the question, and its similarity as a whole.

    Empty if too few lines have a sketch, or the question has no significant word. A line without a sketch gets the
    mean of the others.
    """
    lines = _read(sketches, sketcher, keys)
    known = [key for key in keys if key in lines]
    if len(known) < max(1.0, LEAST_KNOWN * len(keys)):
        return {}
    question = read_rows(sketcher.sketch([request.question.text], STOP_WORDS)[0], sketcher.dimensions)
    if question is None or not question.words:
        return {}
    return _seen(question, lines, keys, known, _named(documents, sketcher, request, question, known))


def _read(sketches: SketchStore, sketcher: Sketcher, keys: Sequence[FragmentKey]) -> dict[FragmentKey, Rows]:
    """Return the sketches of the lines and of adjacent lines, without empty sketches."""
    stored = sketches.of(around(keys))
    found = ((key, read_rows(sketch, sketcher.dimensions)) for key, sketch in stored.items())
    return {key: rows for key, rows in found if rows is not None}


def _seen(
    question: Rows,
    lines: Mapping[FragmentKey, Rows],
    keys: Sequence[FragmentKey],
    known: Sequence[FragmentKey],
    named: Mapping[int, Sequence[float]],
) -> Seen:
    equal = (1.0 / len(question.words),) * len(question.words)
    nearest = {key: nearest_words(question, rows) for key, rows in lines.items()}
    whole = {key: agreement(question.whole, lines[key].whole, question.bits) for key in known}
    return {
        grains.COVERAGE: _completed(line_coverage(known, nearest, equal, names=named), keys),
        grains.WHOLE: _completed(whole, keys),
    }


def _named(
    documents: DocumentStore,
    sketcher: Sketcher,
    request: RetrievalRequest,
    question: Rows,
    keys: Sequence[FragmentKey],
) -> dict[int, list[float]]:
    """Return what document names contribute to each word of the question, for names that contain one of its words."""
    names = names_of(documents, keys)
    lent = {number: max(row) for number, row in lent_words(request.question.forms.words, names).items()}
    chosen = sorted(lent, key=lambda number: (-lent[number], number))[:NAMES_SKETCHED]
    sketches = sketcher.sketch([". ".join(names[number]) for number in chosen], STOP_WORDS) if chosen else []
    found = zip(chosen, (read_rows(sketch, sketcher.dimensions) for sketch in sketches), strict=True)
    return {
        number: [lent[number] * near for near in nearest_words(question, rows)]
        for number, rows in found
        if rows is not None
    }


def _completed(known: Mapping[FragmentKey, float], keys: Sequence[FragmentKey]) -> dict[FragmentKey, float]:
    middle = sum(known.values()) / len(known)
    return {key: known.get(key, middle) for key in keys}


class LineComparison(NamedTuple):
    """Method of comparing lines, and the number of lines to compare."""

    lines: int
    at: Callable[[RetrievalRequest, Work, Sequence[FragmentKey]], Seen]


def comparison_stage(
    documents: DocumentStore,
    sketches: SketchStore,
    embeddings: EmbeddingStore,
    late: LateInteraction | None,
    embedder: Embedder | None,
) -> dict[str, Stage]:
    """Return the stage after fusion that compares the best candidates with the question; none without *late*."""
    return {} if late is None else {"compare": compare(documents, sketches, embeddings, late, embedder)}


def compare(
    documents: DocumentStore,
    sketches: SketchStore,
    embeddings: EmbeddingStore,
    late: LateInteraction,
    embedder: Embedder | None = None,
) -> Stage:
    """
    Return the late-interaction stage: it compares the best candidates with the question word by word.

    It uses the sketches of lines if most lines have one, which represent words in context and the line as a whole;
    otherwise words alone. A line's score depends on how well it covers the words of the question, including
    contributions of adjacent lines and of the names of its note, and, if a number is asked for, on containing one. A
    document's score is that of its best line. Candidates that were not compared follow in their order. After a
    failure, reported in ``trace.degraded``, the order is unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.question.forms.words or not work.legs.get(grains.LINE):
            return work  # no words to compare with, or no line to compare
        try:
            look = _look(documents, sketches, late, serving_sketcher(sketches, embeddings, embedder))
            if request.unit is Unit.LINE:
                return _read_lines(look, request, work)
            return _read_documents(documents, look, request, work)
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[LATE_INTERACTION] = reason_of(error)
            return work

    return stage


def _look(
    documents: DocumentStore, sketches: SketchStore, late: LateInteraction, sketcher: Sketcher | None
) -> LineComparison:
    def by_words(request: RetrievalRequest, work: Work, keys: Sequence[FragmentKey]) -> Seen:
        return _by_words(documents, late, request, work, keys)

    if sketcher is None:
        return LineComparison(LINES, by_words)

    def by_sketches_first(request: RetrievalRequest, work: Work, keys: Sequence[FragmentKey]) -> Seen:
        seen = by_sketches(documents, sketches, sketcher, request, keys)
        if not seen:
            return by_words(request, work, keys)
        return {**seen, **_numbers(request, keys, lambda: _texts(documents, work, keys))}

    return LineComparison(SKETCHED_LINES, by_sketches_first)


def _read_lines(look: LineComparison, request: RetrievalRequest, work: Work) -> Work:
    head, tail = work.candidates[: look.lines], work.candidates[look.lines :]
    return work.with_candidates(_then(_refined(look, head, request, work), tail))


def _read_documents(
    documents: DocumentStore, look: LineComparison, request: RetrievalRequest, work: Work
) -> Work:
    head, tail = work.candidates[:DOCUMENTS], work.candidates[DOCUMENTS:]
    within = lines_located(documents, _narrowed(work))
    lines = _refined(look, fused_lines(request, within)[: look.lines], request, within)
    best = _best_lines(lines)
    relevance = {c.document_id: best[c.document_id].relevance for c in head if c.document_id in best}
    found = grains.refine(
        {c.document_id: c.legs for c in head},
        {grains.BEST_LINE: relevance},
        work.legs.keys(),
        grains.with_variants(grains.DOCUMENT_WEIGHTS, work.legs),
    )
    refined = [_shown_by(best.get(c.document_id), _seen_as(c, *found[c.document_id])) for c in head]
    return work.with_candidates(_then(refined, tail))


def _refined(
    look: LineComparison, lines: Sequence[Candidate], request: RetrievalRequest, work: Work
) -> list[Candidate]:
    """Return *lines*, in their order, with the relevance from the comparison."""
    keys = [c.best for c in lines]
    found = grains.refine(
        {c.best: c.legs for c in lines},
        look.at(request, work, keys),
        {*work.legs, grains.SPEAKER},
        grains.with_variants(grains.LINE_WEIGHTS, work.legs),
    )
    return [_seen_as(c, *found[c.best]) for c in lines]


def _by_words(
    documents: DocumentStore,
    late: LateInteraction,
    request: RetrievalRequest,
    work: Work,
    keys: Sequence[FragmentKey],
) -> Seen:
    texts = _texts(documents, work, around(keys))
    seen = late.compare(
        request.question.forms.words, [_distinct_words(text[:READ]) for text in texts.values()]
    )
    nearest = dict(zip(texts, seen.nearest, strict=True))
    named = lent_words(request.question.forms.words, names_of(documents, keys))
    return {
        grains.COVERAGE: line_coverage(keys, nearest, seen.weights, names=named),
        **_numbers(request, keys, lambda: texts),
    }


def _numbers(
    request: RetrievalRequest,
    keys: Sequence[FragmentKey],
    texts_of: Callable[[], Mapping[FragmentKey, str]],
) -> Seen:
    """Return which lines contain a number if the question asks for one; otherwise read no text."""
    if not asks_for_number(request.question.text):
        return {}
    texts = texts_of()
    return {grains.NUMBER: {key: float(holds_number(texts.get(key, ""))) for key in keys}}


def _then(head: Sequence[Candidate], tail: Sequence[Candidate]) -> list[Candidate]:
    """Return the head sorted by relevance, then the tail, scaled down below the head so that its order is kept."""
    ranked = sorted(head, key=lambda c: (-c.relevance, c.best))
    share = min(1.0, ranked[-1].relevance / tail[0].relevance) if tail and tail[0].relevance else 0.0
    return [*ranked, *(tail if share == 1.0 else (_seen_as(c, c.relevance * share, c.legs) for c in tail))]


def _seen_as(candidate: Candidate, relevance: float, legs: Mapping[str, float]) -> Candidate:
    return candidate._replace(relevance=relevance, score=relevance, legs=legs)


def _shown_by(line: Candidate | None, document: Candidate) -> Candidate:
    return document._replace(best=line.best) if line else document


def _narrowed(work: Work) -> Work:
    """Return *work* with only the best line hits: only its best line counts for a document."""
    return work._replace(legs={**work.legs, grains.LINE: work.legs.get(grains.LINE, ())[:LINE_HITS]})


def _best_lines(lines: Iterable[Candidate]) -> dict[int, Candidate]:
    best: dict[int, Candidate] = {}
    for line in sorted(lines, key=lambda c: (-c.relevance, c.best)):
        best.setdefault(line.document_id, line)
    return best


def _texts(documents: DocumentStore, work: Work, keys: Iterable[FragmentKey]) -> dict[FragmentKey, str]:
    """Return the texts of the existing lines of *keys*, reading each body once."""
    wanted = sorted(keys)
    spans = located(documents, work, wanted).spans
    bodies = documents.bodies({key.document_id for key in wanted})
    return {
        key: with_columns(bodies.get(key.document_id, ""), spans[key].start, spans[key].end)
        for key in wanted
        if key in spans and spans[key].kind is FragmentKind.LINE
    }


@lru_cache(TEXTS_KEPT)
def _distinct_words(text: str) -> tuple[str, ...]:
    return tuple(map(intern, dict.fromkeys(words(text))))  # equal words of different texts share memory
