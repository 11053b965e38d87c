"""Sources of imported documents, counted from the documents themselves, and the positions of imports in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from clawmem.app.services.portability.importing import tool_of_path
from clawmem.domain.conversations.places import CONVERSATION, conversation_of_path, source_of_path
from clawmem.domain.conversations.versions import ConversationState
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason, Origin, SourceFile
from clawmem.ports.sessions import CaptureStore, Cursor
from clawmem.ports.storage import Transactions

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
        states: list[ConversationState] = []
        while (state := self.conversation(f"{key}/{_FORGOTTEN}/{len(states)}")).units:
            states.append(state)
        return states

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


@dataclass(slots=True)
class ImportedSource:
    """
    One source in one collection: its served conversations and documents, with the times of the first and the last
    document, and of the last import.

    A source is a program whose conversations were mined, or a tool whose memories were imported, without conversations.
    """

    source: str
    collection: str
    conversations: int = 0
    documents: int = 0
    first: str = ""
    last: str = ""
    imported_at: str = ""


def imported_sources(documents: DocumentStore, configured: Collection[str]) -> list[ImportedSource]:
    """Return the sources by collection and name; a *configured* collection has files, so nothing is imported into it."""
    sources: dict[tuple[str, str], ImportedSource] = {}
    conversations: set[tuple[str, str]] = set()
    for name, document in _imported(documents, configured):
        if document.inactive is not None:
            continue
        new = ImportedSource(name, document.collection, first=document.authored_at)
        source = sources.setdefault((document.collection, name), new)
        key = conversation_of_path(document.path)
        if key and document.content_type == CONVERSATION:  # no memory, instruction or document of a project
            source.conversations += (document.collection, key) not in conversations
            conversations.add((document.collection, key))
        source.documents += 1
        source.first = min(source.first, document.authored_at)
        source.last = max(source.last, document.authored_at)
        source.imported_at = max(source.imported_at, document.indexed_at)
    return [sources[key] for key in sorted(sources)]


def documents_of_source(documents: DocumentStore, configured: Collection[str], source: str) -> list[Document]:
    """Return the documents of *source* in every collection whose text the vault has, served or not."""
    return [document for name, document in _imported(documents, configured) if name == source]


def read_again(captures: CaptureStore, transactions: Transactions, collections: Iterable[str]) -> None:
    """Let the next import of each of *collections* read its files again, to count forgotten documents."""
    with transactions.writing():
        for collection in collections:
            ImportPositions(captures, collection).expire_files()


def _imported(documents: DocumentStore, configured: Collection[str]) -> Iterator[tuple[str, Document]]:
    """Yield each imported document that is not forgotten, after the name of its source."""
    withdrawn = (document.collection for document in documents.latest(active=False))
    for collection in sorted({*documents.collections(), *withdrawn}.difference(configured)):
        for document in documents.sources(collection).values():
            is_imported = document.origin is Origin.IMPORTED and document.stamp is None
            name = _source_of(document) if is_imported else ""
            if name and document.inactive is not InactiveReason.FORGOTTEN:
                yield name, document


def _source_of(document: Document) -> str:
    """Return the source of an imported document, empty for one that was derived from others."""
    if document.collection == OWN_COLLECTION:
        return tool_of_path(document.path)
    return source_of_path(document.path) if conversation_of_path(document.path) else ""
