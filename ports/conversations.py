"""Port for conversations and memories in the exports of other programs and in the sessions of agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.records import SourceStamp
from clawmem.ports.transcripts import Speaker

RawTime = str | float | None
"""A time as recorded: ISO 8601 text, seconds since the epoch, or unknown."""


class ImportedMessage(NamedTuple):
    """
    One message as recorded, without tool calls and hidden text.

    ``role`` is ``None`` between people; ``name`` is the name of the speaker, empty for that of the role.
    """

    id: str
    text: str
    at: RawTime = None
    role: Speaker | None = None
    name: str = ""


class ImportedConversation(NamedTuple):
    """
    One conversation in the order in which it was held; ``id`` is stable from export to export.

    ``updated`` is the time of its last change, if the export records one.

    ``labels`` are named values such as its project or channel. An empty ``content_type`` is a conversation; another
    type is one text, such as a memory of the user, whose messages are not grouped.
    """

    source: str
    id: str
    title: str
    messages: Sequence[ImportedMessage]
    started: RawTime = None
    labels: tuple[tuple[str, str], ...] = ()
    content_type: str = ""
    updated: RawTime = None


class ExportFile(NamedTuple):
    """A file that may hold conversations, by its absolute path."""

    path: str
    stamp: SourceStamp


class ReadFault(NamedTuple):
    """
    A file, or a part of one, that was not read, and the reason.

    An ``is_foreign`` file holds no conversation. An ``is_partial`` fault may be repaired, so its file is read again.
    """

    file: str
    reason: str
    is_foreign: bool = False
    is_partial: bool = False


class FileFinished(NamedTuple):
    """The end of a file; everything in it was yielded before. ``source`` is empty if its format is unknown."""

    file: ExportFile
    source: str = ""


ExportPart = ImportedConversation | ReadFault | FileFinished


class ConversationExports(Protocol):
    """Reader of exports, which recognises their formats by their content."""

    def files(self, paths: Sequence[str]) -> tuple[list[ExportFile], list[ReadFault]]:
        """
        Return the files below *paths* that may hold conversations, sorted by path, and the paths that cannot be read.

        Folders of programs are skipped.

        Raises:
            SourceUnreadable: none of *paths* can be read.
        """

    def read(self, changed: Sequence[ExportFile], every: Sequence[ExportFile]) -> Iterator[ExportPart]:
        """
        Yield the conversations in *changed* files one by one, parts that could not be read, and each finished file.

        *every* are the files of the same folders, because some exports spread a conversation over several files.
        A file that cannot be read does not end the others. Memory is bounded by the longest conversation.
        """
