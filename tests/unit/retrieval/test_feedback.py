from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.feedback import feedback_terms

words = st.sampled_from(["kettle", "steam", "spout", "the", "a", "tea"])
texts = st.lists(words, max_size=8).map(" ".join)
answers = st.lists(st.tuples(texts, st.floats()), max_size=12)


@given(st.lists(words, max_size=4), answers, st.floats(0, 1))
def test_weights_add_up_to_one(question: list[str], found: list[tuple[str, float]], share: float) -> None:
    """Weights are positive, fall, add up to 1 unless there is nothing, and no term stands twice."""
    weighted = feedback_terms(question, found, share=share)

    weights = [weight for _, weight in weighted]
    assert weights == sorted(weights, reverse=True)
    assert all(weight > 0 for weight in weights)
    assert math.fsum(weights) == pytest.approx(1.0) if weights else not question
    assert len({term for term, _ in weighted}) == len(weighted)


@given(st.lists(words, min_size=1, max_size=4), answers)
def test_the_question_keeps_its_half(question: list[str], found: list[tuple[str, float]]) -> None:
    """However much the answers say, the question's own words weigh one half together at least."""
    weighted = dict(feedback_terms(question, found))

    assert math.fsum(weighted[word] for word in set(question)) >= 0.5 - 1e-12


@given(answers, st.floats(1e-3, 1e3))
def test_only_the_proportion_of_scores_matters(found: list[tuple[str, float]], factor: float) -> None:
    """Scores may be of any scale: twice as much for all is the same."""
    sane = [(text, score) for text, score in found if 1e-100 < score < 1e100]
    before = dict(feedback_terms(["kettle"], sane, terms=100))
    after = dict(feedback_terms(["kettle"], [(text, score * factor) for text, score in sane], terms=100))

    assert after == pytest.approx(before)
