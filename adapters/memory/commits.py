from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clawmem.ports.records import Marker


class Commits:
    """What the indexes in memory have in common: a block is undone from a copy."""

    def __init__(self) -> None:
        self._marker: Marker | None = None
        self._is_committing = False

    @abstractmethod
    def snapshot(self) -> Callable[[], None]:
        """A function that puts the index back to how it is now."""

    def marker(self) -> Marker | None:
        return self._marker

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        undo = self.snapshot()
        self._is_committing = True
        try:
            yield
            self._marker = marker or self._marker
        except BaseException:
            undo()
            raise
        finally:
            self._is_committing = False

    def optimize(self) -> None:
        """Nothing to make cheaper."""

    def faults(self) -> list[str]:
        return []

    def close(self) -> None:
        """Nothing to give back."""
