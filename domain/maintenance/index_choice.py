"""Automatic choice between the exact vector scan and the vector sidecar."""

from __future__ import annotations

# The exact scan inside the vault takes .4 ms per thousand vectors. The sidecar needs extra files and build time.
# Between the two bounds the present choice is kept (hysteresis), so a vault near a bound does not switch repeatedly.
SIDECAR_FROM = 50_000
SIDECAR_UNTIL = 25_000


def wants_sidecar(vectors: int, has_sidecar: bool) -> bool:
    """Whether *vectors* vectors should be searched by the sidecar, given whether they are now."""
    return vectors >= (SIDECAR_UNTIL if has_sidecar else SIDECAR_FROM)
