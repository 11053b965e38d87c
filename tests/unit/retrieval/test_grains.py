from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.grains import (
    DOCUMENT,
    DOCUMENT_WEIGHTS,
    LINE,
    PASSAGE,
    VECTOR,
    Fused,
    fuse_documents,
    fuse_lines,
    neighbours,
    spread,
)
from clawmem.ports.records import FragmentKey, FragmentKind, Hit, Span


def hits(*given_hits: tuple[int, int, float]) -> list[Hit]:
    return [Hit(FragmentKey(document_id, seq), score) for document_id, seq, score in given_hits]


def line(document_id: int, seq: int, label: str = "") -> Span:
    """A line of ten characters; the next one follows it directly."""
    start = seq * 10
    return Span(FragmentKey(document_id, seq), FragmentKind.LINE, seq, seq, start, start + 10, label)


def spans(*given_spans: Span) -> dict[FragmentKey, Span]:
    return {span.key: span for span in given_spans}


SCORES = st.floats(0, 50) | st.just(1.0)
KEYS = st.tuples(st.integers(1, 4), st.integers(0, 6))
HITS = st.dictionaries(KEYS, SCORES, max_size=12).map(
    lambda found: [Hit(FragmentKey(*key), score) for key, score in found.items()]
)
LEGS = st.dictionaries(st.sampled_from([LINE, PASSAGE, DOCUMENT, VECTOR, "unknown"]), HITS, max_size=6)
ALL_LINES = spans(*(line(d, s, label="Ann" if s % 2 else "") for d in range(1, 5) for s in range(7)))
ALL_LABELS = {key: span.label for key, span in ALL_LINES.items() if span.label}
TENTHS = [n / 10 for n in range(1, 11)]
SPEAKERS = st.sampled_from([(), ("ann",), ("bob",)])
WEIGHTS = st.just(DOCUMENT_WEIGHTS) | st.fixed_dictionaries(
    {name: st.floats(0.01, 10) for name in (LINE, PASSAGE, DOCUMENT, VECTOR)}
)


# spread


@given(st.dictionaries(KEYS.map(lambda key: FragmentKey(*key)), st.floats(0, 100)), st.floats(0, 1))
def test_spreading_adds_twice_the_share(scores: dict[FragmentKey, float], part: float) -> None:
    """Nothing is lost and nothing else is made; no line comes down."""
    found = spread(scores, part)

    assert math.isclose(sum(found.values()), sum(scores.values()) * (1 + 2 * part), abs_tol=1e-9)
    assert all(found[key] >= score for key, score in scores.items())
    assert all(key in found for key in scores)


# Documents


def ranked(found: Iterable[Fused]) -> list[int]:
    return [fused.best.document_id for fused in found]


def test_the_cosine_of_a_long_document_counts_less() -> None:
    """One of its many passages is near by chance."""
    legs = {VECTOR: hits((1, 0, 0.41), (2, 0, 0.40), (3, 0, 0.1))}

    assert ranked(fuse_documents(legs)) == [1, 2, 3]
    assert ranked(fuse_documents(legs, lengths={1: 20_000, 2: 500, 3: 500})) == [2, 1, 3]


def test_relevance_is_never_above_one() -> None:
    """Not by a rounding error either, whatever the weights."""
    names = (LINE, PASSAGE, DOCUMENT, VECTOR)
    tenths = [dict(zip(names, (a, b, 0.7, c), strict=True)) for a, b, c in product(TENTHS, repeat=3)]
    legs = {name: hits((1, 1, 1.0)) for name in names}

    assert all(fuse_documents(legs, weights=weights)[0].relevance <= 1.0 for weights in tenths)


@given(LEGS, WEIGHTS, SPEAKERS)
def test_documents_obey_the_laws_of_a_ranking(
    legs: dict[str, list[Hit]], weights: dict[str, float], speakers: tuple[str, ...]
) -> None:
    """Each found document once, best first, ties by number, relevance the weighted mean of the parts."""
    found = fuse_documents(legs, ALL_LABELS, weights, speakers)
    taking_part = {name: weights[name] for name in legs if name in weights}
    order = [(-fused.relevance, fused.best.document_id) for fused in found]

    assert order == sorted(order)
    assert {hit.key.document_id for name in taking_part for hit in legs[name]} == set(ranked(found))
    for fused in found:
        mean = sum(weights[name] * part for name, part in fused.parts.items()) / sum(taking_part.values())
        assert fused.relevance == pytest.approx(mean)
        assert 0.0 <= fused.relevance <= 1.0
        assert all(0.0 < part <= 1.0 for part in fused.parts.values())
        assert fused.best in {hit.key for name in taking_part for hit in legs[name]}


@given(LEGS, SPEAKERS)
def test_the_order_of_the_legs_does_not_matter(legs: dict[str, list[Hit]], speakers: tuple[str, ...]) -> None:
    """The same answers with the same relevance."""
    backwards = dict(reversed(legs.items()))

    assert fuse_documents(legs, ALL_LABELS, speakers=speakers) == fuse_documents(
        backwards, ALL_LABELS, speakers=speakers
    )
    assert fuse_lines(legs, ALL_LINES, speakers=speakers) == fuse_lines(
        backwards, ALL_LINES, speakers=speakers
    )


# Lines


@given(LEGS, SPEAKERS)
def test_lines_obey_the_laws_of_a_ranking(legs: dict[str, list[Hit]], speakers: tuple[str, ...]) -> None:
    """Hits and their neighbours, each once, best first, ties in reading order, relevance from 0 to 1."""
    found = fuse_lines(legs, ALL_LINES, speakers=speakers)
    order = [(-fused.relevance, fused.best) for fused in found]

    assert order == sorted(order)
    assert {fused.best for fused in found} == neighbours(
        hit.key for hit in legs.get(LINE, ())
    ) & ALL_LINES.keys()
    assert all(0.0 <= fused.relevance <= 1.0 for fused in found)
    assert all(0.0 < part <= 1.0 for fused in found for part in fused.parts.values())
