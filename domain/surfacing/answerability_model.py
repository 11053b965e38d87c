"""Weights of the answerability of a prompt."""

from typing import NamedTuple

from clawmem.domain.retrieval.requested import Shortfall


class Weights(NamedTuple):
    """Log-odds weight of each feature; those of ``unknown`` to ``pointing`` and of ``unmet`` are subtracted."""

    bias: float
    line: float
    unknown: float
    entries: float
    task: float
    general: float
    pointing: float
    ours: float
    own: float
    identifier: float
    name: float
    whole: float
    cosine: float = 0.0
    coverage: float = 0.0
    unmet: Shortfall = Shortfall()
