"""Form of the confidence model: its weights, and bounds of its features."""

from typing import NamedTuple

# Lines and passages; the best of many is good by chance.
COUNTED_ENTRIES = (20, 7_000)
LEAST_SHARE = 0.05  # of the coverage of the best result
SHORT_NOTE = 200  # characters
MOST_SPECIFIC = 30.0  # weight of two telling words; more say no more


class AnsweredWeights(NamedTuple):
    """Weights of the evidence that a question has an answer; those of ``miss``, ``entries`` and ``task`` are subtracted."""

    bias: float
    cosine: float
    shared: float
    miss: float
    specificity: float
    entries: float
    task: float


class PlacedWeights(NamedTuple):
    """Weights of the place of one result in the list; those of ``rank`` and ``cosine_gap`` are subtracted."""

    bias: float
    relevance: float
    rank: float
    coverage_share: float
    cosine_gap: float
    short_coverage_share: float
