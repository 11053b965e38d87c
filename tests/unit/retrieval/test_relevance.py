"""The model of confidence: probabilities that move the right way, whatever the numbers are."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.relevance import (
    DEFAULT_FLOOR,
    FOREIGN_OTHERWISE,
    Evidence,
    ResultPlace,
    answer_probability,
    family,
    place_probability,
)
from clawmem.domain.retrieval.relevance_weights import ANSWERED, ANSWERED_BY_WORDS, PLACED

FINGERPRINTS = st.sampled_from([None, "unheard of", *ANSWERED])
EVIDENCE = st.builds(
    Evidence,
    shared=st.floats(0, 1),
    miss=st.floats(0, 100) | st.just(math.inf),
    specificity=st.floats(0, 200),
    entries=st.integers(0, 10**9),
    cosine=st.none() | st.floats(-1, 1),
    is_task=st.booleans(),
)


@given(EVIDENCE, FINGERPRINTS)
def test_it_is_a_probability(evidence: Evidence, fingerprint: str | None) -> None:
    """Nothing that is found leads out of [0, 1], and a question of function words has no answer."""
    assert 0 <= answer_probability(evidence, fingerprint) <= 1
    assert answer_probability(evidence._replace(specificity=0.0), fingerprint) == 0


@given(EVIDENCE, FINGERPRINTS, st.floats(0, 1), st.integers(0, 10**6))
def test_more_evidence_never_makes_it_less_likely(
    evidence: Evidence, fingerprint: str | None, more: float, entries: int
) -> None:
    """More equal words, a more telling question, fewer entries to hit by chance: none of it lowers the probability."""
    before = answer_probability(evidence, fingerprint)

    for better in (
        evidence._replace(shared=evidence.shared + more),
        evidence._replace(specificity=evidence.specificity + more),
        evidence._replace(miss=0.0),
        evidence._replace(entries=max(0, evidence.entries - entries)),
        evidence._replace(is_task=False),
    ):
        assert answer_probability(better, fingerprint) >= before


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
    assert answer_probability(evidence, "unheard:of:1") == answer_probability(evidence._replace(cosine=None))


@given(EVIDENCE)
def test_another_language_needs_the_words_or_a_nearer_passage(evidence: Evidence) -> None:
    """Cosines of two German texts are high, whatever they are about; equal words count as in English."""
    if evidence.cosine is None:
        return
    german, english = evidence._replace(language="de"), evidence._replace(language="en")
    nearer = german._replace(cosine=evidence.cosine + FOREIGN_OTHERWISE + 1e-9)  # for rounding
    static = next(iter(ANSWERED))
    by_words = answer_probability(evidence._replace(cosine=None), static)
    assert (
        by_words <= answer_probability(german, static) <= max(by_words, answer_probability(english, static))
    )
    assert answer_probability(nearer, static) >= answer_probability(english, static)


@given(st.floats(0, 1), st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1), st.sampled_from(list(PLACED)))
def test_a_worse_place_is_never_likelier(
    relevance: float, rank: int, share: float, gap: float, unit: str
) -> None:
    """Further down, with less of the question, or farther from it."""
    place = ResultPlace(relevance, rank, unit, share, gap)
    probability = place_probability(place)

    assert 0 <= probability <= 1
    for worse in (
        place._replace(rank=rank + 1),
        place._replace(coverage_share=share / 2),
        place._replace(cosine_gap=gap + 0.1),
    ):
        assert place_probability(worse) <= probability


def test_the_family_of_a_fingerprint_is_its_model_not_its_build() -> None:
    """Two builds of one model share a scale."""
    assert (
        family("bge-small:384:int8:mean-of-256:a:b") == family("bge-small:384:float32:c") == "bge-small:384"
    )


@pytest.mark.parametrize("weights", [*ANSWERED.values(), ANSWERED_BY_WORDS, *PLACED.values()])
def test_no_weight_turns_its_sign(weights: dict[str, float]) -> None:
    """Only the bias may be negative; anything else would make good evidence count against an answer."""
    assert all(weight >= 0 for name, weight in weights.items() if name != "bias")


@pytest.mark.parametrize("entries", [1, 10, 3000])
def test_the_floor_lies_where_more_speaks_for_than_against(entries: int) -> None:
    """Strong evidence passes it, and weak evidence stays below it, in every model and a vault of any size."""
    for fingerprint in (None, *ANSWERED):
        # Cosines of multilingual-e5 lie between 0.7 and 1.
        near, far = (0.9, 0.75) if fingerprint == "multilingual-e5:384" else (0.6, 0.1)
        strong = Evidence(shared=1.0, miss=0.0, specificity=60.0, entries=entries, cosine=near)
        weak = Evidence(shared=0.05, miss=15.0, specificity=20.0, entries=entries, cosine=far)

        assert answer_probability(strong, fingerprint) > DEFAULT_FLOOR > answer_probability(weak, fingerprint)
