"""Merging of graph scores into the scores of the search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

COMPANION_SHARE = 0.7  # share of its score that a document found by co-occurring entities keeps


class Shares(NamedTuple):
    """Weights of a scaled graph score: for a document that the search also found, and for a new document."""

    present: float
    new: float


TRAVERSED = Shares(present=1.1, new=0.8)
PUSHED = Shares(present=0.9, new=0.75)


def merge(found: Mapping[int, float], reached: Mapping[int, float], shares: Shares) -> dict[int, float]:
    """
    Return the scores of *found*, raised to the weighted graph score where that is higher, and those of new documents.

    Args:
        found: Scores of the search by document, in [0, 1].
        reached: Scores of the graph by document, in [0, 1].
        shares: Weights of the graph scores.
    """
    merged = dict(found)
    for document_id, score in reached.items():
        share = shares.present if document_id in found else shares.new
        merged[document_id] = max(found.get(document_id, 0.0), score * share)
    return merged


def with_companions(found: Mapping[int, float], companions: Mapping[int, float]) -> dict[int, float]:
    """Return the scores of *found*, and 0.7 times the scores of those *companions* that are not in *found*."""
    new = {document_id: COMPANION_SHARE * score for document_id, score in companions.items()}
    return {**new, **found}


def cooccurrence_score(count: int) -> float:
    """Return ``min(1, ln(1 + count) / 5)``, the strength of two entities that *count* documents mention together."""
    return min(1.0, math.log1p(count) / 5)
