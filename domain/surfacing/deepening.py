"""
A prompt that models are asked about as well, after the indexes have answered: when, for how long, and what counts.

They may be slow, and what the indexes found stands already: so nothing begins late, and everything ends in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clawmem.domain.surfacing.profiles import Profile

if TYPE_CHECKING:
    from clawmem.domain.retrieval.expansion import Variant

FEWEST_TO_ASK = 2  # results: a single one needs no other order, and other words for nothing find nothing
FEWEST_TO_READ = 3
MOST_VARIANTS = 3
RESULTS_EACH = 5
VARIANT_SHARE = 0.5  # of the best relevance: other words are worth half of the prompt's own
READ = 15  # results from the top
READ_CHARS = 2000  # of each
READER_SHARE = 0.4  # the indexes keep .6
TO_SAY_IT_S = 1.0  # what a process takes to start, and an answer to be put together, on a busy machine


def may_ask(profile: Profile, elapsed_s: float, results: int) -> bool:
    """Whether models are asked at all, so long after the prompt came."""
    return profile.deepens and elapsed_s < profile.deepen_within_s and results >= FEWEST_TO_ASK


def may_read(profile: Profile, elapsed_s: float, results: int) -> bool:
    """Whether a model reads the results, so long after the prompt came."""
    return seconds_left(profile, elapsed_s) > 0 and results >= FEWEST_TO_READ


def seconds_left(profile: Profile, elapsed_s: float) -> float:
    """How long models may still be waited for, in seconds; not positive when no longer."""
    return profile.deadline_s - TO_SAY_IT_S - elapsed_s


def asked_for(variants: Sequence[Variant]) -> list[str]:
    """Up to `MOST_VARIANTS` other wordings for an index of words: keywords, then sentences, then a made-up passage."""
    from clawmem.domain.retrieval.expansion import VariantKind  # compiles, and most prompts ask nobody

    kinds = list(VariantKind)
    return [v.text for v in sorted(variants, key=lambda v: kinds.index(v.kind))][:MOST_VARIANTS]
