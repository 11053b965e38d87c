"""
Confidence: the probability that a result answers the question, absolute and comparable between questions and vaults.

It is the product of two small logistic models. The first gives the probability that any result answers, from evidence
that is not relative to the other notes of the vault: nonsense has a best result too. The second uses the place in the
list and gives the probability that it is this result.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.retrieval.relevance_weights import ANSWERED, ANSWERED_BY_WORDS, PLACED
from clawmem.domain.text.vocabulary import function_words
from clawmem.domain.text.words import words

# From which probability of an answer on a prompt gets a block: a block that is not needed does less harm than a result
# that is called likely and does not answer. `tools/bench/fit_confidence.py` prints what it costs.
DEFAULT_FLOOR = 0.35

# Bounds of the likelihoods. A "likely" result answers more often than not; an "unlikely" one answers in fewer than one
# of ten cases of the fitted data.
LIKELY = 0.5
POSSIBLE = 0.07
CHANGED = 0.49  # the most for a note that a newer one may have changed

# Bounds of the features. Lines and passages: the best of many is good by chance.
COUNTED_ENTRIES = (20, 7_000)
LEAST_SHARE, SHORT_NOTE = 0.05, 200  # of the coverage of the best result; characters
MOST_SPECIFIC = 30.0  # weight of two telling words; more say no more
# By which cosines of German texts exceed those of English ones: median .48, .28 of prompts for code; by family.
FOREIGN, FOREIGN_OTHERWISE = MappingProxyType({"multilingual-e5:384": 0.02}), 0.2

# Verbs that open a request to make or change something. The work in progress answers it more often than a note. Of the
# biologist's 40 prompts off the topic .825 are silent with them and .525 without, at .893 of the answered questions.
_TASK_VERBS = frozenset(
    """
    add adjust amend append apply build bump catch center centre change check cherry clean clear code commit compare
    compile complete compute configure convert copy correct count cover create debounce debug declare define delete
    deploy describe design document draft draw edit enable expand explain export extend extract fix format generate
    give handle hide implement import improve indent inline insert install integrate list log lint make memoize merge
    migrate mock modify move name open optimise optimize parse pick polish print profile prove put read rebase redo
    refactor remove rename reorder replace resolve restructure return revert review rewrite round run set shorten show
    simplify solve sort speed split start stop style suggest summarise summarize swap test tidy toggle translate trim
    try turn undo unwrap update upgrade use validate verify wrap write
    """.split()
)
_OPENINGS = "please now then and so also but ok okay well hey just can could may would you let s lets".split()
# Openings of questions for general knowledge: with them .85 of these prompts are silent (area .947 to .954).
_GENERAL = tuple(
    f"{opening.strip()} "
    for opening in """
    how do i|how do you|how can i|how can you|how to|what is a|what is an|what is the best|what is the difference|is there a
    |is there an|why does my|why is my|tell me a|tell me an|in which year|who invented|who wrote
    """.replace("\n", "").split("|")
)


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
    likelihoods = [None if confidence is None else likelihood_of(confidence) for confidence in confidences]
    if Likelihood.LIKELY not in likelihoods:
        return [True] * len(likelihoods)
    first = likelihoods.index(Likelihood.LIKELY)
    return [at < first or word is not Likelihood.UNLIKELY for at, word in enumerate(likelihoods)]


def is_task(question: str) -> bool:
    """
    Whether *question* asks for work or for general knowledge, which notes seldom answer.

    A request for work opens with a verb, and names nothing of the person who writes.
    """
    every = words(question)
    text = f"{' '.join(every)} "
    is_general = text.startswith(_GENERAL) or " are there in a " in text
    return is_general or (bool(task_verb(every)) and {"i", "we", "our", "ours"}.isdisjoint(every))


def task_verb(every: Sequence[str]) -> str:
    """Return the verb that opens a request for work with these words, also "reverse a list"; empty without one."""
    opening, following = [*(word for word in every if word not in _OPENINGS), "", ""][:2]
    is_verb = opening in _TASK_VERBS or (following in ("a", "an") and opening not in function_words(every))
    return opening if is_verb else ""


class Evidence(NamedTuple):
    """
    Evidence that a question has an answer.

    Attributes:
        shared: Share of the question's words that the best passage has, in [0, 1], weighted by how rare they are.
        miss: Weight of the most telling word that a passage lacks, of the passage where it is least.
        specificity: Weight of all words of the question, in general; 0 for a question of function words only.
        entries: Number of indexed lines and passages: the more, the better the best hit by chance.
        cosine: Cosine of the nearest passage; ``None`` without a vector search.
        is_task: Whether the question asks for work or general knowledge; see `is_task`.
        language: Language of the question, as of `language_of`.
    """

    shared: float
    miss: float
    specificity: float
    entries: int
    cosine: float | None = None
    is_task: bool = False
    language: str = ""


class ResultPlace(NamedTuple):
    """
    One result and its place in the list.

    Attributes:
        relevance: The weighted mean of the retrievers' contributions, in [0, 1].
        rank: Its rank, from 1.
        unit: Kind of results in the list, ``document`` or ``line``.
        coverage_share: How much of the question it covers, as a share of what the best result covers, in [0, 1].
        cosine_gap: How much smaller its cosine is than that of the best result.
        is_short: Whether its note is short: what one line lacks of the question is nowhere else in it.
    """

    relevance: float
    rank: int
    unit: str
    coverage_share: float = 1.0
    cosine_gap: float = 0.0
    is_short: bool = False


def answer_probability(evidence: Evidence, fingerprint: str | None = None) -> float:
    """
    Return the probability, in [0, 1), that any of the results answers; 0 for a question of function words only.

    Only the words are used without a cosine, and for an embedder (*fingerprint*), whose scale differs, without a fitted
    model. The models are fitted on English; for another language the words alone are enough, or a higher cosine.
    """
    if evidence.specificity <= 0:
        return 0.0
    by_words = _logistic(ANSWERED_BY_WORDS, answer_features(evidence))
    weights = ANSWERED.get(family(fingerprint or ""))
    if weights is None or evidence.cosine is None:
        return by_words
    if evidence.language in ("", "en"):
        return _logistic(weights, answer_features(evidence))
    excess = FOREIGN.get(family(fingerprint or ""), FOREIGN_OTHERWISE)
    lower = evidence._replace(cosine=evidence.cosine - excess)
    return max(by_words, _logistic(weights, answer_features(lower)))


def answer_features(evidence: Evidence) -> dict[str, float]:
    """Return the features of *evidence* by name; more is always better evidence."""
    least, most = COUNTED_ENTRIES
    return {
        "cosine": evidence.cosine or 0.0,
        "shared": evidence.shared,
        "miss": -min(evidence.miss, MOST_SPECIFIC) / MOST_SPECIFIC,
        "specificity": min(evidence.specificity, MOST_SPECIFIC) / MOST_SPECIFIC,
        "entries": -math.log(min(most, max(least, evidence.entries))),
        "task": -float(evidence.is_task),
    }


def place_probability(place: ResultPlace) -> float:
    """Return the probability, in (0, 1), that one result of a list answers, given that any of them does."""
    return _logistic(PLACED[place.unit], place_features(place))


def place_features(place: ResultPlace) -> dict[str, float]:
    """Return the features of *place* by name; more is always better evidence."""
    share = math.log(max(LEAST_SHARE, place.coverage_share))
    return {
        "relevance": place.relevance,
        "rank": -math.log(place.rank),
        "coverage_share": share,
        "cosine_gap": -place.cosine_gap,
        "short_coverage_share": share * place.is_short,
    }


def family(fingerprint: str) -> str:
    """Return the part of an embedder's fingerprint that determines the scale of its cosines: ``bge-small:384``."""
    return ":".join(fingerprint.split(":")[:2])


def _logistic(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    log_odds = weights["bias"] + math.fsum(weights[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
