"""How what the graph found takes its place among what the search found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Shares(NamedTuple):
    """What a scaled graph score is worth: for a document that the search found too, and for a new one."""

    present: float
    new: float


TRAVERSED = Shares(present=1.1, new=0.8)
PUSHED = Shares(present=0.9, new=0.75)
COMPANION_SHARE = (
    0.7  # of the score of a document that speaks of what occurs together with the others' things
)


def merge(found: Mapping[int, float], reached: Mapping[int, float], shares: Shares) -> dict[int, float]:
    """
    The scores of *found*, raised to what the graph says where that is more, and those of what is new.

    Args:
        found: Scores of the search by document, in [0, 1].
        reached: Scores of the graph, in [0, 1].
    """
    merged = dict(found)
    for document_id, score in reached.items():
        share = shares.present if document_id in found else shares.new
        merged[document_id] = max(found.get(document_id, 0.0), score * share)
    return merged


def with_companions(found: Mapping[int, float], companions: Mapping[int, float]) -> dict[int, float]:
    """The scores of *found*, and 0.7 of the scores of *companions* that are not among them."""
    new = {document_id: COMPANION_SHARE * score for document_id, score in companions.items()}
    return {**new, **found}
