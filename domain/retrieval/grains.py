"""
Adding up what several indexes say about the same text at several grains.

Each leg's scores are scaled by its own best answer and added with fixed weights. The sum of line, passage,
section and whole document is worth more than any embedder adds on conversations, and costs no model; equal
weights for documents lost nothing on any development collection, so they are not tuned further.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from clawmem.domain.retrieval.fusion import min_max
from clawmem.ports.records import FragmentKey, FragmentKind, Hit, Span

Item = TypeVar("Item", int, FragmentKey)
Scores = dict[FragmentKey, float]
Legs = Mapping[str, Sequence[Hit]]

LINE, PASSAGE, SECTION, DOCUMENT, VECTOR, SPEAKER = (
    "line",
    "passage",
    "section",
    "document",
    "vector",
    "speaker",
)

# Which leg counts how much, for an answer that is a document and for one that is a line.
DOCUMENT_WEIGHTS = MappingProxyType({LINE: 1.0, PASSAGE: 1.0, DOCUMENT: 1.0, VECTOR: 0.5})
LINE_WEIGHTS = MappingProxyType({LINE: 1.0, PASSAGE: 0.3, DOCUMENT: 0.5, VECTOR: 0.3, SPEAKER: 0.2})

# A turn is understood by its neighbours: a question is answered in the next line, "it" stands for the last.
NEIGHBOUR_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Fused:
    """
    One answer: what each leg contributed, and the fragment that shows best why.

    ``relevance`` is the weighted mean of the contributions, in [0, 1]; 1 is the best answer of every leg.
    """

    best: FragmentKey
    relevance: float
    parts: Mapping[str, float] = field(default_factory=dict)


def spread(lines: Mapping[FragmentKey, float], share: float = NEIGHBOUR_SHARE) -> Scores:
    """
    Give each line *share* of what the lines directly before and after it score.

    Returns scores for every given key and for the keys next to them, whether or not such a line exists.
    """
    spread_out = dict(lines)
    for (document_id, seq), score in lines.items():
        for beside in (FragmentKey(document_id, seq - 1), FragmentKey(document_id, seq + 1)):
            spread_out[beside] = spread_out.get(beside, 0.0) + share * score
    return spread_out


def fuse_documents(legs: Legs, weights: Mapping[str, float] = DOCUMENT_WEIGHTS) -> list[tuple[int, Fused]]:
    """
    Rank documents: each leg counts with the best fragment that it found in the document.

    A document without sections is its own section: where a leg of sections took part and is silent about
    a document, the whole document's score stands in.

    Returns:
        (document id, fused) by relevance descending, then id.
    """
    best = {name: _best_of_document(_prepared(name, hits)) for name, hits in legs.items() if name in weights}
    scaled = {
        name: _scaled(name, {k: score for k, (score, _) in found.items()}) for name, found in best.items()
    }
    if SECTION in scaled and DOCUMENT in scaled:
        scaled[SECTION] = {**scaled[DOCUMENT], **scaled[SECTION]}
    total = sum(weights[name] for name in scaled) or 1.0
    fused = [
        (document_id, _fuse(_shown(best, document_id), scaled, document_id, weights, total))
        for document_id in {document_id for found in best.values() for document_id in found}
    ]
    return sorted(fused, key=lambda item: (-item[1].relevance, item[0]))


def fuse_lines(
    legs: Legs,
    spans: Mapping[FragmentKey, Span],
    weights: Mapping[str, float] = LINE_WEIGHTS,
    speakers: Collection[str] = (),
) -> list[Fused]:
    """
    Rank lines: each with its own words and its neighbours', the passages it lies in, and its document.

    Args:
        legs: Hits by leg; those of the passage and vector legs count for every line they overlap.
        spans: Where the fragments lie: of all hits, and of the neighbours of line hits that exist.
        weights: By leg name, and ``speaker``.
        speakers: Lower-case names; a line that one of them says is lifted.

    Returns:
        By relevance descending, then key.
    """
    lines = {
        key: score
        for key, score in spread({hit.key: hit.score for hit in legs.get(LINE, ())}).items()
        if key in spans and spans[key].kind is FragmentKind.LINE
    }
    parts: dict[str, dict[FragmentKey, float]] = {LINE: _scaled(LINE, lines)}
    for name in (PASSAGE, VECTOR):
        if name in legs:
            parts[name] = _onto_lines(_scaled(name, {h.key: h.score for h in legs[name]}), lines, spans)
    if DOCUMENT in legs:
        whole = _scaled(DOCUMENT, {h.key.document_id: h.score for h in legs[DOCUMENT]})
        parts[DOCUMENT] = {key: whole.get(key.document_id, 0.0) for key in lines}
    if speakers:
        parts[SPEAKER] = {key: float(_says(spans[key], speakers)) for key in lines}
    total = sum(weights.get(name, 0.0) for name in parts) or 1.0
    fused = [_fuse(key, parts, key, weights, total) for key in lines]
    return sorted(fused, key=lambda item: (-item.relevance, item.best))


def neighbours(hits: Iterable[Hit]) -> set[FragmentKey]:
    """The keys of *hits* and of the lines directly before and after each."""
    return {FragmentKey(h.key.document_id, h.key.seq + step) for h in hits for step in (-1, 0, 1)}


def named_speakers(query_words: Collection[str]) -> frozenset[str]:
    """
    Who a question is about, as far as its words say: any word may be a name, and "I" is the user.

    A speaker is matched by the first word of the name; roles of chat transcripts count as names.
    """
    first_person = {"i", "my", "me", "mine", "we", "our", "us"}
    return frozenset(query_words) | (frozenset({"user"}) if first_person & set(query_words) else frozenset())


def _says(span: Span, speakers: Collection[str]) -> bool:
    return bool(span.label) and span.label.lower().split()[0] in speakers


def _prepared(name: str, hits: Sequence[Hit]) -> Scores:
    scores = {hit.key: hit.score for hit in hits}
    if name != LINE:
        return scores
    spread_out = spread(scores)
    return {key: spread_out[key] for key in scores}


def _best_of_document(scores: Scores) -> dict[int, tuple[float, FragmentKey]]:
    best: dict[int, tuple[float, FragmentKey]] = {}
    for key, score in scores.items():
        if key.document_id not in best or score > best[key.document_id][0]:
            best[key.document_id] = (score, key)
    return best


def _scaled(name: str, scores: Mapping[Item, float]) -> dict[Item, float]:
    # BM25 has a true zero. Cosines of one question lie in a narrow band: only where in it says something.
    return min_max(scores, floor=None if name == VECTOR else 0.0)


def _shown(best: Mapping[str, Mapping[int, tuple[float, FragmentKey]]], document_id: int) -> FragmentKey:
    for name in (LINE, PASSAGE, VECTOR, SECTION, DOCUMENT):
        if document_id in best.get(name, {}):
            return best[name][document_id][1]
    raise KeyError(document_id)


def _fuse(
    best: FragmentKey,
    scaled: Mapping[str, Mapping[Item, float]],
    item: Item,
    weights: Mapping[str, float],
    total: float,
) -> Fused:
    parts = {name: scores[item] for name, scores in scaled.items() if scores.get(item)}
    relevance = sum(weights.get(name, 0.0) * score for name, score in parts.items()) / total
    return Fused(best, relevance, parts)


def _onto_lines(
    scores: Mapping[FragmentKey, float], lines: Collection[FragmentKey], spans: Mapping[FragmentKey, Span]
) -> Scores:
    """The best score of the wider fragments that each line lies in."""
    wider: dict[int, list[tuple[int, int, float]]] = {}
    for key, score in scores.items():
        span = spans.get(key)
        if span:
            wider.setdefault(key.document_id, []).append((span.start, span.end, score))
    return {key: _covering(spans[key], wider.get(key.document_id, ())) for key in lines}


def _covering(line: Span, wider: Iterable[tuple[int, int, float]]) -> float:
    return max((score for start, end, score in wider if start < line.end and line.start < end), default=0.0)
