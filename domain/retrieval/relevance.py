"""
Answerability: the probability that a result answers the question, absolute and comparable between questions.

It is the product of two small logistic models. The first uses the strength of the evidence and gives the probability
that any result answers. All other scores are relative to the best result of the question, so they cannot tell that:
nonsense has a best result too. The second uses the place in the list and gives the probability that it is this result.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from clawmem.domain.retrieval.relevance_model import (
    COUNTED_ENTRIES,
    MOST_COVERAGE,
    NAMED_ENTRIES,
    SMALL,
    SMALLEST,
    AnsweredWeights,
)
from clawmem.domain.retrieval.relevance_weights import ANSWERED, ANSWERED_BY_WORDS, PLACED
from clawmem.domain.retrieval.requested import Shortfall

# An answer is more likely than not. `tests/bench/fit_relevance.py` prints the cost: of 100 answered questions 0 to 2.3
# are lost on the three larger development collections, while 97 to 100 of 100 prompts without an answer get no result.
DEFAULT_FLOOR = 0.5

# Bounds of the likelihoods. A "likely" result answers more often than not; an "unlikely" one answers in fewer than one
# of ten cases of the fitted data (`tests/bench/fit_relevance.py` prints the shares).
LIKELY = 0.5
POSSIBLE = 0.1

OF_ANOTHER = 0.25  # factor for each name that a result lacks and another has; not fitted
FAMILY_PARTS = 2  # of a fingerprint, "minilm:384:int8:..."; the rest does not affect cosines


class Likelihood(StrEnum):
    """A confidence in words."""

    LIKELY = "likely"
    POSSIBLE = "possible"
    UNLIKELY = "unlikely"


def likelihood_of(confidence: float) -> Likelihood:
    """Return the likelihood for *confidence*, a probability in [0, 1]."""
    if confidence >= LIKELY:
        return Likelihood.LIKELY
    return Likelihood.POSSIBLE if confidence >= POSSIBLE else Likelihood.UNLIKELY


def results_to_show(confidences: Sequence[float | None]) -> list[bool]:
    """
    Return for each result of a list, best first, whether to show it: unlikely ones below a likely one are hidden.

    Results without a confidence (``None``) are shown, and so are all results of a list without a likely one.
    """
    words = [None if one is None else likelihood_of(one) for one in confidences]
    if Likelihood.LIKELY not in words:
        return [True] * len(words)
    first = words.index(Likelihood.LIKELY)
    return [at < first or word is not Likelihood.UNLIKELY for at, word in enumerate(words)]


class Evidence(NamedTuple):
    """
    Evidence that a question has an answer, not scaled by the best result.

    Attributes:
        line: BM25 of the best line, not negative; 0 if no line contains a word of the question.
        unknown: Share of the question's words that occur in no document of the vault, in [0, 1].
        entries: Number of indexed lines and passages: the more, the better the best hit by chance. Clamped to
            `COUNTED_ENTRIES`.
        cosine: Cosine of the nearest passage; ``None`` without a vector search.
        coverage: BM25 of the best document as a share of the summed rarities of the question's words: about 1 if it
            contains all of them once, small if it only contains common ones. Comparable between a single name and a
            long question.
        words: Number of words of the question that were searched.
        whole: Whether the question is a name or a few bare words, and one text contains all of them. That is no hit
            by chance, so ``entries`` is clamped to `NAMED_ENTRIES`.
        unmet: What the best passage lacks of the question.
    """

    line: float
    unknown: float
    entries: int
    cosine: float | None = None
    coverage: float = 0.0
    words: int = 1
    whole: bool = False
    unmet: Shortfall = Shortfall()


class ResultPlace(NamedTuple):
    """
    One result and its place in the list.

    Attributes:
        relevance: The weighted mean of the retrievers' contributions, in [0, 1].
        rank: Its rank, from 1.
        unit: Kind of results in the list, ``document`` or ``line``.
        coverage: Like that of `Evidence`, of this result alone.
        is_name: Whether the question is a name, an identifier or a few bare words rather than a sentence.
        lacks: Number of names and numbers of the question that this result lacks and the best one has.
    """

    relevance: float
    rank: int
    unit: str
    coverage: float = 0.0
    is_name: bool = False
    lacks: float = 0.0


def answer_probability(evidence: Evidence, fingerprint: str | None = None) -> float:
    """
    Return the probability, in (0, 1), that any of the results answers the question.

    It increases with ``line``, ``coverage``, ``words`` and ``cosine`` and decreases with ``unknown`` and ``entries``.
    The prior is that half of all questions have an answer.

    Args:
        evidence: Evidence for the question.
        fingerprint: Fingerprint of the embedder behind the cosine, whose scale depends on it. For an embedder without
            a fitted model, and without a cosine, only the words are used.
    """
    weights = ANSWERED.get(family(fingerprint or ""))
    if weights is None or evidence.cosine is None:
        return _logistic(_by_words(evidence, ANSWERED_BY_WORDS))
    return _logistic(_by_words(evidence, weights) + weights.cosine * evidence.cosine)


def place_probability(place: ResultPlace) -> float:
    """
    Return the probability, in (0, 1), that one result of a list answers, given that any of them does.

    Raises:
        KeyError: unknown unit.
    """
    weights, covered = PLACED[place.unit], _covered(place.coverage)
    of_name = (weights.name + weights.name_coverage * covered) if place.is_name else 0.0
    return math.pow(OF_ANOTHER, place.lacks) * _logistic(
        math.fsum(
            (
                weights.bias,
                weights.relevance * place.relevance,
                -weights.rank * math.log(place.rank),
                weights.coverage * covered,
                of_name,
            )
        )
    )


def family(fingerprint: str) -> str:
    """Return the part of an embedder's fingerprint that determines the scale of its cosines."""
    return ":".join(fingerprint.split(":")[:FAMILY_PARTS])


def _by_words(evidence: Evidence, weights: AnsweredWeights) -> float:
    return math.fsum(
        (
            weights.bias,
            weights.line * math.log1p(max(0.0, evidence.line)),
            weights.coverage * _covered(evidence.coverage),
            weights.words * math.log(max(1, evidence.words)),
            -weights.unknown * evidence.unknown,
            -weights.entries * math.log(_counted_entries(evidence)),
            -math.fsum(weight * lack for weight, lack in zip(weights.unmet, evidence.unmet, strict=True)),
        )
    )


def _counted_entries(evidence: Evidence) -> float:
    least, most = COUNTED_ENTRIES
    counted = _within(evidence.entries, least, NAMED_ENTRIES if evidence.whole else most)
    return counted * min(1.0, max(SMALLEST, evidence.entries) / SMALL)


def _covered(coverage: float) -> float:
    """Return *coverage* clamped: repetition raises BM25 above the value for one occurrence of each word."""
    return min(MOST_COVERAGE, max(0.0, coverage))


def _within(value: int, least: int, most: int) -> int:
    return min(most, max(least, value))


def _logistic(log_odds: float) -> float:
    if log_odds < 0:
        return 1 - _logistic(-log_odds)
    return 1 / (1 + math.exp(-log_odds))
