"""The time limit of vectors that nobody requested."""

from __future__ import annotations

import pytest

from clawmem.domain.maintenance.quick_embedding import is_quick


@pytest.mark.parametrize(
    ("done", "total", "elapsed_ms", "quick"),
    [(256, 256, 60_000, True), (256, 256, 60_001, False), (256, 7680, 2_000, True), (256, 7681, 2_000, False),
     (0, 5, 0, True), (0, 5, 1, False)],
)  # fmt: skip
def test_the_pace_decides(done: int, total: int, elapsed_ms: int, quick: bool) -> None:
    """A minute at most for all texts, those that are done included; a model that embeds nothing is not quick."""
    assert is_quick(done, total, elapsed_ms) is quick
