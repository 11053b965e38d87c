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


@pytest.mark.parametrize("has_sidecar", [False, True])
@pytest.mark.parametrize("vectors", [SIDECAR_UNTIL, (SIDECAR_UNTIL + SIDECAR_FROM) // 2, SIDECAR_FROM - 1])
def test_nothing_changes_between_the_bounds(vectors: int, has_sidecar: bool) -> None:
    """Whoever keeps the vectors goes on with it, so a vault at the border does not flutter."""
    assert wants_sidecar(vectors, has_sidecar) is has_sidecar


def test_growing_and_shrinking() -> None:
    """Up and down again changes engines twice, however small the steps."""
    sizes = [*range(0, 2 * SIDECAR_FROM, 997), *range(2 * SIDECAR_FROM, 0, -997)]
    changes, has_sidecar = [], False
    for vectors in sizes:
        if wants_sidecar(vectors, has_sidecar) is not has_sidecar:
            has_sidecar = not has_sidecar
            changes.append(vectors)

    assert len(changes) == 2
    assert changes[0] - SIDECAR_FROM in range(997)
    assert SIDECAR_UNTIL - changes[1] in range(1, 998)
