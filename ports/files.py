from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
