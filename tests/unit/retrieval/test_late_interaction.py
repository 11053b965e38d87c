from __future__ import annotations

import math
from operator import mul

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.grains import neighbours
from clawmem.domain.retrieval.late_interaction import REACH, line_coverage, name_contributions
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
