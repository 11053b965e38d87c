"""The version of a subject that a question means, among notes whose names differ only in their version."""

from __future__ import annotations

from clawmem.domain.retrieval.versions import Wanted, in_wanted_order

OLD, MIDDLE, NEW = 1, 2, 3
STORES = {MIDDLE: (0, "2025-09-09"), NEW: (0, "2026-05-12"), OLD: (0, "2025-02-18")}


def test_the_order_of_versions() -> None:
    """By date; of the former versions the last one comes first, and the current one last."""
    assert in_wanted_order(STORES, Wanted.CURRENT) == [NEW, MIDDLE, OLD]
    assert in_wanted_order(STORES, Wanted.CURRENT, "2026-01-01") == [MIDDLE, OLD, NEW]
    assert in_wanted_order(STORES, Wanted.EARLIEST) == [OLD, MIDDLE, NEW]
    assert in_wanted_order(STORES, Wanted.FORMER) == [MIDDLE, OLD, NEW]
