from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clawmem.ports.records import Scan


class FileSource(Protocol):
    """Read-only access to the user's files."""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """
        List every regular file below *root* that is wanted, sorted by path.

        Makes one stat call per file and opens no file. Symbolic links to folders or files are not
        followed, and ``links`` names them. In each folder, names that begin with a dot are asked for first.

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
            SourceMissing: there is no such file.
            SourceUnreadable: the file may not be read, or is outside *root* once links are
                resolved.
        """

    def read_above(self, root: str, path: str, *, up_to: str) -> list[tuple[str, bytes]]:
        """
        Return the content of the file *path* in each folder above *root* that has one, nearest first.

        Args:
            up_to: The name that marks the last folder, such as ``.git``; if *root* has it, or no folder above has
                it, nothing is returned.

        Returns:
            The absolute folder and the bytes of each file; unreadable files are left out.
        """
