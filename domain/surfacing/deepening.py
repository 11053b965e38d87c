"""
Policy for the use of generative models and rerankers on a prompt, after the indexes have answered.

Models may be slow and an answer of the indexes exists already, so no model call starts late or exceeds the deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clawmem.domain.retrieval.expansion import VariantKind
from clawmem.domain.surfacing.profiles import Profile

if TYPE_CHECKING:
    from clawmem.domain.retrieval.expansion import Variant

FEWEST_TO_ASK = 2  # results: one needs no reordering, and rewording for none finds nothing
FEWEST_TO_READ = 3
MOST_VARIANTS = 3
RESULTS_EACH = 5
VARIANT_SHARE = 0.5  # of the best relevance: hits of reworded queries weigh half of the prompt's own
READ = 15  # results from the top
READ_CHARS = 2000  # of each
READER_SHARE = 0.4  # weight of the reranker; the indexes have 0.6
TO_SAY_IT_S = 1.0  # reserve for process start and for composing the answer on a busy machine


def may_ask(profile: Profile, elapsed_s: float, results: int) -> bool:
    """Whether models may be asked *elapsed_s* seconds after the prompt arrived."""
    return profile.deepens and elapsed_s < profile.deepen_within_s and results >= FEWEST_TO_ASK


def may_read(profile: Profile, elapsed_s: float, results: int) -> bool:
    """Whether a reranker may read the results *elapsed_s* seconds after the prompt arrived."""
    return seconds_left(profile, elapsed_s) > 0 and results >= FEWEST_TO_READ


def seconds_left(profile: Profile, elapsed_s: float) -> float:
    """Return the seconds that models may still take; not positive if there is no time left."""
    return profile.deadline_s - TO_SAY_IT_S - elapsed_s


def asked_for(variants: Sequence[Variant]) -> list[str]:
    """Return up to `MOST_VARIANTS` reworded queries: keywords, then sentences, then a hypothetical passage."""
    kinds = list(VariantKind)
    return [v.text for v in sorted(variants, key=lambda v: kinds.index(v.kind))][:MOST_VARIANTS]
