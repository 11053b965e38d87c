from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from clawmem.ports.records import Marker


class DerivedIndex(Protocol):
    """
    What every index has in common: all of it can be made again from the records, and it knows how far it is.

    An index inside the records' own store changes with their transaction. One outside of it is brought up
    to date afterwards by a single indexer, and says by its marker which changes it has seen.
    """

    @property
    def method(self) -> str:
        """How it answers, for `status` and `doctor`: for example ``"vec0"`` or ``"tantivy"``."""
        ...

    def marker(self) -> Marker | None:
        """
        What the last commit was stamped with, by whichever process; ``None`` for a new or cleared index.

        Raises:
            IndexUnavailable, IndexDamaged: it cannot be read.
        """
        ...

    def committing(self, marker: Marker | None = None) -> AbstractContextManager[None]:
        """
        One commit: what is put and removed inside becomes durable, and visible to every process, when the block ends.

        The marker is part of the same commit; with ``None`` it stays as it was. When the block raises nothing
        of it remains. Not reentrant: inside another it raises RuntimeError. A single change outside of a block
        is a commit of its own.

        Raises:
            IndexBusy: another process is committing and did not end in time.
            IndexUnavailable: the place where it lies cannot be reached.
        """
        ...

    def clear(self) -> None:
        """Empty it, the marker included; it can be filled again from the records, with vectors of any length."""
        ...

    def optimize(self) -> None:
        """Make reading cheap again after many commits. Changes no answer; may do nothing."""
        ...

    def faults(self) -> list[str]:
        """What is wrong inside of it, in sentences; empty when it is sound."""
        ...

    def close(self) -> None:
        """Give everything back; a second call does nothing."""
        ...
