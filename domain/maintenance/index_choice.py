"""Which engine the vectors of a vault are kept by, where the choice is left to the vault."""

from __future__ import annotations

# The exact scan inside the vault costs .4 ms a thousand vectors; the sidecar has a cost of its own, in files
# and in building it. Between the two bounds nothing changes, so that a vault at the border does not flutter.
SIDECAR_FROM = 50_000
SIDECAR_UNTIL = 25_000


def wants_sidecar(vectors: int, has_sidecar: bool) -> bool:
    """Whether that many vectors should be searched by the sidecar, given whether they are now."""
    return vectors >= (SIDECAR_UNTIL if has_sidecar else SIDECAR_FROM)
