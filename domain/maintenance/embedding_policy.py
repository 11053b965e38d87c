"""Choices about the vectors of a vault: when an external index pays off, whose vectors are kept, and the pace of embedding."""

from __future__ import annotations

LANCEDB_FROM = 200_000  # vectors; above, a scan of the vault's own takes more than a tenth of a second

LANCEDB_ADVICE = (
    f"Above {LANCEDB_FROM // 1000} 000 vectors LanceDB answers faster. Run: clawmem rebuild --backend lancedb"
)


def wants_lancedb(vectors: int, backend: str) -> bool:
    """Whether a vault with this many vectors should move its indexes to LanceDB."""
    return vectors > LANCEDB_FROM and backend != "lancedb"


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
