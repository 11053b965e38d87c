"""Ports for what other programs recorded: conversations, memories, sessions of agents, and issues."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from clawmem.ports.records import SourceFile
from clawmem.ports.sessions import Speaker

RawTime = str | float | None
"""A time as recorded: ISO 8601 text, seconds since the epoch, or unknown."""


class ImportedMessage(NamedTuple):
    """One message without tool calls; ``role`` is ``None`` between people, ``name`` empty for that of the role."""

    id: str
    text: str
    at: RawTime = None
    role: Speaker | None = None
    name: str = ""


class ImportedConversation(NamedTuple):
    """
    One conversation in the order in which it was held; ``id`` is stable from export to export.

    ``updated`` is the time of its last change, if the export records one. ``labels`` are named values such as its
    project or channel, perhaps empty. An empty ``content_type`` is a conversation; another type is one text, such as a memory of the
    user, whose messages are not grouped.
    """

    source: str
    id: str
    title: str
    messages: Sequence[ImportedMessage]
    started: RawTime = None
    labels: Mapping[str, str] = MappingProxyType({})
    content_type: str = ""
    updated: RawTime = None


class ReadFault(NamedTuple):
    """A file, or a part of one, that was not read, and the reason. An ``is_foreign`` file holds no conversation."""

    file: str
    reason: str
    is_foreign: bool = False


class FileFinished(NamedTuple):
    """The end of a file; everything in it was yielded before. ``source`` is empty if its format is unknown."""

    file: SourceFile
    source: str = ""


ExportPart = ImportedConversation | ReadFault | FileFinished


class ConversationExports(Protocol):
    """Reader of exports, which recognises their formats by their content. Paths of files are absolute."""

    def files(self, paths: Sequence[str]) -> tuple[list[SourceFile], list[ReadFault]]:
        """Return the files that may hold conversations, by path, and what cannot be read; raise if nothing can."""

    def read(self, changed: Sequence[SourceFile], every: Sequence[SourceFile]) -> Iterator[ExportPart]:
        """
        Yield the conversations in *changed* files one by one, parts that could not be read, and each finished file.

        *every* are the files of the same folders, because some exports spread a conversation over several files.
        """


class ForeignFact(NamedTuple):
    """Statement about an entity; days are ``YYYY-MM-DD``, empty if unknown. ``kind`` is the kind of the subject."""

    subject: str
    predicate: str
    object: str
    valid_from: str = ""
    valid_to: str = ""
    confidence: float = 1.0
    kind: str = ""


class ForeignRelation(NamedTuple):
    """Relation to another memory of the same store, by its id; ``kind`` is a word of the other tool."""

    target: str
    kind: str
    weight: float = 1.0


class ForeignMemory(NamedTuple):
    """
    A memory of another tool; ``project`` names the project or the user that it belongs to. ``aliases`` are its other names.

    ``id`` is permanent in its store, so that a second import finds the same memory. Unknown times are empty.
    ``superseded_by`` is the id of another memory.
    """

    id: str
    text: str
    title: str = ""
    content_type: str = "note"
    authored_at: str = ""
    tags: tuple[str, ...] = ()
    confidence: float = 0.5
    pinned: bool = False
    snoozed_until: str = ""
    project: str = ""
    facts: tuple[ForeignFact, ...] = ()
    relations: tuple[ForeignRelation, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    private: bool = False
    superseded_by: str = ""


class Unmatched(NamedTuple):
    """An item without a counterpart in a vault: its kind, for a report that counts them."""

    kind: str


class ForeignStore(NamedTuple):
    """Reader of the stores of one tool, with usual places below the home folder; may raise StoreUnreadable."""

    name: str
    usual: tuple[str, ...]
    read: Callable[[str], Iterator[ForeignMemory | Unmatched]]


class AgentSession(NamedTuple):
    """A session of an agent: its id, the size of its transcript, and the time of its last change."""

    id: str
    size_bytes: int
    messages: int
    updated_ms: int


class AgentMessage(NamedTuple):
    """A message of a session; ``role`` is ``user`` or ``assistant``."""

    role: str
    text: str


class AgentSessions(Protocol):
    """Recorded sessions of one agent, none if nothing is recorded. A damaged record raises SourceUnreadable."""

    def sessions(self) -> Sequence[AgentSession]:
        """Return the sessions by id. One whose transcript was moved to an archive has no messages."""

    def messages(self, session_id: str) -> Sequence[AgentMessage]:
        """Return the messages of the user and the assistant in order; none for an unknown session."""


class Issue(NamedTuple):
    """
    An issue of a tracker, with titled ``sections``; deleted ones are only markers.

    ``dependencies`` are the issues that it depends on, each with the type of the dependency, such as ``blocks``.
    """

    id: str
    title: str
    description: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    status: str = ""
    type: str = ""
    priority: str = ""
    assignee: str = ""
    labels: tuple[str, ...] = ()
    parent: str = ""
    created_at: str = ""
    updated_at: str = ""
    closed_at: str = ""
    dependencies: tuple[tuple[str, str], ...] = ()
    is_deleted: bool = False


class IssueList(NamedTuple):
    """The issues of a project, read from the command or the file ``source``, and sentences about unreadable issues."""

    issues: Sequence[Issue]
    problems: Sequence[str]
    source: str


class IssueTracker(Protocol):
    """Tracker of the issues of projects on this machine."""

    def project(self, folder: str) -> str:
        """Return the nearest project folder at or above *folder*; raise NotFound if there is none."""

    def issues(self, project: str) -> IssueList:
        """Return the issues of *project*."""
