"""
The probability that an answer answers: absolute, and comparable between questions.

Two small logistic models, multiplied. The first sees how strong the evidence is and says whether anything that
was found answers; every other score is relative to the best of its question, so that nonsense has a best
answer too. The second sees the place in the list and says whether it is this one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from clawmem.domain.retrieval.relevance_model import (
    ANSWERED,
    ANSWERED_BY_WORDS,
    COUNTED_ENTRIES,
    MOST_COVERAGE,
    NAMED_ENTRIES,
    PLACED,
    AnsweredWeights,
)
from clawmem.ports.named_tuple import NamedTuple

# More likely than not. `tests/bench/fit_relevance.py` prints what it costs: of answered questions 0 to 2.3 of 100
# on the three larger development collections, for 97 to 100 of 100 prompts without an answer met with silence.
DEFAULT_FLOOR = 0.5

# The words for a confidence. "Likely" is more likely than not; an "unlikely" result answers in fewer than one of
# ten cases of the fitted data (`tests/bench/fit_relevance.py` prints the shares).
LIKELY = 0.5
POSSIBLE = 0.1

FAMILY_PARTS = 2  # of a fingerprint, "minilm:384:int8:...": what follows does not change the scale of cosines


class Likelihood(StrEnum):
    """A confidence in a word."""

    LIKELY = "likely"
    POSSIBLE = "possible"
    UNLIKELY = "unlikely"


def likelihood_of(confidence: float) -> Likelihood:
    """Return the word for *confidence*, a probability in [0, 1]."""
    if confidence >= LIKELY:
        return Likelihood.LIKELY
    return Likelihood.POSSIBLE if confidence >= POSSIBLE else Likelihood.UNLIKELY


def worth_showing(confidences: Sequence[float | None]) -> list[bool]:
    """
    Return for each result of a list, best first, whether it is shown: not if it is unlikely below a likely one.

    A result that was not judged (``None``) is shown, and so is every result of a list without a likely one.
    """
    words = [None if one is None else likelihood_of(one) for one in confidences]
    if Likelihood.LIKELY not in words:
        return [True] * len(words)
    first = words.index(Likelihood.LIKELY)
    return [at < first or word is not Likelihood.UNLIKELY for at, word in enumerate(words)]


class Evidence(NamedTuple):
    """
    What was found for a question, before anything is scaled by its best.

    Attributes:
        line: BM25 of the best line, not negative; 0 where no line holds a word of the question.
        unknown: Share of the question's words that no document of the vault holds, in [0, 1].
        entries: How many lines and passages there are: the more, the better the best hit by chance. It counts
            like the nearer end of `COUNTED_ENTRIES` outside of these.
        cosine: Of the nearest passage; ``None`` where meaning was not asked.
        coverage: BM25 of the best document as a share of the summed rarities of the question's words: about 1
            where it holds all of them once, small where it only holds common ones. Comparable for a single
            name and a long question.
        words: How many words of the question were looked up.
        whole: Whether the question is a name or a few bare words, and one text holds all of them. That is no hit by
            chance, so that a larger vault counts like one of `NAMED_ENTRIES`.
    """

    line: float
    unknown: float
    entries: int
    cosine: float | None = None
    coverage: float = 0.0
    words: int = 1
    whole: bool = False


class ResultPlace(NamedTuple):
    """
    One result in its list.

    Attributes:
        relevance: The weighted mean of what the legs contributed, in [0, 1].
        rank: Its place, from 1.
        unit: What is listed, ``document`` or ``line``.
        coverage: As of `Evidence`, of this result alone.
        is_name: Whether the question is a name, an identifier or a few bare words rather than a sentence.
    """

    relevance: float
    rank: int
    unit: str
    coverage: float = 0.0
    is_name: bool = False


def answered(evidence: Evidence, fingerprint: str | None = None) -> float:
    """
    The probability, in (0, 1), that something of what was found answers the question.

    It rises with ``line``, ``coverage``, ``words`` and ``cosine``, falls with ``unknown`` and ``entries``. Even odds
    of a question with and one without an answer are assumed.

    Args:
        fingerprint: Of the embedder behind the cosine, as each has a scale of its own; of one that no
            model was fitted for, and without a cosine, words alone decide.
    """
    weights = ANSWERED.get(family(fingerprint or ""))
    if weights is None or evidence.cosine is None:
        return _logistic(_by_words(evidence, ANSWERED_BY_WORDS))
    return _logistic(_by_words(evidence, weights) + weights.cosine * evidence.cosine)


def placed(place: ResultPlace) -> float:
    """
    Return the probability, in (0, 1), that one result of a list answers, given that any of them does.

    Raises:
        KeyError: no such unit.
    """
    weights, covered = PLACED[place.unit], _covered(place.coverage)
    of_name = (weights.name + weights.name_coverage * covered) if place.is_name else 0.0
    return _logistic(
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
    """The part of an embedder's fingerprint that says on which scale its cosines lie."""
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
        )
    )


def _counted_entries(evidence: Evidence) -> int:
    least, most = COUNTED_ENTRIES
    return _within(evidence.entries, least, NAMED_ENTRIES if evidence.whole else most)


def _covered(coverage: float) -> float:
    """Repetition raises BM25 above what each word once is worth; from here on it tells nothing more."""
    return min(MOST_COVERAGE, max(0.0, coverage))


def _within(value: int, least: int, most: int) -> int:
    return min(most, max(least, value))


def _logistic(log_odds: float) -> float:
    if log_odds < 0:
        return 1 - _logistic(-log_odds)
    return 1 / (1 + math.exp(-log_odds))
