"""Positions of the import in files and conversations, stored in the vault with the documents."""

from __future__ import annotations

from clawmem.domain.conversations.versions import ConversationState
from clawmem.ports.records import SourceFile
from clawmem.ports.sessions import CaptureStore, Cursor

_READER = "mine "  # followed by the collection
_FORGOTTEN = "forgotten"
_DIGITS = 15  # of a digest, so that the number fits into an integer of the vault


class ImportPositions:
    """
    Files and conversations that one collection holds already, as cursors of a reader.

    The cursor of a file and source holds its size and time, and how often documents of a source were forgotten; that of
    a conversation the number of its units, their digest and its version.
    """

    def __init__(self, captures: CaptureStore, collection: str) -> None:
        self._captures = captures
        self._reader = f"{_READER}{collection}"
        self._times_forgotten = captures.cursor(_FORGOTTEN, self._reader).line

    def has_file(self, file: SourceFile, source: str) -> bool:
        """Whether the file was imported in this state as *source*; not if a source was forgotten since."""
        return self._captures.cursor(_file_key(file, source), self._reader) == self._state(file)

    def put_file(self, file: SourceFile, source: str) -> None:
        """Record that the file was imported as *source*."""
        self._captures.advance(_file_key(file, source), self._reader, self._state(file))

    def conversation(self, key: str) -> ConversationState:
        """Return the imported state of the conversation *key*."""
        return ConversationState(*self._captures.cursor(key, self._reader))

    def put_conversation(self, key: str, state: ConversationState) -> None:
        """Record the imported state of a conversation."""
        self._captures.advance(key, self._reader, Cursor(*state))

    def forgotten(self, key: str) -> list[ConversationState]:
        """Return the states of the conversation *key* in which documents of it were forgotten, in order."""
        found: list[ConversationState] = []
        while (state := self.conversation(f"{key}/{_FORGOTTEN}/{len(found)}")).units:
            found.append(state)
        return found

    def put_forgotten(self, key: str, number: int, state: ConversationState) -> None:
        """Record the state in which documents of a conversation were forgotten for the *number*-th time, from 0."""
        self.put_conversation(f"{key}/{_FORGOTTEN}/{number}", state)

    def expire_files(self) -> None:
        """Let every file be read again, because a source was forgotten."""
        self._captures.advance(_FORGOTTEN, self._reader, Cursor(self._times_forgotten + 1))

    def _state(self, file: SourceFile) -> Cursor:
        # A file without bytes differs from one that was never read.
        return Cursor(1 + self._times_forgotten, file.stamp.size, file.stamp.mtime_ns)


def digest_number(digest: str) -> int:
    """Return a hexadecimal *digest* as a number of a state."""
    return int(digest[:_DIGITS], 16)


def _file_key(file: SourceFile, source: str) -> str:
    return f"{source}:{file.path}" if source else file.path
