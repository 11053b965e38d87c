"""Exports and sessions on disk: folders, files and ZIP files that may hold conversations, and the table of formats."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from clawmem.adapters.conversations import chatgpt, chats, claude_ai, sessions, slack
from clawmem.adapters.conversations.members import (
    EXTENSIONS,
    ZIP,
    Member,
    NotAConversation,
    Record,
    Unreadable,
    export_files,
    members_of,
    reason_of_os,
)
from clawmem.ports.imports import (
    ConversationExports,
    ExportPart,
    FileFinished,
    ImportedConversation,
    ReadFault,
)
from clawmem.ports.records import SourceFile

UNKNOWN = "it has no known format of conversations"
PACKED = (".tgz", ".gz", ".tar", ".bz2", ".xz", ".7z", ".rar")
_SQLITE = b"SQLite format 3\0"
# Neither "[2024-05-01 10:00] Ann: ..." nor a link of Markdown begins like JSON.
_JSON = re.compile(rb"[\s\0]*(?:\{|(\[)[\s\0]*[{\]])")
_MARKS = b"\xef\xbb\xbf\xff\xfe"  # of encodings
_SAMPLE_RECORDS = 200  # a session begins with lines of its program

Read = Callable[[Member], Iterator[ImportedConversation | ReadFault]]


class _Format(NamedTuple):
    """
    Format of a file, recognised by the members that one of its first objects has: all of one of ``members``, which are
    names, or a name with a value (``type=message``).

    Without a ``source`` the file accompanies an export, and holds no conversation.
    """

    source: str
    read: Read
    members: Sequence[str] = ()


class DiskExports(ConversationExports):
    """
    ``ConversationExports`` in files, folders and ZIP files.

    Args:
        read_messages: Parses the lines of a session of Claude Code, Codex or Gemini CLI.
        decode: Returns the text of a file of any encoding.
    """

    def __init__(self, read_messages: sessions.ReadMessages, decode: chats.Decode) -> None:
        self._text = _Format("text", chats.reader_of_texts(decode))
        self._table = (
            _Format("chatgpt", chatgpt.read, ["mapping"]),
            _Format("claude.ai", claude_ai.read_conversations, ["chat_messages"]),
            _Format("claude.ai", claude_ai.read_projects, ["uuid docs name"]),
            _Format("claude.ai", claude_ai.read_memories, ["conversations_memory", "project_memories"]),
            _Format("claude-code", sessions.reader_of("claude-code", read_messages), ["sessionId type"]),
            _Format(
                "codex",
                sessions.reader_of("codex", read_messages),
                ["type=session_meta payload", "type=response_item payload"],
            ),
            _Format(
                "gemini-cli",
                sessions.reader_of("gemini-cli", read_messages),
                ["sessionId projectHash", "sessionId startTime"],
            ),
            _Format("openclaw", sessions.read_openclaw, ["type=session id", "type=message id message"]),
            _Format("opencode", sessions.read_opencode, ["info messages"]),
            _Format("slack", slack.read, ["type=message ts"]),
            _Format("", _nothing, _COMPANIONS),
            _Format("chat-json", chats.read_json, ["role content", "messages"]),
        )

    def files(self, paths: Sequence[str]) -> tuple[list[SourceFile], list[ReadFault]]:
        return export_files(paths)

    def read(self, changed: Sequence[SourceFile], every: Sequence[SourceFile]) -> Iterator[ExportPart]:
        for file in filter(_is_zip, changed):
            yield from self._in_archive(file)
        if plain := {file for file in changed if not _is_zip(file)}:
            paths = {file.path: file for file in every if not _is_zip(file)}
            root = os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120
            names = {os.path.relpath(path, root).replace(os.sep, "/"): file for path, file in paths.items()}
            members = members_of(names)
            for part in self._in_members([member for member in members if member.file in plain]):
                if not isinstance(part, FileFinished) or part.file in plain:
                    yield part

    def _in_archive(self, file: SourceFile) -> Iterator[ExportPart]:
        """Yield the parts of a ZIP file, which is finished if every file in it could be read."""
        source, is_whole, is_silent = "", True, True
        try:
            with zipfile.ZipFile(file.path) as archive:
                texts = (name for name in archive.namelist() if name.lower().endswith(EXTENSIONS))
                names = {name: file._replace(path=f"{file.path}/{name}") for name in texts}
                for part in self._in_members(members_of(names, archive)):
                    if isinstance(part, FileFinished):
                        source = source or part.source
                    else:
                        is_silent = False
                        is_whole &= not isinstance(part, ReadFault) or part.is_foreign
                        yield part
                inner = [name for name in archive.namelist() if name.lower().endswith(ZIP)]
            if inner and not source:
                reason = f"it has ZIP files in it, such as {inner[0]}; unpack it, and name them"
                yield ReadFault(file.path, reason)
                return
            if is_silent:
                yield ReadFault(file.path, UNKNOWN, is_foreign=True)
            if is_whole:
                yield FileFinished(file, source)
        except (zipfile.BadZipFile, EOFError, ValueError) as error:
            yield ReadFault(file.path, f"it is no complete ZIP file ({error}); download it again")
        except OSError as error:
            yield ReadFault(file.path, reason_of_os(error))

    def _in_members(self, members: Sequence[Member]) -> Iterator[ExportPart]:
        """Yield what *members* hold; a day of a Slack channel brings its other days along."""
        seen = set[Member]()
        for member in members:
            if member in seen:
                continue
            try:
                file_format = self._format_of(member)
                days = slack.days(member) if file_format.read is slack.read else [member]
                seen.update(days)
                written = max(day.file.stamp.mtime_ns for day in days) / 1e9
                for part in file_format.read(member):
                    yield part if isinstance(part, ReadFault) else _dated(part, written)
                yield from (FileFinished(day.file, file_format.source) for day in days)
            except NotAConversation as error:
                yield ReadFault(member.place, str(error), is_foreign=True)
                yield FileFinished(member.file)
            except Unreadable as error:
                yield ReadFault(member.place, str(error))
            except Exception as error:  # noqa: BLE001  whatever one file has in it, the others are read
                reason = f"it has an unexpected form ({type(error).__name__}: {error})"
                yield ReadFault(member.place, reason)

    def _format_of(self, member: Member) -> _Format:
        """
        Return the format of a file by its first objects.

        Raises:
            NotAConversation: its format is unknown.
            Unreadable: it is empty, an archive, or no valid JSON.
        """
        if member.name.lower().endswith(PACKED):
            raise Unreadable("of archives, ZIP files alone are read; unpack it, and name its folder")
        with member.open() as file:
            head = file.read(1 << 16)
        if head.startswith(_SQLITE):
            return _Format("agent", sessions.read_database)
        if not head.strip():
            raise Unreadable("it is empty")
        if not (start := _JSON.match(head.lstrip(_MARKS))):
            return self._text
        records = list[Record]()
        try:
            records += islice(member.objects(), 1 if start[1] else _SAMPLE_RECORDS)
        except Unreadable:
            if not records:
                raise
        for entry in self._table:
            if any(_has(record, members) for members in entry.members for record in records):
                return entry
        if any(records):
            raise NotAConversation(UNKNOWN)
        return _Format("", _nothing)


def _has(record: Record, members: str) -> bool:
    parts = (member.partition("=") for member in members.split())
    return all(name in record and value in ("", record[name]) for name, _, value in parts)


def _nothing(member: Member) -> Iterator[ImportedConversation]:
    yield from ()


_COMPANIONS = (
    "conversation_id evaluation_name", "conversation_id rating", "conversation_id is_anonymous",
    "conversation_id title", "email id", "email chatgpt_plus_user", "user_id settings", "chats",
    "generations tasks",  # of ChatGPT
    "locale theme", "uuid email_address",  # of Claude.ai
    "id profile", "id team_id", "id members", "service_id date",  # of Slack
)  # fmt: skip


def _is_zip(file: SourceFile) -> bool:
    return file.path.lower().endswith(ZIP)


def _dated(conversation: ImportedConversation, written: float) -> ImportedConversation:
    """Return *conversation* with the time of its file in the place of missing times."""
    is_timed = conversation.updated is not None or any(
        message.at is not None for message in conversation.messages
    )
    return conversation._replace(
        started=written if conversation.started is None else conversation.started,
        updated=conversation.updated if is_timed else written,
    )
