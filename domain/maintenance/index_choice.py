"""Choices that depend on the content of a vault: vector index, kept vectors, time limit of vectors."""

from __future__ import annotations

# The exact scan inside the vault takes .4 ms per thousand vectors. The sidecar needs extra files and build time.
# Between the two bounds the present choice is kept (hysteresis), so a vault near a bound does not switch repeatedly.
SIDECAR_FROM = 50_000
SIDECAR_UNTIL = 25_000


def wants_sidecar(vectors: int, has_sidecar: bool) -> bool:
    """Whether *vectors* vectors should be searched by the sidecar, given whether they are now."""
    return vectors >= (SIDECAR_UNTIL if has_sidecar else SIDECAR_FROM)


def keeps_vectors(serving: str | None, building: str | None, selected: str) -> bool:
    """
    Whether a vault keeps its vectors, although ``auto`` selects another model.

    A model that is installed later replaces no vectors without a request: embedding a large vault again takes long, and
    an environment variable that is missing in one shell must not cost any. The request is ``--force``; an interrupted
    replacement continues.

    Args:
        serving: Fingerprint of the model whose vectors answer; ``None`` without vectors.
        building: Fingerprint of the model whose vectors are under construction.
        selected: Fingerprint of the best installed model.
    """
    return serving is not None and selected not in (serving, building)


QUICK_MS = 60_000  # a person waits a minute for a folder to be read, but not an hour


class EmbeddingPace:
    """
    The pace of a run that embeds texts in batches.

    The first batch does not count, because a model is loaded in its time.
    """

    def __init__(self, began_ms: int) -> None:
        self._began_ms = began_ms
        self._first: tuple[int, int] | None = None

    def is_quick(self, done: int, total: int, now_ms: int) -> bool:
        """Whether the run, which has done *done* texts of *total*, ends within `QUICK_MS` at its pace."""
        left_ms = self._began_ms + QUICK_MS - now_ms
        if self._first is None:
            self._first = done, now_ms
            return left_ms >= 0
        first_done, first_ms = self._first
        return (now_ms - first_ms) * (total - done) <= left_ms * (done - first_done)
