from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class Stop(Protocol):
    """Set once, by whoever wants the end; as `threading.Event` is."""

    def is_set(self) -> bool:
        """Whether the end is wanted."""
        ...

    def wait(self, timeout: float) -> bool:
        """Wait for that, *timeout* seconds at most; whether it is wanted."""
        ...


class Change(NamedTuple):
    """Something happened to *path*, which is absolute; ``folder`` says that it is, or was, a folder."""

    path: str
    folder: bool = False


class FolderWatcher(Protocol):
    """
    Tells what happens below folders of the user's.

    It may miss something, and tell of what did not happen: who listens looks for himself.
    """

    polling: bool  # the system lets nobody watch that many folders, they are looked through now and then

    def arm(self, roots: Sequence[str], enter: Callable[[str], bool]) -> int:
        """
        Watch *roots* and all folders below them from now on, and nothing that was watched before.

        A folder that is made later is watched as well; a root that is not there yet, as soon as it is.

        Args:
            roots: Absolute folders.
            enter: Asked with the path of each folder below a root, relative to that; False prunes it unseen.

        Returns:
            How many folders are watched.
        """
        ...

    def wait(self, seconds: float, stop: Stop) -> Sequence[Change]:
        """
        What happened since, as soon as something did; nothing after *seconds*, or when *stop* is set.

        A path is told by each root that it lies below, and a root that came, went or was replaced as a folder.
        """
        ...

    def close(self) -> None:
        """Watch nothing any more, until it is armed again."""
        ...
