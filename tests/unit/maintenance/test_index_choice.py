from __future__ import annotations

import pytest

from clawmem.domain.maintenance.index_choice import SIDECAR_FROM, SIDECAR_UNTIL, wants_sidecar


@pytest.mark.parametrize(
    ("vectors", "has_sidecar", "wanted"),
    [
        (0, False, False),
        (SIDECAR_FROM - 1, False, False),
        (SIDECAR_FROM, False, True),
        (10 * SIDECAR_FROM, False, True),
        (10 * SIDECAR_FROM, True, True),
        (SIDECAR_UNTIL, True, True),
        (SIDECAR_UNTIL - 1, True, False),
        (0, True, False),
    ],
)
def test_the_bounds(vectors: int, has_sidecar: bool, wanted: bool) -> None:
    """It is taken from the upper bound on, and kept down to the lower one, both inclusive."""
    assert wants_sidecar(vectors, has_sidecar) is wanted
