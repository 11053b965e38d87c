"""Exports and sessions on disk: folders, files and ZIP files that may hold conversations, and the table of formats."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from clawmem.adapters.conversations import assistants, chats, sessions, slack
from clawmem.adapters.conversations.members import (
    EXTENSIONS,
    ZIP,
    Member,
    NotAConversation,
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
_JSON = re.compile(r"\A\s*(?:\{|\[\s*[{\]])")  # neither "[2024-05-01 10:00] Ann: ..." nor a link of Markdown
COMPANIONS = (  # files of exports without conversations, by the ends of their names
    "channels.json", "dms.json", "group_chats.json", "groups.json", "integration_logs.json", "message_feedback.json",
    "model_comparisons.json", "mpims.json", "settings.json", "shared_conversations.json", "shopping.json", "user.json",
    "users.json",
)  # fmt: skip


class Format(NamedTuple):
    """A format of files, its reader, and the members by whose names and values JSON of the format is recognised."""

    source: str
    read: Callable[[Member], Iterator[ImportedConversation | ReadFault]]
    mark: str = ""


class DiskExports(ConversationExports):
    """
    ``ConversationExports`` in files, folders and ZIP files.

    Args:
        read_messages: Parses the lines of a session of Claude Code, Codex or Gemini CLI.
        decode: Returns the text of a file of any encoding.
    """

    def __init__(self, read_messages: sessions.ReadMessages, decode: chats.Decode) -> None:
        self._database = Format("agent", sessions.read_database)
        self._text = Format("text", chats.reader_of_texts(decode))
        self._formats = [
            Format(source, sessions.reader_of(source, read_messages), mark)
            for source, mark in (
                ("codex", r'"type"\s*:\s*"(?:session_meta|response_item)"'),
                ("gemini-cli", r'"projectHash"\s*:|\A\s*\{\s*"sessionId"\s*:[^{}]*"startTime"\s*:'),
                ("claude-code", r'"sessionId"\s*:'),
            )
        ]
        self._formats += [
            Format("chatgpt", assistants.read_chatgpt, r'"mapping"\s*:\s*\{'),
            Format("claude.ai", assistants.read_conversations, r'"chat_messages"\s*:'),
            Format("claude.ai", assistants.read_projects, r'"docs"\s*:\s*\['),
            Format("claude.ai", assistants.read_memories, r'"(?:conversations_memory|project_memories)"\s*:'),
            Format(
                "openclaw", sessions.read_openclaw, r'"type"\s*:\s*"session"|"message"\s*:\s*\{\s*"role"\s*:'
            ),
            Format("slack", slack.read, r'"ts"\s*:\s*"\d+\.\d+"'),
            Format("chat-json", chats.read_json, r'"role"\s*:\s*"|"messages"\s*:\s*\['),
        ]

    def files(self, paths: Sequence[str]) -> tuple[list[SourceFile], list[ReadFault]]:
        return export_files(paths)

    def read(self, changed: Sequence[SourceFile], every: Sequence[SourceFile]) -> Iterator[ExportPart]:
        for file in filter(_is_zip, changed):
            yield from self._in_archive(file)
        if plain := {file for file in changed if not _is_zip(file)}:
            paths = {file.path: file for file in every if not _is_zip(file)}
            root = os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120
            names = {os.path.relpath(path, root).replace(os.sep, "/"): file for path, file in paths.items()}
            for part in self._in_members([member for member in members_of(names) if member.file in plain]):
                if not isinstance(part, FileFinished) or part.file in plain:
                    yield part

    def detect(self, head: str) -> Format:
        """
        Return the format of a file that begins with *head*.

        Raises:
            NotAConversation: its format is unknown.
            Unreadable: it is empty.
        """
        if head.startswith("SQLite format 3\0"):
            return self._database
        if not head.strip():
            raise Unreadable("it is empty")
        if not _JSON.match(head):
            return self._text
        known = (entry for entry in self._formats if re.search(entry.mark, head, re.DOTALL))
        if entry := next(known, None):
            return entry
        raise NotAConversation(UNKNOWN)

    def _in_archive(self, file: SourceFile) -> Iterator[ExportPart]:
        """Yield the parts of a ZIP file, which is finished if every file in it could be read."""
        source, is_whole = "", True
        try:
            with zipfile.ZipFile(file.path) as archive:
                texts = (name for name in archive.namelist() if name.lower().endswith(EXTENSIONS))
                names = {name: file._replace(path=f"{file.path}/{name}") for name in texts}
                for part in self._in_members(members_of(names, archive)):
                    if isinstance(part, FileFinished):
                        source = source or part.source
                    else:
                        is_whole &= not isinstance(part, ReadFault) or part.is_foreign
                        yield part
            if not names:
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
                if member.name.endswith(COMPANIONS):
                    yield FileFinished(member.file)
                    continue
                file_format = self.detect(member.head())
                days = slack.days(member) if file_format.read is slack.read else [member]
                seen.update(days)
                written = max(day.file.stamp.mtime_ns for day in days) / 1e9
                for part in file_format.read(member):
                    if isinstance(
                        part, ImportedConversation
                    ):  # the time of the file is that of what has none
                        times = (part.updated, *(message.at for message in part.messages))
                        updated = part.updated if any(time is not None for time in times) else written
                        started = written if part.started is None else part.started
                        yield part._replace(started=started, updated=updated)
                    else:
                        yield part
                yield from (FileFinished(day.file, file_format.source) for day in days)
            except Unreadable as error:
                is_foreign = isinstance(error, NotAConversation)
                yield ReadFault(member.place, str(error), is_foreign)
                if is_foreign:
                    yield FileFinished(member.file)
            except Exception as error:  # noqa: BLE001  whatever one file has in it, the others are read
                reason = f"it has an unexpected form ({type(error).__name__}: {error})"
                yield ReadFault(member.place, reason)


def _is_zip(file: SourceFile) -> bool:
    return file.path.lower().endswith(ZIP)
