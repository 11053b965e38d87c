from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.late_interaction import Rows, agreement, nearest_words, read_rows

WORDS = st.lists(st.integers(0, 2**16 - 1), max_size=6).map(tuple)
BITS = st.integers(0, 2**16 - 1)


@pytest.mark.parametrize(("sketch", "dimensions"), [(b"abc", 16), (b"ab", 12), (b"ab", 0)])
def test_half_a_row_is_refused(sketch: bytes, dimensions: int) -> None:
    with pytest.raises(ValueError, match="does not consist of rows of"):
        read_rows(sketch, dimensions)


@given(BITS, BITS)
def test_agreement_is_the_same_both_ways_and_in_its_bounds(one: int, other: int) -> None:
    assert agreement(one, other, 16) == agreement(other, one, 16)
    assert 0.0 <= agreement(one, other, 16) <= agreement(one, one, 16) == 1.0


@given(WORDS, WORDS)
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
