"""
Fusion of the scores of several indexes for the same text at several granularities.

Each retriever's scores are scaled by its best result and added with fixed weights. On conversations, the sum of line,
passage and document scores improves results more than any embedder and needs no model.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from clawmem.domain.retrieval.fusion import min_max
from clawmem.domain.retrieval.relevance import family
from clawmem.domain.text.words import words
from clawmem.ports.records import FragmentKey, FragmentKind, Hit, Span

Item = TypeVar("Item", int, FragmentKey)
Hits = Mapping[str, Sequence[Hit]]  # by retriever

LINE, PASSAGE, DOCUMENT, VECTOR = "line", "passage", "document", "vector"
SPEAKER = "speaker"  # the line's speaker is named in the question
TIME = "time"  # the document was written in the time that the question names
PRECISE = "precise"  # the text contains every word of a question that is a name
COVERAGE = "coverage"  # similarity of the line to the words of the question
BEST_LINE = "best line"  # the final relevance of the document's best line

# Weights of the retrievers, for results that are documents and for results that are lines. Fitted together on two
# chat collections for lines and on a chat and an abstract collection for documents, then rounded. The ablation in
# docs/benchmarks.md leaves out each one in turn.
DOCUMENT_WEIGHTS = MappingProxyType(
    {BEST_LINE: 2.0, LINE: 1.0, PASSAGE: 1.0, DOCUMENT: 1.0, PRECISE: 4.0, VECTOR: 0.7, TIME: 0.8}
)
LINE_WEIGHTS = MappingProxyType(
    {
        LINE: 0.5,
        PASSAGE: 0.2,
        DOCUMENT: 0.5,
        VECTOR: 0.2,
        SPEAKER: 0.6,
        COVERAGE: 1.0,
        TIME: 0.7,
        PRECISE: 3.0,
    }
)
# Weight of the vectors of documents, by family of embedders; biologist, LoCoMo and the vaults of `tests/data` are flat
# around it, and none is best above 3.5.
VECTOR_WEIGHTS = MappingProxyType({"bge-small:384": 2.2})
VARIANT_MARK = "~"  # "vector~1": results of the vector retriever for the first query variant

# A chat turn depends on its neighbours: a question is answered in the next line, "it" refers to the previous one.
# Distinguishing lines of one document needs a larger share than distinguishing documents.
LINE_NEIGHBOUR_SHARE = 0.4
DOCUMENT_NEIGHBOUR_SHARE = 0.1

SPEAKER_LIFT = 0.3  # relative increase of a line's score if the question names its speaker

# The nearest of many passages is near by chance: cosine that a note loses for its length, and the length that counts as one.
CHANCE, CHANCE_LENGTH = 0.02, 1000

_WITHOUT_ZERO = frozenset({VECTOR, COVERAGE})

DEPTH = 100  # results that are computed; the maximum limit of a search


class Fused(NamedTuple):
    """
    One result: the contribution of each retriever, and the fragment that best shows the match.

    ``relevance`` is the weighted mean of the contributions, in [0, 1]; 1 is the best result of every retriever.
    """

    best: FragmentKey
    relevance: float
    parts: Mapping[str, float] = MappingProxyType({})


def retriever_of(name: str) -> str:
    """Return the retriever of a name, without a variant: ``document`` for ``document~1`` and ``document``."""
    return name.partition(VARIANT_MARK)[0]


def document_weights(space: str, names: Iterable[str] = ()) -> dict[str, float]:
    """Return the weights of retrievers for documents, completed for the query variants among *names*."""
    weights = {**DOCUMENT_WEIGHTS, VECTOR: VECTOR_WEIGHTS.get(family(space), DOCUMENT_WEIGHTS[VECTOR])}
    return with_variants(weights, names)


def with_variants(weights: Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    """Return *weights*, completed for the query variants among *names*: half the weight of their retriever."""
    halves = {name: weights[retriever_of(name)] / 2 for name in names if retriever_of(name) in weights}
    return {**halves, **weights}


def neighbours(keys: Iterable[FragmentKey], reach: int = 1) -> set[FragmentKey]:
    """Return *keys*, and the keys of the lines up to *reach* before and after each, whether or not these exist."""
    steps = range(-reach, reach + 1)
    return {FragmentKey(key.document_id, key.seq + step) for key in keys for step in steps}


def spread(lines: Mapping[FragmentKey, float], share: float) -> dict[FragmentKey, float]:
    """Return scores where each line passes *share* of its score on to the lines directly before and after it."""
    spread_out = dict(lines)
    for (document_id, seq), score in lines.items():
        for neighbour in (FragmentKey(document_id, seq - 1), FragmentKey(document_id, seq + 1)):
            spread_out[neighbour] = spread_out.get(neighbour, 0.0) + share * score
    return spread_out


def fuse_documents(
    legs: Hits,
    labels: Mapping[FragmentKey, str] = MappingProxyType({}),
    weights: Mapping[str, float] = DOCUMENT_WEIGHTS,
    speakers: Collection[str] = (),
    lengths: Mapping[int, int] = MappingProxyType({}),
) -> list[Fused]:
    """
    Rank documents by the best fragment that each retriever found in them: by relevance descending, then id.

    Args:
        labels: Speakers of the lines among the hits.
        weights: Weights by retriever; a retriever without one is ignored.
        speakers: Lower-case names; the score of a line by one of them is increased.
        lengths: Characters of the documents. The cosine of a long document counts less.
    """
    best: dict[str, dict[int, FragmentKey]] = {}
    scaled: dict[str, dict[int, float]] = {}
    for name in (name for name in legs if name in weights):
        scores = {hit.key: hit.score for hit in legs[name]}
        if name == LINE:
            near = spread(scores, DOCUMENT_NEIGHBOUR_SHARE)
            lift = {key: 1 + SPEAKER_LIFT * (_speaker(labels.get(key, "")) in speakers) for key in scores}
            scores = {key: near[key] * lift[key] for key in scores}
        elif retriever_of(name) == VECTOR:
            scores = {
                key: score - CHANCE * math.log1p(lengths.get(key.document_id, 0) / CHANCE_LENGTH)
                for key, score in scores.items()
            }
        best[name] = {}
        for key in sorted(scores, key=scores.__getitem__, reverse=True):
            best[name].setdefault(key.document_id, key)
        scaled[name] = _scaled(name, {number: scores[key] for number, key in best[name].items()})
    narrowest = [name for name in (LINE, PASSAGE, VECTOR, DOCUMENT, *best) if name in best]
    return _fused(scaled, weights, lambda n: next(best[name][n] for name in narrowest if n in best[name]))


def fuse_lines(
    legs: Hits,
    spans: Mapping[FragmentKey, Span],
    weights: Mapping[str, float] = LINE_WEIGHTS,
    speakers: Collection[str] = (),
) -> list[Fused]:
    """
    Rank lines by their own words, their neighbours', the passages that contain them, and their document.

    Args:
        legs: Hits by retriever; those of passages and vectors count for every line they overlap.
        spans: Positions of all hits, and of the existing neighbours of line hits.
    """
    scores = {hit.key: hit.score for hit in legs.get(LINE, ())}
    lines = {
        key: score
        for key, score in spread(scores, LINE_NEIGHBOUR_SHARE).items()
        if key in spans and (key in scores or spans[key].kind is FragmentKind.LINE)
    }
    parts: dict[str, dict[FragmentKey, float]] = {LINE: _scaled(LINE, lines)}
    for name in (name for name in legs if name in weights and name != LINE):
        if retriever_of(name) in (DOCUMENT, TIME):
            whole = _scaled(name, {hit.key.document_id: hit.score for hit in legs[name]})
            parts[name] = {key: share for key in lines if (share := whole.get(key.document_id))}
            continue
        shares = _scaled(name, {hit.key: hit.score for hit in legs[name]})
        found = {key: share for key, share in shares.items() if key in spans}
        if name == PRECISE:
            parts[name] = found
            continue
        wider: defaultdict[int, list[tuple[Span, float]]] = defaultdict(list)
        for key, share in found.items():
            wider[key.document_id].append((spans[key], share))
        parts[name] = {}
        for key in lines:
            line, around = spans[key], wider.get(key.document_id, ())
            covering = (share for span, share in around if span.start < line.end and line.start < span.end)
            if best := max(covering, default=0.0):
                parts[name][key] = best
    if speakers and SPEAKER in weights:
        parts[SPEAKER] = {key: 1.0 for key in lines if _speaker(spans[key].label) in speakers}
    return _fused(parts, weights, lambda key: key)


def refine(
    found: Mapping[Item, Mapping[str, float]],
    closer: Mapping[str, Mapping[Item, float]],
    took_part: Collection[str],
    weights: Mapping[str, float],
) -> dict[Item, tuple[float, dict[str, float]]]:
    """
    Return for each item of *found* its relevance and contributions, with additional signals that only the best results
    have.

    Args:
        found: The contributions so far, by item.
        closer: The new signals by name, then item; scaled like those of a retriever. One without a weight is ignored.
        took_part: The retrievers behind *found*, including those that contributed nothing.
    """
    scaled: dict[str, dict[Item, float]] = {
        name: _scaled(name, scores) for name, scores in closer.items() if name in weights
    }
    total = math.fsum(weights[name] for name in {*took_part, *scaled} & weights.keys()) or 1.0
    refined = {}
    for item, before in found.items():
        new = {name: scores[item] for name, scores in scaled.items() if scores.get(item)}
        parts = {**before, **new}
        relevance = math.fsum(weights[name] * score for name, score in parts.items() if name in weights)
        refined[item] = min(1.0, relevance / total), parts
    return refined


@lru_cache(4096)  # thousands of lines have few distinct speakers
def _speaker(label: str) -> str:
    return next(iter(words(label)), "")


def _scaled(name: str, scores: Mapping[Item, float]) -> dict[Item, float]:
    # BM25 has a true zero. Cosines of one question are in a narrow band, so only their position in it matters.
    return min_max(scores, floor=None if retriever_of(name) in _WITHOUT_ZERO else 0.0)


def _fused(
    scaled: Mapping[str, Mapping[Item, float]],
    weights: Mapping[str, float],
    best: Callable[[Item], FragmentKey],
) -> list[Fused]:
    total = math.fsum(weights[name] for name in scaled) or 1.0  # exact, so independent of the order
    parts: defaultdict[Item, dict[str, float]] = defaultdict(dict)
    for name, scores in scaled.items():
        for item, score in scores.items():
            parts[item][name] = score
    relevance = {
        item: min(1.0, math.fsum(weights[name] / total * score for name, score in own.items()))
        for item, own in parts.items()
    }
    ranked = sorted(relevance, key=lambda item: (-relevance[item], item))[:DEPTH]
    return [
        Fused(best(item), relevance[item], {name: score for name, score in parts[item].items() if score})
        for item in ranked
    ]
