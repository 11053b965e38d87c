from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clawmem.ports.records import Scan


class FileSource(Protocol):
    """Read-only access to the user's files."""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """
        List every regular file below *root* that is wanted, sorted by path.

        Makes one stat call per file and opens no file. Symbolic links to folders or files are neither
        followed nor reported.

        Args:
            root: An absolute folder.
            enter: Called with the relative path of each folder; False skips the folder without reading it.
            wanted: Called with the relative path of each file.

        Returns:
            The files; folders that could not be listed in ``unreadable``; wanted files and folders whose
            names are not UTF-8 in ``misnamed``. If the root is not a folder, ``root_exists`` is False and
            there are no files; this is not an error and differs from an empty folder.
        """

    def read(self, root: str, path: str) -> bytes:
        """
        Return the bytes of one file of a scan.

        Raises:
            SourceUnreadable: the file was removed, may not be read, or is outside *root* once links are
                resolved.
        """
