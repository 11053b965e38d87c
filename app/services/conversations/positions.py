"""Positions of the import in files and conversations, stored in the vault with the documents."""

from __future__ import annotations

from clawmem.ports.captures import CaptureStore, Cursor
from clawmem.ports.conversations import ExportFile

_READER = "mine "  # followed by the collection
_DIGITS = 15  # of a digest, so that the number fits into an integer of the vault


class ImportPositions:
    """
    Files and conversations that one collection holds already, as cursors of a reader.

    The cursor of a file holds its size and time; that of a conversation the number of its units and their digest.
    """

    def __init__(self, captures: CaptureStore, collection: str) -> None:
        self._captures = captures
        self._reader = f"{_READER}{collection}"

    def has_file(self, file: ExportFile) -> bool:
        """Whether the file was imported in this state."""
        return self._captures.cursor(file.path, self._reader) == _state(file)

    def put_file(self, file: ExportFile) -> None:
        """Record that the file was imported."""
        self._captures.advance(file.path, self._reader, _state(file))

    def units(self, key: str) -> int:
        """Return how many units of the conversation *key* were imported."""
        return self._captures.cursor(key, self._reader).line

    def has_conversation(self, key: str, digest: str) -> bool:
        """Whether the conversation *key* was imported with this digest."""
        return self._captures.cursor(key, self._reader).offset == int(digest[:_DIGITS], 16)

    def put_conversation(self, key: str, units: int, digest: str) -> None:
        """Record that *units* units of a conversation were imported."""
        self._captures.advance(key, self._reader, Cursor(units, int(digest[:_DIGITS], 16)))


def _state(file: ExportFile) -> Cursor:
    # A file without bytes differs from one that was never read.
    return Cursor(1, file.stamp.size, file.stamp.mtime_ns)
