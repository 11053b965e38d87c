from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class MemoryFiles(Protocol):
    """
    Text files below one folder, which callers name ``/memories``; for the commands of ``memory_20250818``.

    No path leads out of the folder: neither ``..``, plain or encoded, nor a link. Each method returns the sentence that
    models know, and changes nothing if it raises.

    Raises:
        InvalidInput: The command cannot be executed.
        NotFound: There is no file or folder at the path.
    """

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Return the entries of a folder, two levels deep, or the numbered lines of a file."""

    def create(self, path: str, text: str) -> str:
        """Create a file."""

    def str_replace(self, path: str, old: str, new: str) -> str:
        """Replace a text that occurs exactly once in a file."""

    def insert(self, path: str, line: int, text: str) -> str:
        """Insert a text after a line; 0 is the top."""

    def delete(self, path: str) -> str:
        """Delete a file, or a folder with everything in it."""

    def rename(self, old: str, new: str) -> str:
        """Rename or move a file or folder; nothing is overwritten."""
