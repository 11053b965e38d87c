"""The stored vectors of the static embedder, in a memory-mapped file."""

from __future__ import annotations

import mmap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.ports.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

ROWS, DIMENSIONS = 32_000, 256

_TENSOR = "embedding.weight"
_MAX_HEADER = 64 * 1024 - 8
_LET_GO: int | None = getattr(mmap, "MADV_DONTNEED", None)  # None where the system does not have it


class Weights(NamedTuple):
    """A vector for each token, (32 000, 256) float16, in a memory-mapped file."""

    mapped: mmap.mmap
    table: npt.NDArray[np.float16]

    def rows(self, tokens: Ints) -> Floats:
        """
        Return the vectors of *tokens*, (n, 256) float32.

        The mapped pages are released afterwards and stay in the system's cache. Otherwise a long-lived
        process would finally hold the whole file in memory.
        """
        import numpy as np

        found = self.table[tokens].astype(np.float32)
        if _LET_GO is not None:
            self.mapped.madvise(_LET_GO)
        return found


@cache  # there is only one file
def weights_in(path: Path) -> Weights:
    """Map the weights in *path*. Raises `EmbeddingError` if the file has another layout."""
    import numpy as np

    offset = checked_offset(path)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    numbers = np.frombuffer(mapped, "<f2", ROWS * DIMENSIONS, offset)
    return Weights(mapped, numbers.reshape(ROWS, DIMENSIONS))


def missing(reason: str) -> EmbeddingError:
    """Return the error for a file of the package that is missing or damaged."""
    return EmbeddingError(
        f"The static vectors cannot be loaded: {reason}. Run: pip install --force-reinstall wordllama"
    )


def checked_offset(path: Path) -> int:
    """
    Return the byte offset of the numbers in the file. Raises `EmbeddingError` if the file has another layout.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = _header(file.read(length)) if length <= _MAX_HEADER else {}
    tensor = header.get(_TENSOR, {})
    size = 2 * ROWS * DIMENSIONS
    expected = {"dtype": "F16", "shape": [ROWS, DIMENSIONS], "data_offsets": [0, size]}
    if tensor != expected or path.stat().st_size != 8 + length + size:
        raise missing(f"{path} is damaged or has another format")
    return 8 + length


def _header(raw: bytes) -> dict[str, Any]:
    import json

    try:
        return dict(json.loads(raw))
    except (ValueError, TypeError):
        return {}
