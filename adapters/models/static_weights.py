"""The stored vectors of the static embedder: a file, read where it is asked for."""

from __future__ import annotations

import mmap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.ports.errors import EmbeddingError
from clawmem.ports.named_tuple import NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

ROWS, DIMENSIONS = 32_000, 256

_TENSOR = "embedding.weight"
_MAX_HEADER = 64 * 1024 - 8
_LET_GO: int | None = getattr(mmap, "MADV_DONTNEED", None)  # where the system knows it


class Weights(NamedTuple):
    """A vector for each token, (32 000, 256) float16, as they lie in a file that is mapped into memory."""

    mapped: mmap.mmap
    table: npt.NDArray[np.float16]

    def rows(self, tokens: Ints) -> Floats:
        """
        Those of *tokens*, (n, 256) float32.

        The pages that they lie on go back to the system, which has them in its cache: else a process that lives long
        would hold the whole file in the end.
        """
        import numpy as np

        found = self.table[tokens].astype(np.float32)
        if _LET_GO is not None:
            self.mapped.madvise(_LET_GO)
        return found


@cache  # of the one file there is
def weights_in(path: Path) -> Weights:
    """The weights in *path*; raises `EmbeddingError` when they are not those expected."""
    import numpy as np

    offset = checked_offset(path)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    numbers = np.frombuffer(mapped, "<f2", ROWS * DIMENSIONS, offset)
    return Weights(mapped, numbers.reshape(ROWS, DIMENSIONS))


def missing(reason: str) -> EmbeddingError:
    """What to say when a file of the package is not as it was installed."""
    return EmbeddingError(
        f"The static vectors cannot be loaded: {reason}. Run: pip install --force-reinstall wordllama"
    )


def checked_offset(path: Path) -> int:
    """Where the numbers of the weights begin in bytes; raises `EmbeddingError` when they are not those expected."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = _header(file.read(length)) if length <= _MAX_HEADER else {}
    tensor = header.get(_TENSOR, {})
    size = 2 * ROWS * DIMENSIONS
    expected = {"dtype": "F16", "shape": [ROWS, DIMENSIONS], "data_offsets": [0, size]}
    if tensor != expected or path.stat().st_size != 8 + length + size:
        raise missing(f"{path} is damaged or of another kind")
    return 8 + length


def _header(raw: bytes) -> dict[str, Any]:
    import json

    try:
        return dict(json.loads(raw))
    except (ValueError, TypeError):
        return {}
