from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clawmem.ports.records import Scan


class FileSource(Protocol):
    """The user's own files, read only."""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """
        Every regular file below *root* that is wanted, sorted by path.

        Costs one stat a file and opens none. Symbolic links are neither followed nor reported, be they
        folders or files.

        Args:
            root: An absolute folder.
            enter: Asked with the relative path of each folder; False prunes it unseen.
            wanted: Asked with the relative path of each file.

        Returns:
            The files; folders that could not be listed in ``unreadable``, wanted files and folders whose names are not
            UTF-8 in ``misnamed``. A root that is not a folder
            gives ``root_exists=False`` and no files: not an error, and not an empty folder.
        """
        ...

    def read(self, root: str, path: str) -> bytes:
        """
        The bytes of one file of a scan.

        Raises:
            SourceUnreadable: it is gone, may not be read, or lies outside *root* once links are resolved.
        """
        ...
