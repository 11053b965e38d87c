"""Form of the answerability model: its weights, and bounds of its features."""

from typing import NamedTuple

from clawmem.domain.retrieval.requested import Shortfall


class AnsweredWeights(NamedTuple):
    """Weights of the evidence that a question has an answer; only the bias may be negative."""

    bias: float
    line: float
    unknown: float
    entries: float
    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    unmet: Shortfall = Shortfall()


class PlacedWeights(NamedTuple):
    """Weights of the place of one result in the list; only the bias may be negative."""

    bias: float
    relevance: float
    rank: float
    coverage: float = 0.0
    name: float = 0.0
    name_coverage: float = 0.0


# Lines and passages. The fitted vaults have 214 to 6 812. Vaults below the lower bound are treated alike: there the model that
# is fitted on the others takes everything for answered.
COUNTED_ENTRIES = (500, 7_000)
# In a vault with fewer entries all words are frequent, so the lower bound shrinks with it, down to the second number.
SMALL, SMALLEST = 60, 6
NAMED_ENTRIES = 1_000
MOST_COVERAGE = 1.5
