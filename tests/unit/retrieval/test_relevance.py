"""The relevance model: probabilities that move the right way, whatever the numbers are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.relevance import (
    DEFAULT_FLOOR,
    LIKELY,
    POSSIBLE,
    Evidence,
    ResultPlace,
    answer_probability,
    family,
    place_probability,
)
from clawmem.domain.retrieval.relevance_weights import ANSWERED, ANSWERED_BY_WORDS, PLACED
from clawmem.domain.retrieval.requested import Shortfall

FINGERPRINTS = st.sampled_from([None, "unheard of", *ANSWERED])
EVIDENCE = st.builds(
    Evidence,
    line=st.floats(0, 200),
    unknown=st.floats(0, 1),
    entries=st.integers(0, 10**9),
    cosine=st.none() | st.floats(-1, 1),
    coverage=st.floats(0, 20),
    words=st.integers(0, 16),
    unmet=st.builds(
        Shortfall, st.floats(0, 1), st.floats(0, 2), st.floats(0, 1), st.sampled_from([0.0, 1.0, 4.0])
    ),
)


def test_the_one_note_of_a_vault_may_be_likely() -> None:
    """All of its words are frequent, so they count little; a word that it does not have stays unlikely."""
    held = Evidence(line=0.3, unknown=0.0, entries=3, cosine=0.4, coverage=1.0, whole=True)
    other = Evidence(line=0.0, unknown=1.0, entries=3, cosine=0.1, unmet=Shortfall(words=1.0))

    assert answer_probability(held, "wordllama:l2_supercat") > LIKELY
    assert answer_probability(other, "wordllama:l2_supercat") < POSSIBLE


@given(EVIDENCE, FINGERPRINTS)
def test_it_is_a_probability(evidence: Evidence, fingerprint: str | None) -> None:
    """Nothing that a leg can say leads out of [0, 1]."""
    assert 0 <= answer_probability(evidence, fingerprint) <= 1


@given(EVIDENCE, FINGERPRINTS, st.floats(0, 100), st.floats(0, 1), st.integers(0, 10**6))
def test_more_evidence_never_makes_it_less_likely(
    evidence: Evidence, fingerprint: str | None, line: float, unknown: float, entries: int
) -> None:
    """A better line, fewer unknown words, fewer entries to hit by chance: none of it lowers the probability."""
    before = answer_probability(evidence, fingerprint)

    assert answer_probability(evidence._replace(line=evidence.line + line), fingerprint) >= before
    assert answer_probability(evidence._replace(unknown=evidence.unknown * unknown), fingerprint) >= before
    assert answer_probability(evidence._replace(unmet=Shortfall()), fingerprint) >= before
    assert answer_probability(evidence._replace(coverage=evidence.coverage + line), fingerprint) >= before
    assert (
        answer_probability(evidence._replace(entries=max(0, evidence.entries - entries)), fingerprint)
        >= before
    )


@given(EVIDENCE, st.sampled_from(list(ANSWERED)), st.floats(-1, 1), st.floats(0, 1))
def test_a_nearer_passage_never_makes_it_less_likely(
    evidence: Evidence, fingerprint: str, cosine: float, more: float
) -> None:
    """With an embedder that the model was fitted for, the probability rises with the cosine."""
    far = answer_probability(evidence._replace(cosine=cosine), fingerprint)

    assert answer_probability(evidence._replace(cosine=cosine + more), fingerprint) >= far


@given(EVIDENCE)
def test_a_cosine_of_an_unknown_scale_says_nothing(evidence: Evidence) -> None:
    """An embedder that nothing was fitted for is as good as none."""
    by_words = answer_probability(evidence._replace(cosine=None))

    assert answer_probability(evidence, "unheard:of:1") == by_words


@given(st.floats(0, 1), st.integers(1, 1000), st.sampled_from(list(PLACED)))
def test_a_place_further_down_is_less_likely(relevance: float, rank: int, unit: str) -> None:
    """Of equal relevance the earlier one is the likelier answer, and both are probabilities."""
    place = ResultPlace(relevance, rank, unit)

    assert 0 <= place_probability(place._replace(rank=rank + 1)) <= place_probability(place) <= 1


@given(st.floats(0, 1), st.floats(0, 5), st.floats(0, 5), st.booleans(), st.sampled_from(list(PLACED)))
def test_more_of_the_question_never_makes_a_place_less_likely(
    relevance: float, coverage: float, more: float, is_name: bool, unit: str
) -> None:
    """A result that holds more of the question's rare words is no less likely."""
    place = ResultPlace(relevance, 1, unit, coverage, is_name)

    assert place_probability(place._replace(coverage=coverage + more)) >= place_probability(place)


def test_the_family_of_a_fingerprint_is_its_model_not_its_build() -> None:
    """Two builds of one model share a scale."""
    assert family("minilm:384:int8:mean-of-256:a:b") == family("minilm:384:float32:c") == "minilm:384"


@pytest.mark.parametrize("weights", [*ANSWERED.values(), ANSWERED_BY_WORDS, *PLACED.values()])
def test_no_weight_turns_its_sign(weights: tuple[float, ...]) -> None:
    """Only the bias may be negative; anything else would make good evidence count against an answer."""
    each = (weight for one in weights[1:] for weight in (one if isinstance(one, tuple) else (one,)))

    assert all(weight >= 0 for weight in each)


def test_the_floor_lies_where_more_speaks_for_than_against() -> None:
    """Strong evidence passes it, and none stays below it, in every model."""
    for fingerprint in (None, *ANSWERED):
        assert answer_probability(Evidence(20.0, 0.0, 1000, 0.6, 1.0, 6), fingerprint) > DEFAULT_FLOOR
        assert answer_probability(Evidence(0.0, 1.0, 1000, 0.1), fingerprint) < DEFAULT_FLOOR
