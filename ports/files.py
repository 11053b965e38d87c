"""Ports for the user's files: reading, watching and creating them, and the text of files that are no text."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.records import Scan


class FileSource(Protocol):
    """Read-only access to the user's files."""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """
        List every regular file below the absolute folder *root* that is wanted, sorted by path; open none.

        Symbolic links are not followed. In each folder, names that begin with a dot are asked for first. *enter* and
        *wanted* receive paths below the root, those of links to folders and of all else too; a folder that is not
        entered is not read. See `Scan` for a missing root.
        """

    def read(self, root: str, path: str) -> bytes:
        """Return the bytes of a file; raise SourceMissing, or SourceUnreadable also for one outside *root*."""


class NewFiles(Protocol):
    """Creation of files in a folder of the user; no file that others made is ever changed."""

    def create(self, root: str, folder: str, names: Iterable[str], text: str) -> str:
        """
        Create a whole file with *text* in *folder*, below *root* and created too, and return its path below *root*.

        It has the first of *names* that is free. Raises FileNotCreated if it cannot be written, or would be outside.
        """

    def rewrite(self, root: str, path: str, change: Callable[[str], str | None]) -> bool:
        """
        Replace a file that `create` made, as a whole, by what *change* makes of its text; return whether it did.

        The file stays as it is if that is ``None``. Raises FileNotCreated if it cannot be read or written.
        """

    def remove(self, root: str, path: str) -> None:
        """Remove a file that `create` made, and nothing if it is gone."""


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
        Watch the absolute folders *roots* and all folders below them, instead of those before; return their number.

        Folders and roots created later are watched as well. *enter* is called with the path of each folder, relative to
        the root; False skips the folder.
        """

    def wait(self, seconds: float, stop: StopSignal) -> Sequence[PathChange]:
        """Return the changes since the last call as soon as there are any; empty after *seconds* or at *stop*."""

    def close(self) -> None:
        """Stop watching until the next `arm`."""


class ExtractedText(NamedTuple):
    """
    The text of a file as Markdown, with a heading for each place: a page, a card or a heading of its own.

    ``name`` is the title that the file declares, and ``date`` its day in ISO 8601; empty if it declares none.
    ``has_links`` is whether the text links to notes as Markdown does. ``warning`` describes missing text.
    """

    body: str
    name: str = ""
    date: str = ""
    has_links: bool = False
    warning: str | None = None


TextExtractor = Callable[[str, bytes], ExtractedText | None]
"""
Reader of a file by its path and content; ``None`` for a file that is text itself.

It raises SourceUnreadable for damaged or encrypted content, and if a package is not installed.
"""
