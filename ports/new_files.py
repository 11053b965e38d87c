from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.errors import ClawmemError


class FileNotCreated(ClawmemError):
    """A new file cannot be written; nothing was changed."""

    code = "FILE_NOT_CREATED"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"No file can be written at {path}: {reason}. Nothing was written.")


class NewFiles(Protocol):
    """Creation of files in a folder of the user; no existing file is ever changed."""

    def create(self, root: str, folder: str, names: Iterable[str], text: str) -> str:
        """
        Create a file with *text* in *folder*, a relative path below *root*; missing folders below *root* are created.

        The file appears at once with its whole content, under the first of *names* that is free.

        Returns:
            The path of the file below *root*.

        Raises:
            FileNotCreated: *root* is no folder, *folder* leads out of it, or the file cannot be written; there is no
                new file.
        """

    def remove(self, root: str, path: str) -> None:
        """Remove a file that `create` made, and nothing if it is gone."""
