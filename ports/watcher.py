from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class StopSignal(Protocol):
    """Stop signal that is set once; satisfied by `threading.Event`."""

    def is_set(self) -> bool:
        """Whether the signal is set."""

    def wait(self, timeout: float) -> bool:
        """Wait up to *timeout* seconds for the signal and return whether it is set."""


class PathChange(NamedTuple):
    """Change at the absolute *path*; ``folder`` tells whether it is, or was, a folder."""

    path: str
    folder: bool = False


class FolderWatcher(Protocol):
    """
    Watcher that reports changes below the user's folders.

    It may miss changes and report changes that did not happen: callers must verify every report by a scan.
    """

    polling: bool  # the system cannot watch that many folders, so they are scanned periodically

    def arm(self, roots: Sequence[str], enter: Callable[[str], bool]) -> int:
        """
        Watch *roots* and all folders below them from now on, instead of the folders watched before.

        Folders created later are watched as well; a missing root is watched as soon as it exists.

        Args:
            roots: Absolute folders.
            enter: Called with the path of each folder below a root, relative to the root; False skips the
                folder without reading it.

        Returns:
            The number of folders watched.
        """

    def wait(self, seconds: float, stop: StopSignal) -> Sequence[PathChange]:
        """
        Return the changes since the last call as soon as there are any; empty after *seconds* or when *stop* is set.

        A path below several roots is reported once for each, and a root is reported if its folder was
        created, removed or replaced.
        """

    def close(self) -> None:
        """Stop watching until the next `arm`."""
