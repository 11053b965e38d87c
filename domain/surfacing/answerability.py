"""
The probability that a vault answers a prompt, from what was found and from the form of the prompt.

One logistic model. What was found is the evidence of `relevance`; the form says how often prompts like this one are
answered by notes at all. Its scale is its own: questions typed into a search box nearly always want an answer, most
prompts of a coding agent do not. `tests/bench/fit_answerability.py` prints the numbers and what they cost.
"""

from __future__ import annotations

import math

from clawmem.domain.retrieval.relevance import Evidence, family
from clawmem.domain.surfacing.prompt_form import PromptForm
from clawmem.ports.named_tuple import NamedTuple

# Lines and passages. Vaults of `SMALL` to the lower bound count alike; a smaller one counts for less by its share of
# `SMALL`, because the rarity of a word, and with it every score, shrinks with the vault.
COUNTED_ENTRIES = (1_000, 7_000)
SMALL = 300


class PromptMatch(NamedTuple):
    """
    Parts of a prompt that the vault holds as they are.

    Attributes:
        identifier: A name of code in the prompt stands in a line: a path, an error code, ``snake_case``.
        name: A word of the prompt that is written like a proper name stands in a document.
        whole: The prompt reads as a name that is no identifier, and one line holds all of it.
    """

    identifier: bool = False
    name: bool = False
    whole: bool = False


class Weights(NamedTuple):
    """Log-odds of each sign; those of ``unknown`` to ``pointing`` are subtracted."""

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


BY_WORDS = Weights(
    bias=3.019, line=2.967, cosine=0, unknown=8.079, entries=1.152, task=3.639, general=1.64, pointing=0.4595,
    ours=0.9666, own=1.855, asks=1.061, identifier=1.211, name=1.694, whole=3.609,
)  # fmt: skip
_STATIC = Weights(
    bias=3.854, line=0.8807, cosine=16.67, unknown=6.368, entries=1.355, task=4.407, general=1.768, pointing=0.7981,
    ours=1.284, own=1.601, asks=1.251, identifier=1.943, name=1.121, whole=3.594,
)  # fmt: skip
BY_FAMILY = {
    "wordllama:l2_supercat": _STATIC,
    # Not fitted: the cosine on the scale that `relevance_model` found for this family beside the static one.
    "minilm:384": _STATIC._replace(bias=4.213, cosine=14.95),
}


def answerability(
    evidence: Evidence, form: PromptForm, match: PromptMatch, fingerprint: str | None = None
) -> float:
    """
    Return the probability, in [0, 1), that something of what was found answers the prompt.

    It rises with the line's score, the cosine and every match, falls with unknown words and the size of the vault.
    A prompt of nothing but function words is answered by nothing.

    Args:
        fingerprint: Of the embedder behind the cosine; of one without weights, and without a cosine, words decide.
    """
    if not form.telling:
        return 0.0
    weights = BY_FAMILY.get(family(fingerprint or ""))
    if weights is None or evidence.cosine is None:
        weights = BY_WORDS
    return _logistic(_log_odds(evidence, form, match, weights))


def counted(entries: int) -> float:
    """Return the size that a vault of so many lines and passages counts with."""
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
        )
    )


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
