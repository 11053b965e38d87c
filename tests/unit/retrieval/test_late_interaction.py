from __future__ import annotations

import math
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.grains import neighbours
from clawmem.domain.retrieval.late_interaction import (
    REACH,
    Rows,
    agreement,
    line_coverage,
    name_contributions,
    nearest_words,
)
from clawmem.ports.records import FragmentKey

WORDS = 3
NEAR = st.lists(st.floats(0, 1), min_size=WORDS, max_size=WORDS)
WEIGHTS = st.lists(st.floats(0.01, 10), min_size=WORDS, max_size=WORDS).map(
    lambda some: [weight / sum(some) for weight in some]
)
KEYS = st.builds(FragmentKey, st.integers(1, 2), st.integers(0, 8))
ROWS = st.dictionaries(KEYS, NEAR, max_size=12)


@given(st.lists(KEYS, max_size=6), ROWS, WEIGHTS)
def test_every_line_is_covered_to_some_extent(
    keys: list[FragmentKey], rows: dict[FragmentKey, list[float]], weights: list[float]
) -> None:
    """Exactly the lines that were asked for have a coverage, each in [0, 1], and no less than their own row."""
    found = line_coverage(keys, rows, weights)

    assert found.keys() == set(keys)
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in found.values())
    assert all(found[key] >= math.fsum(map(mul, weights, rows[key])) for key in found if key in rows)


@given(st.lists(KEYS, min_size=1, max_size=6), ROWS, WEIGHTS)
def test_only_what_lies_around_counts(
    keys: list[FragmentKey], rows: dict[FragmentKey, list[float]], weights: list[float]
) -> None:
    """Rows of lines that are not `neighbours` change nothing, so that nobody has to read them."""
    near = {key: row for key, row in rows.items() if key in neighbours(keys, REACH)}

    assert line_coverage(keys, near, weights) == line_coverage(keys, rows, weights)


# names


@given(st.integers(2, 20))
def test_a_name_that_all_documents_share_lends_nothing(count: int) -> None:
    """It tells no two of them apart; one that a single document has lends in full, one of several lends less."""
    names = {number: {"chat", *(["ann"] if number < 2 else []), f"n{number}"} for number in range(count)}
    lent = name_contributions(["chat", "ann", "n0"], names)

    assert lent[0][0] == 0.0
    assert lent[0][2] == 1.0
    assert 0.0 <= lent[0][1] < 1.0


ROW_WORDS = st.lists(st.integers(0, 2**16 - 1), max_size=6).map(tuple)
BITS = st.integers(0, 2**16 - 1)


@given(BITS, BITS)
def test_agreement_is_the_same_both_ways_and_in_its_bounds(one: int, other: int) -> None:
    assert agreement(one, other, 16) == agreement(other, one, 16)
    assert 0.0 <= agreement(one, other, 16) <= agreement(one, one, 16) == 1.0


@given(ROW_WORDS, ROW_WORDS)
def test_nearest_words_takes_the_best(asked: tuple[int, ...], written: tuple[int, ...]) -> None:
    """For each word of the question the best agreement; a line with more words is no further away."""
    seen = nearest_words(Rows(16, 0, asked), Rows(16, 0, written))

    assert seen == tuple(max((agreement(a, w, 16) for w in written), default=0.0) for a in asked)
    more = nearest_words(Rows(16, 0, asked), Rows(16, 0, (*written, 7)))
    assert all(after >= before for before, after in zip(seen, more, strict=True))


def test_signs_tell_the_angle() -> None:
    """Of many signs the share that agrees is the angle's: 60 degrees apart are two thirds of the signs."""
    from random import Random

    random, bits = Random(5), 4096
    one = other = 0
    for _ in range(bits):
        x, y = random.gauss(0, 1), random.gauss(0, 1)
        one = one << 1 | (x > 0)
        other = other << 1 | (math.cos(math.pi / 3) * x + math.sin(math.pi / 3) * y > 0)

    assert agreement(one, other, bits) == pytest.approx(1 - 2 / 3, abs=0.04)
