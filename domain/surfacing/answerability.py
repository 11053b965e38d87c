"""
Answerability: the probability that a vault answers a prompt, from retrieval evidence and the form of the prompt.

The model is one logistic regression. Its evidence is that of `relevance`; the form of the prompt captures how often
notes answer prompts of this kind at all. The model is fitted separately from the one for search: questions typed into
a search box nearly always have an answer in the vault, most prompts of a coding agent do not.
`tests/bench/fit_answerability.py` prints its error rates and writes the weights.
"""

import math
from typing import NamedTuple

from clawmem.domain.retrieval.relevance import Evidence, family
from clawmem.domain.retrieval.relevance_model import MOST_COVERAGE
from clawmem.domain.surfacing.answerability_model import Weights
from clawmem.domain.surfacing.answerability_weights import BY_FAMILY, BY_WORDS
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
            weights.identifier * match.identifier,
            weights.name * match.name,
            weights.whole * match.whole,
            weights.coverage * min(MOST_COVERAGE, max(0.0, evidence.coverage)),
            -math.fsum(weight * lack for weight, lack in zip(weights.unmet, evidence.unmet, strict=True)),
        )
    )


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
