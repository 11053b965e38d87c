"""Exports and sessions on disk: folders, files and ZIP files that may hold conversations, and the table of formats."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from clawmem.adapters.conversations import assistants, chats, sessions
from clawmem.adapters.conversations.members import (
    ARCHIVES,
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
HEAD = 1 << 22  # characters by which a format is recognised; a session may begin with a pasted image
# Files of exports without conversations, by the ends of their names.
COMPANIONS = tuple(
    f"{name}.json"
    for name in "channels dms group_chats groups integration_logs message_feedback model_comparisons mpims settings "
    "shared_conversations shopping user users".split()
)


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
        self._text = Format("text", partial(chats.read_text, decode))
        self._formats = [
            *(
                Format(source, partial(sessions.read_session, source, read_messages), mark)
                for source, mark in (
                    ("codex", r'"type"\s*:\s*"(?:session_meta|response_item)"'),
                    ("gemini-cli", r'"projectHash"\s*:|\A\s*\{\s*"sessionId"\s*:[^{}]*"startTime"\s*:'),
                    ("claude-code", r'"sessionId"\s*:'),
                )
            ),
            Format("chatgpt", assistants.read_chatgpt, r'"mapping"\s*:\s*\{'),
            Format("claude.ai", assistants.read_conversations, r'"chat_messages"\s*:'),
            Format("claude.ai", assistants.read_projects, r'"docs"\s*:\s*\['),
            Format("claude.ai", assistants.read_memories, r'"(?:conversations_memory|project_memories)"\s*:'),
            Format(
                "openclaw", sessions.read_openclaw, r'"type"\s*:\s*"session"|"message"\s*:\s*\{\s*"role"\s*:'
            ),
            Format("slack", chats.read_slack, r'"ts"\s*:\s*"\d+\.\d+"'),
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
        beginning = "".join(head.split(maxsplit=2)[:2])
        if not beginning.startswith(("{", "[{", "[]")):  # "[2024-05-01 10:00] Ann: ..." is no JSON
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
                if member.place.endswith(ARCHIVES):
                    raise Unreadable("it is an archive. Unpack it, and name the folder")
                with member.open_text() as text:
                    file_format = self.detect(text.read(HEAD))
                days = chats.slack_days(member) if file_format.source == "slack" else [member]
                seen.update(days)
                written = max(day.file.stamp.mtime_ns for day in days) / 1e9
                for part in file_format.read(member):
                    if isinstance(part, ImportedConversation) and part.started is None:
                        part = part._replace(started=written)  # the time of the file is that of what has none
                    if isinstance(part, ImportedConversation) and part.updated is None:
                        has_times = any(message.at is not None for message in part.messages)
                        part = part._replace(updated=None if has_times else written)
                    yield part
                yield from (FileFinished(day.file, file_format.source) for day in days)
            except Unreadable as error:
                is_foreign = isinstance(error, NotAConversation)
                yield ReadFault(member.place, str(error), is_foreign)
                if is_foreign:
                    yield FileFinished(member.file)
            except Exception as error:  # noqa: BLE001  whatever one file has in it, the others are read
                yield ReadFault(member.place, f"it has an unexpected form ({type(error).__name__}: {error})")


def _is_zip(file: SourceFile) -> bool:
    return file.path.lower().endswith(ZIP)
