"""A list that is looked at again, and legs that asked in other words."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.grains import (
    BEST_LINE,
    COVERAGE,
    DOCUMENT,
    DOCUMENT_WEIGHTS,
    LINE,
    LINE_WEIGHTS,
    PASSAGE,
    TIME,
    VECTOR,
    fuse_documents,
    fuse_lines,
    refine,
    with_variants,
)
from clawmem.ports.records import FragmentKey, FragmentKind, Hit, Span

NAMES = (LINE, PASSAGE, DOCUMENT, VECTOR, TIME, "document~1", "vector~2", "precise")
PARTS = st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1), max_size=5)
FOUND = st.dictionaries(st.integers(1, 9), PARTS, max_size=6)
SCORES = st.dictionaries(
    st.integers(1, 9), st.floats(0, 50) | st.sampled_from([math.nan, math.inf]), max_size=9
)
CLOSER = st.dictionaries(st.sampled_from([COVERAGE, BEST_LINE, "unknown"]), SCORES, max_size=4)
TOOK_PART = st.sets(st.sampled_from(NAMES))
WEIGHTS = st.sampled_from([DOCUMENT_WEIGHTS, LINE_WEIGHTS]).map(lambda usual: with_variants(usual, NAMES))
KEYS = st.builds(FragmentKey, st.integers(1, 4), st.integers(0, 6))
HITS = st.dictionaries(KEYS, st.floats(0, 50), max_size=12).map(
    lambda found: [Hit(key, score) for key, score in found.items()]
)
LEGS = st.dictionaries(st.sampled_from(NAMES), HITS, max_size=6)
SPANS = {
    FragmentKey(d, s): Span(FragmentKey(d, s), FragmentKind.LINE, s, s, s * 10, s * 10 + 10)
    for d in range(1, 5)
    for s in range(7)
}

Found = dict[int, dict[str, float]]
Seen = dict[str, dict[int, float]]
Weights = Mapping[str, float]


# refine


@given(LEGS)
def test_documents_without_a_closer_look_stay(legs: dict[str, list[Hit]]) -> None:
    """When nothing more was seen of the documents, each has the relevance that fusing gave it."""
    weights = with_variants(DOCUMENT_WEIGHTS, legs)
    fused = fuse_documents(legs, weights=weights)

    found = refine({one.best.document_id: one.parts for one in fused}, {}, legs.keys(), weights)

    numbers = [one.best.document_id for one in fused]
    assert [found[number][0] for number in numbers] == pytest.approx([one.relevance for one in fused])
    assert [found[number][1] for number in numbers] == [one.parts for one in fused]


@given(LEGS)
def test_lines_without_a_closer_look_stay(legs: dict[str, list[Hit]]) -> None:
    """The same of lines: what took part is the same, the lines themselves included."""
    weights = with_variants(LINE_WEIGHTS, legs)
    fused = fuse_lines(legs, SPANS, weights)

    found = refine({one.best: one.parts for one in fused}, {}, {*legs, LINE}, weights)

    assert [found[one.best][0] for one in fused] == pytest.approx([one.relevance for one in fused])


@given(FOUND, CLOSER, TOOK_PART, WEIGHTS)
def test_relevance_lies_in_its_bounds(
    found: Found, closer: Seen, took_part: set[str], weights: Weights
) -> None:
    """Whatever was seen, every item of the list and no other has a relevance in [0, 1]."""
    refined = refine(
        found, closer, {*took_part, *(name for parts in found.values() for name in parts)}, weights
    )

    assert refined.keys() == found.keys()
    assert all(0.0 <= relevance <= 1.0 for relevance, _ in refined.values())


@given(FOUND, SCORES, st.floats(0.001, 1000), WEIGHTS)
def test_what_a_closer_look_counts_in_is_no_matter(
    found: Found, seen: dict[int, float], unit: float, weights: Weights
) -> None:
    """Scores of a leg that are all twice as large say the same."""
    before = refine(found, {COVERAGE: seen}, NAMES, weights)

    other = {item: score * unit for item, score in seen.items()}
    after = refine(found, {COVERAGE: other}, NAMES, weights)

    assert [after[item][0] for item in found] == pytest.approx([before[item][0] for item in found], abs=1e-6)


@given(FOUND, SCORES, SCORES)
def test_only_items_of_the_list_count(found: Found, seen: dict[int, float], others: dict[int, float]) -> None:
    """What was seen of an item that is not on the list adds none, and lifts nothing above the best."""
    refined = refine(found, {BEST_LINE: {**others, **seen}}, NAMES, DOCUMENT_WEIGHTS)

    assert refined.keys() == found.keys()
    assert all(parts.get(BEST_LINE, 0.0) <= 1.0 for _, parts in refined.values())


# legs in other words


def test_other_words_are_added_at_half() -> None:
    """A document found by other words alone is worth half of one that the question itself found."""
    legs = {DOCUMENT: [Hit(FragmentKey(1, 0), 2.0)], "document~1": [Hit(FragmentKey(2, 0), 9.0)]}

    first, second = fuse_documents(legs, weights=with_variants(DOCUMENT_WEIGHTS, legs))

    assert first.relevance == pytest.approx(2 * second.relevance)
    assert math.isclose(first.relevance + second.relevance, 1.0)
