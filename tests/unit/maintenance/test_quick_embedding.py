"""The time limit of vectors that nobody requested."""

from __future__ import annotations

import pytest

from clawmem.domain.maintenance.embedding_policy import EmbeddingPace


@pytest.mark.parametrize(
    ("batches", "quick"),
    [
        ([(256, 60_000)], True),
        ([(256, 60_001)], False),
        ([(256, 50_000), (512, 50_100)], True),  # the model was loaded in the first batch
        ([(256, 2_000), (512, 7_043)], True),
        ([(256, 2_000), (512, 7_044)], False),
        ([(256, 2_000), (256, 3_000)], False),  # no text was embedded
        ([(256, 2_000), (3_200, 60_001)], False),
    ],
)
def test_the_pace_after_the_first_batch_decides(batches: list[tuple[int, int]], quick: bool) -> None:
    """A minute at most for 3200 texts, and never more than a minute altogether."""
    pace = EmbeddingPace(0)
    *before, last = batches
    assert all(pace.is_quick(done, 3_200, now_ms) for done, now_ms in before)

    assert pace.is_quick(last[0], 3_200, last[1]) is quick
