from __future__ import annotations

import shutil

from clawmem.ports.backend import Backend, IndexPlace
from clawmem.ports.vector_index import VectorIndex


def open_vectors(place: IndexPlace) -> VectorIndex:
    """Open the vectors of one generation, created if they do not exist."""
    from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex

    return SidecarVectorIndex(place.folder, read_only=place.read_only)


def discard(place: IndexPlace) -> None:
    """Delete the folder of one generation."""
    shutil.rmtree(place.folder, ignore_errors=True)


SIDECAR = Backend("sidecar", vectors=open_vectors, discard=discard)
