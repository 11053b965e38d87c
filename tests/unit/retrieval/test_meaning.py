"""The share of the vectors for a question in other words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import COVERED, COVERED_OTHERWISE, meaning_share

COVERAGES = st.floats(0, 5)
MODELS = {
    "bge-small:384:int8:x": COVERED["bge-small:384"],
    "wordllama:l2": COVERED_OTHERWISE,
    "": COVERED_OTHERWISE,
}


@pytest.mark.parametrize(("model", "covered"), MODELS.items())
def test_the_share_falls_to_nothing_where_words_suffice(model: str, covered: float) -> None:
    """Without a matching word vectors decide alone; from the bound of the model on, not at all."""
    assert meaning_share(0.0, model) == 1.0
    assert meaning_share(covered / 2, model) == pytest.approx(0.5)
    assert meaning_share(covered - 0.01, model) > 0.0 == meaning_share(covered, model)


@given(COVERAGES, COVERAGES, st.sampled_from(sorted(MODELS)))
def test_more_words_never_mean_more_vectors(one: float, other: float, model: str) -> None:
    """The share falls with the coverage and stays in [0, 1]."""
    less, more = sorted((one, other))

    assert 1.0 >= meaning_share(less, model) >= meaning_share(more, model) >= 0.0
