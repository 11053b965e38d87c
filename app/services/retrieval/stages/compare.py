"""The best candidates, compared with the question word by word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from clawmem.app.services.retrieval.asking_models import reason_of
from clawmem.app.services.retrieval.located import lines_located, located
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.fuse import fused_lines
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.answer_kind import asks_for_number, holds_number
from clawmem.domain.retrieval.late_interaction import around, covered
from clawmem.ports.late_interaction import LateInteraction
from clawmem.ports.records import FragmentKey, FragmentKind
from clawmem.ports.vault import Vault

LATE_INTERACTION = "late interaction"

# Whatever the limit, so that the top of the list does not change with it.
LINES = 60
DOCUMENTS = 40
LINE_HITS = 100  # from which the lines of documents are chosen

READ = 2000  # characters of each text: what follows is rarely why it was found, and takes as long to compare
TEXTS_KEPT = 20_000  # as their words, for the next question


def compare(vault: Vault, late: LateInteraction) -> Stage:
    """
    Late interaction: the best candidates are read again, by the meaning of their single words.

    A line counts by how well it covers the question's words, with what the lines around it lend, and where a
    number is asked for by holding one. A document counts by its best line. What was not read follows in its order.
    After a failure, named in ``trace.degraded``, the order stays as it was.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.forms.words or not work.legs.get(grains.LINE):
            return work  # nothing to compare with, or no line to compare
        read = _read_lines if request.unit is Unit.LINE else _read_documents
        try:
            return read(vault, late, request, work)
        except Exception as error:  # noqa: BLE001  no model may take the answer along
            trace.degraded[LATE_INTERACTION] = reason_of(error)
            return work

    return stage


def _read_lines(vault: Vault, late: LateInteraction, request: RetrievalRequest, work: Work) -> Work:
    head, tail = work.candidates[:LINES], work.candidates[LINES:]
    return work.with_candidates(_then(_refined(vault, late, head, request, work), tail))


def _read_documents(vault: Vault, late: LateInteraction, request: RetrievalRequest, work: Work) -> Work:
    head, tail = work.candidates[:DOCUMENTS], work.candidates[DOCUMENTS:]
    within = lines_located(vault, _narrowed(work))
    lines = _refined(vault, late, fused_lines(request, within)[:LINES], request, within)
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
    vault: Vault, late: LateInteraction, lines: Sequence[Candidate], request: RetrievalRequest, work: Work
) -> list[Candidate]:
    """*lines* with the relevance that a closer look gives them, in their order."""
    keys = [c.best for c in lines]
    texts = _texts(vault, work, around(keys))
    seen = late.compare(request.forms.words, [_distinct_words(text[:READ]) for text in texts.values()])
    closer = {grains.COVERAGE: covered(keys, dict(zip(texts, seen.nearest, strict=True)), seen.weights)}
    if asks_for_number(request.query):
        closer[grains.NUMBER] = {key: float(holds_number(texts.get(key, ""))) for key in keys}
    found = grains.refine(
        {c.best: c.legs for c in lines},
        closer,
        {*work.legs, grains.SPEAKER},
        grains.with_variants(grains.LINE_WEIGHTS, work.legs),
    )
    return [_seen_as(c, *found[c.best]) for c in lines]


def _then(head: Sequence[Candidate], tail: Sequence[Candidate]) -> list[Candidate]:
    """The head in its new order, then the tail, below it by as much as keeps its own order."""
    ranked = sorted(head, key=lambda c: (-c.relevance, c.best))
    share = min(1.0, ranked[-1].relevance / tail[0].relevance) if tail and tail[0].relevance else 0.0
    return [*ranked, *(_seen_as(c, c.relevance * share, c.legs) for c in tail)]


def _seen_as(candidate: Candidate, relevance: float, legs: Mapping[str, float]) -> Candidate:
    return replace(candidate, relevance=relevance, score=relevance, legs=legs)


def _shown_by(line: Candidate | None, document: Candidate) -> Candidate:
    return replace(document, best=line.best) if line else document


def _narrowed(work: Work) -> Work:
    """The best line hits alone: for a document only its best line counts."""
    return replace(work, legs={**work.legs, grains.LINE: work.legs.get(grains.LINE, ())[:LINE_HITS]})


def _best_lines(lines: Iterable[Candidate]) -> dict[int, Candidate]:
    best: dict[int, Candidate] = {}
    for line in sorted(lines, key=lambda c: (-c.relevance, c.best)):
        best.setdefault(line.document_id, line)
    return best


def _texts(vault: Vault, work: Work, keys: Iterable[FragmentKey]) -> dict[FragmentKey, str]:
    """The texts of the lines of *keys* that there are, each body read once."""
    wanted = sorted(keys)
    spans = located(vault, work, wanted).spans
    bodies = {number: vault.documents.body(number) or "" for number in {key.document_id for key in wanted}}
    return {
        key: bodies[key.document_id][spans[key].start : spans[key].end]
        for key in wanted
        if key in spans and spans[key].kind is FragmentKind.LINE
    }


@lru_cache(TEXTS_KEPT)
def _distinct_words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words(text)))
