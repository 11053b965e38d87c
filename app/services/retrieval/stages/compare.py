"""Word-by-word comparison of the best candidates with the question (late interaction)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from clawmem.app.services.retrieval.asking_models import reason_of
from clawmem.app.services.retrieval.located import lines_located, located
from clawmem.app.services.retrieval.names import lent_words, names_of
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.sketched import Seen, by_sketches, serving_sketcher
from clawmem.app.services.retrieval.stages.fuse import fused_lines
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.documents.tables import with_columns
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.late_interaction import around, line_coverage
from clawmem.domain.retrieval.query_forms import asks_for_number, holds_number
from clawmem.domain.retrieval.sketches import READ
from clawmem.ports.embedder import Embedder
from clawmem.ports.late_interaction import LateInteraction
from clawmem.ports.records import FragmentKey, FragmentKind
from clawmem.ports.vault import Vault

LATE_INTERACTION = "late interaction"

# Independent of the limit, so that the first results do not depend on it.
LINES = 60
SKETCHED_LINES = 100
DOCUMENTS = 40
LINE_HITS = 100  # line hits from which the lines of documents are chosen

TEXTS_KEPT = 3_000  # texts whose words are cached for later questions: 3 MB


class LineComparison(NamedTuple):
    """Method of comparing lines, and the number of lines to compare."""

    lines: int
    at: Callable[[RetrievalRequest, Work, Sequence[FragmentKey]], Seen]


def compare(vault: Vault, late: LateInteraction, embedder: Embedder | None = None) -> Stage:
    """
    Return the late-interaction stage: it compares the best candidates with the question word by word.

    It uses the sketches of lines if most lines have one, which represent words in context and the line as a whole;
    otherwise words alone. A line's score depends on how well it covers the words of the question, including
    contributions of adjacent lines and of the names of its note, and, if a number is asked for, on containing one. A
    document's score is that of its best line. Candidates that were not compared follow in their order. After a
    failure, reported in ``trace.degraded``, the order is unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.forms.words or not work.legs.get(grains.LINE):
            return work  # no words to compare with, or no line to compare
        read = _read_lines if request.unit is Unit.LINE else _read_documents
        try:
            return read(vault, _look(vault, late, embedder), request, work)
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[LATE_INTERACTION] = reason_of(error)
            return work

    return stage


def _look(vault: Vault, late: LateInteraction, embedder: Embedder | None) -> LineComparison:
    def by_words(request: RetrievalRequest, work: Work, keys: Sequence[FragmentKey]) -> Seen:
        return _by_words(vault, late, request, work, keys)

    sketcher = serving_sketcher(vault, embedder)
    if sketcher is None:
        return LineComparison(LINES, by_words)

    def by_sketches_first(request: RetrievalRequest, work: Work, keys: Sequence[FragmentKey]) -> Seen:
        seen = by_sketches(vault, sketcher, request, keys)
        if not seen:
            return by_words(request, work, keys)
        return {**seen, **_numbers(request, keys, lambda: _texts(vault, work, keys))}

    return LineComparison(SKETCHED_LINES, by_sketches_first)


def _read_lines(vault: Vault, look: LineComparison, request: RetrievalRequest, work: Work) -> Work:
    head, tail = work.candidates[: look.lines], work.candidates[look.lines :]
    return work.with_candidates(_then(_refined(vault, look, head, request, work), tail))


def _read_documents(vault: Vault, look: LineComparison, request: RetrievalRequest, work: Work) -> Work:
    head, tail = work.candidates[:DOCUMENTS], work.candidates[DOCUMENTS:]
    within = lines_located(vault, _narrowed(work))
    lines = _refined(vault, look, fused_lines(request, within)[: look.lines], request, within)
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
    vault: Vault, look: LineComparison, lines: Sequence[Candidate], request: RetrievalRequest, work: Work
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
    vault: Vault, late: LateInteraction, request: RetrievalRequest, work: Work, keys: Sequence[FragmentKey]
) -> Seen:
    texts = _texts(vault, work, around(keys))
    seen = late.compare(request.forms.words, [_distinct_words(text[:READ]) for text in texts.values()])
    nearest = dict(zip(texts, seen.nearest, strict=True))
    named = lent_words(request.forms.words, names_of(vault, keys))
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
    if not asks_for_number(request.query):
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


def _texts(vault: Vault, work: Work, keys: Iterable[FragmentKey]) -> dict[FragmentKey, str]:
    """Return the texts of the existing lines of *keys*, reading each body once."""
    wanted = sorted(keys)
    spans = located(vault, work, wanted).spans
    bodies = vault.documents.bodies({key.document_id for key in wanted})
    return {
        key: with_columns(bodies.get(key.document_id, ""), spans[key].start, spans[key].end)
        for key in wanted
        if key in spans and spans[key].kind is FragmentKind.LINE
    }


@lru_cache(TEXTS_KEPT)
def _distinct_words(text: str) -> tuple[str, ...]:
    return tuple(map(intern, dict.fromkeys(words(text))))  # equal words of different texts share memory
