"""
Answerability: the probability that a vault answers a prompt, from retrieval evidence and the form of the prompt.

The model is one logistic regression. Its evidence is that of `relevance`; the form of the prompt captures how often
notes answer prompts of this kind at all. The model is fitted separately from the one for search: questions typed into
a search box nearly always have an answer in the vault, most prompts of a coding agent do not.
`tests/bench/fit_answerability.py` prints the weights and their error rates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from clawmem.domain.retrieval.relevance import Evidence, family
from clawmem.domain.retrieval.relevance_model import MOST_COVERAGE
from clawmem.domain.retrieval.requested import Shortfall
from clawmem.domain.surfacing.prompt_form import PromptForm

# Bounds for the number of lines and passages. Vaults with `SMALL` entries up to the lower bound are treated alike. For
# a smaller vault the size is scaled by its share of `SMALL`, because word rarity and all scores shrink with the vault.
COUNTED_ENTRIES = (1_000, 7_000)
SMALL = 300


class PromptMatch(NamedTuple):
    """
    Verbatim matches of parts of a prompt in the vault.

    Attributes:
        identifier: Whether a line holds an identifier of the prompt: a path, an error code, ``snake_case``.
        name: Whether a document holds a word of the prompt that is written like a proper name.
        whole: Whether the prompt reads as a name other than an identifier, and one line holds all of it.
    """

    identifier: bool = False
    name: bool = False
    whole: bool = False


class Weights(NamedTuple):
    """Log-odds weight of each feature; those of ``unknown`` to ``pointing`` and of ``unmet`` are subtracted."""

    bias: float
    line: float
    cosine: float
    unknown: float
    entries: float
    task: float
    general: float
    pointing: float
    ours: float
    own: float
    asks: float
    identifier: float
    name: float
    whole: float
    coverage: float = 0.0
    unmet: Shortfall = Shortfall()


# The biases are 0.6 above the fitted ones, so that no more of the development conversations meet silence than before.
BY_WORDS = Weights(
    bias=2.586, line=2.075, cosine=0, unknown=0.3586, entries=1.02, task=3.345, general=1.655, pointing=1.302,
    ours=1.901, own=1.065, asks=0.007087, identifier=1.268, name=0.6571, whole=2.015, coverage=2.76,
    unmet=Shortfall(words=1.108, names=2.152, number=2.569, slot=0.7518),
)  # fmt: skip
_STATIC = Weights(
    bias=1.577, line=0.8812, cosine=12.18, unknown=0.5383, entries=0.977, task=3.443, general=1.74, pointing=1.288,
    ours=2.085, own=0.975, asks=0.01, identifier=1.819, name=0.2855, whole=2.602, coverage=1.814,
    unmet=Shortfall(words=0.6222, names=2.018, number=3.286, slot=0.7739),
)  # fmt: skip
BY_FAMILY = {
    "wordllama:l2_supercat": _STATIC,
    # Not fitted: the cosine weight is rescaled by the ratio of this family to the static one in `relevance_model`.
    "minilm:384": _STATIC._replace(bias=1.936, cosine=10.92),
}


def answerability(
    evidence: Evidence, form: PromptForm, match: PromptMatch, fingerprint: str | None = None
) -> float:
    """
    Return the probability, in [0, 1), that some candidate answers the prompt.

    The probability rises with the score of the best line, the cosine and every match, and falls with unknown words
    and the size of the vault. It is 0 for a prompt that consists of function words only.

    Args:
        fingerprint: Fingerprint of the embedder that produced the cosine. Without weights for its family, or without
            a cosine, the weights for lexical evidence are used.
    """
    if not form.telling:
        return 0.0
    weights = BY_FAMILY.get(family(fingerprint or ""))
    if weights is None or evidence.cosine is None:
        weights = BY_WORDS
    return _logistic(_log_odds(evidence, form, match, weights))


def counted(entries: int) -> float:
    """Return the effective size of a vault with *entries* lines and passages."""
    least, most = COUNTED_ENTRIES
    return min(max(entries, least), most) * min(1.0, max(1, entries) / SMALL)


def _log_odds(evidence: Evidence, form: PromptForm, match: PromptMatch, weights: Weights) -> float:
    entries = counted(evidence.entries)
    return math.fsum(
        (
            weights.bias,
            weights.line * math.log1p(max(0.0, evidence.line)),
            weights.cosine * (evidence.cosine or 0.0),
            -weights.unknown * evidence.unknown,
            -weights.entries * math.log(entries),
            -weights.task * form.task,
            -weights.general * form.general,
            -weights.pointing * form.pointing,
            weights.ours * form.ours,
            weights.own * form.own,
            weights.asks * form.asks,
            weights.identifier * match.identifier,
            weights.name * match.name,
            weights.whole * match.whole,
            weights.coverage * min(MOST_COVERAGE, max(0.0, evidence.coverage)),
            -math.fsum(weight * lack for weight, lack in zip(weights.unmet, evidence.unmet, strict=True)),
        )
    )


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
