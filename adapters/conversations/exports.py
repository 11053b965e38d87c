"""Sessions and exports of agents and assistants on disk: their formats, and the files that may hold conversations."""

import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

import apsw

from clawmem.adapters.conversations import chats
from clawmem.adapters.conversations.members import (
    ARCHIVES,
    DATABASES,
    EXTENSIONS,
    TRANSCRIPT,
    ZIP,
    Member,
    NotAConversation,
    Record,
    Unreadable,
    branch,
    export_files,
    members_of,
    paragraphs,
    parsed,
    reason_of_os,
    text_of_parts,
    with_attachments,
)
from clawmem.ports.imports import (
    ConversationExports,
    ExportPart,
    FileFinished,
    ImportedConversation,
    ImportedMessage,
    ReadFault,
)
from clawmem.ports.json_text import read_json
from clawmem.ports.records import SourceFile
from clawmem.ports.sessions import Speaker, TranscriptMessage

Conversations = Iterator[ImportedConversation | ReadFault]
ReadMessages = Callable[[Iterable[bytes]], tuple[Sequence[TranscriptMessage], int]]
"""Parses the lines of a session of Claude Code, Codex or Gemini CLI; the number is that of unreadable lines."""

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Member with a title by the type of its line, best first."""


def read_session(source: str, read_messages: ReadMessages, member: Member) -> Conversations:
    """Yield the session of *source*, and a fault if lines of it could not be read."""
    facts, lines = Record(), member.lines()
    if member.name.endswith(".json"):  # one object, with the messages of Gemini CLI
        messages = (message for session in member.objects() for message in session.objects("messages"))
        lines = (json.dumps(message).encode() + b"\n" for message in messages)
    read_lines, unreadable = read_messages(_with_facts(lines, facts))
    yield ImportedConversation(
        source,
        member.stem,
        facts.text(*_TITLES),
        [ImportedMessage(line.id, line.text, line.at or None, line.speaker) for line in read_lines],
        facts.text("timestamp") or None,
        {"project": facts.text("cwd")},
    )
    if unreadable:
        yield ReadFault(member.file.path, f"unreadable lines: {unreadable}")


def _with_facts(lines: Iterable[bytes], facts: Record) -> Iterator[bytes]:
    """Yield *lines*, and note the title, the working folder and the first time of the session."""
    for line in lines:
        record = parsed(line)
        kind = record.text("type")
        values = {
            "timestamp": facts.text("timestamp") or record.text("timestamp", "startTime"),
            "cwd": facts.text("cwd") or record.text("cwd") or record.object("payload").text("cwd"),
            kind: record.text(_TITLES.get(kind, "")),
        }
        facts.update({name: value for name, value in values.items() if value})
        yield line


def read_openclaw(member: Member, lines: Iterable[bytes] = (), name: str = "") -> Conversations:
    """Yield the session of OpenClaw in *lines*, by default those of the file, and a fault if some could not be read."""
    name, lines = name or member.stem, lines or member.lines()
    started, unreadable = None, 0
    messages: list[ImportedMessage] = []
    for number, line in enumerate(lines, start=1):
        record = parsed(line)
        message = record.object("message")
        unreadable += not record and bool(line.strip()) and line.endswith(b"\n")
        if record.get("type") == "session":
            name, started = record.text("id") or name, record.time("timestamp")
        elif record.get("type") == "message" and message.get("role") in ("user", "assistant"):
            at = record.time("timestamp") or message.time("timestamp")
            text = message.text("content") or text_of_parts(message.get("content"))
            key = record.text("id") or f"line-{number}"
            messages.append(ImportedMessage(key, text, at, Speaker(message["role"])))
    yield ImportedConversation("openclaw", name, "", messages, started)
    if unreadable:
        yield ReadFault(member.file.path, f"unreadable lines: {unreadable}")


# Events that OpenClaw has compressed count as unreadable lines.
_EVENTS = "select coalesce(event_json, 'compressed') from transcript_events where session_id = ? order by seq"


def read_database(member: Member) -> Conversations:
    """Yield the sessions in the database of an agent, also while the agent has it open."""
    address = f"file:{quote(os.fsencode(member.file.path))}?mode=ro"
    try:
        with closing(apsw.Connection(address, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as database:
            database.set_busy_timeout(2_000)  # an agent writes for milliseconds
            names = {name for (name,) in database.execute("select name from sqlite_schema")}
            if "transcript_events" in names:  # of OpenClaw
                sessions = database.execute("select distinct session_id from transcript_events order by 1")
                for (name,) in sessions:
                    events = database.execute(_EVENTS, (name,))
                    yield from read_openclaw(member, (f"{event}\n".encode() for (event,) in events), name)
            elif names.issuperset(("session", "message", "part")):
                yield from _opencode_rows(database)
            elif names.issuperset(("sessions", "messages")):
                yield from _hermes_rows(database)
            else:
                raise NotAConversation("it is the database of a program that is not known")
    except (apsw.Error, UnicodeError) as error:
        raise Unreadable(f"its database cannot be read ({error})") from error


def _opencode_rows(database: apsw.Connection) -> Conversations:
    """Yield the sessions, without those of subagents, and without summaries."""
    sessions = "select id, title, directory, time_created from session where parent_id is null order by id"
    query = "select id, time_created, data from message where session_id = ? order by time_created, id"
    of_message = (
        "select json_group_array(json(data)) from (select data from part where message_id = ? order by id)"
    )
    for name, title, directory, started in database.execute(sessions):
        messages = []
        for key, at, data in database.execute(query, (name,)):
            message = parsed(data)
            if message.get("role") in ("user", "assistant") and message.get("summary") is not True:
                [(parts,)] = database.execute(of_message, (key,))
                text = text_of_parts(read_json(parts))
                if message["role"] == "user" and _QUOTED.fullmatch(text):  # by `opencode run`
                    text = text[1:-1].replace('\\"', '"')
                messages.append(ImportedMessage(key, text, at, Speaker(message["role"])))
        yield ImportedConversation("opencode", name, title, messages, started, {"project": directory})


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_STRUCTURED = "\0json:"  # before content that is a list of parts
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")  # of earlier messages, which are stored as well


def _hermes_rows(database: apsw.Connection) -> Conversations:
    """
    Yield the sessions, without those of subagents.

    A compaction copies the last messages behind a summary; neither is a message. Messages that the user took back are
    left out.
    """
    sessions = (
        "select id, coalesce(title, ''), coalesce(cwd, ''), started_at from sessions "
        "where coalesce(model_config, '') not like '%\"_delegate_from\"%' order by id"
    )
    query = (
        "select id, role, content, timestamp, active, compacted from messages "
        "where session_id = ? and role in ('user', 'assistant') order by id"
    )
    for name, title, directory, started in database.execute(sessions):
        rows = list(database.execute(query, (name,)))
        compacted = {(role, content) for _, role, content, _, _, is_compacted in rows if is_compacted}
        messages = []
        for key, role, content, at, is_active, is_compacted in rows:
            text = content if isinstance(content, str) else ""
            if text.startswith(_STRUCTURED):
                text = text_of_parts(parsed(f'{{"parts": {text.removeprefix(_STRUCTURED)}}}').get("parts"))
            is_copy = not is_compacted and (not is_active or (role, content) in compacted)
            if text and not is_copy and not text.startswith(_SUMMARIES):
                messages.append(ImportedMessage(str(key), text, at, Speaker(role)))
        yield ImportedConversation("hermes", name, title, messages, started, {"project": directory})


# -- data exports of ChatGPT and Claude.ai ---------------------------------------------------------------

_MARK = "(?:\u3010[^\u3011\n]{0,200}\u2020[^\u3011\n]{0,200}\u3011|\ue200[^\ue201]{0,500}\ue201)"
# With the blank before it, if no word follows: "sells it <mark>, about 9 EUR".
_CITATION = re.compile(rf"[ \t]?{_MARK}(?=[\s.,;:!?)]|\Z)|{_MARK}")


def read_chatgpt(member: Member) -> Iterator[ImportedConversation | ReadFault]:
    """Yield the conversations of a file, custom instructions as preferences, and a fault for each damaged one."""
    for chat in member.objects():
        title = chat.text("title", "conversation_id", "id") or "without a title"
        if not isinstance(chat.get("mapping"), dict):
            yield ReadFault(member.file.path, f"the conversation {title} is damaged, without a mapping")
            continue
        nodes = {name: Record(node) for name, node in chat["mapping"].items()}
        before = {name: node.text("parent") for name, node in nodes.items()}
        listed = {child: name for name, node in nodes.items() for child in node.texts("children")}
        parents = listed | {name: parent for name, parent in before.items() if parent in nodes}
        by_name = {name: message for name, node in nodes.items() if (message := node.object("message"))}
        current = chat.text("current_node")
        if current not in nodes:  # without one, the message that was written last
            written = {name: message.get("create_time") or 0 for name, message in by_name.items()}
            current = max(written, key=lambda name: written[name], default="")
        path = branch(current, parents)
        messages = [by_name[name] for name in path if name in by_name]
        if path and (before[path[0]] not in ("", *nodes) or (len(nodes) > 1 and not parents)):
            reason = "has messages without links to the ones before, which were not read"
            yield ReadFault(member.file.path, f"the conversation {title} {reason}")
        started = chat.time("create_time")
        yield ImportedConversation(
            "chatgpt",
            chat.text("conversation_id", "id") or f"{member.file.path}#{started}",
            chat.text("title"),
            [imported for message in messages if (imported := _chatgpt_message(message))],
            started,
            {"model": chat.text("default_model_slug"), "gpt": chat.text("gizmo_id")},
            updated=chat.time("update_time"),
        )
        for content in (message.object("content") for message in messages):
            if content.get("content_type") == "user_editable_context":
                text = paragraphs(content.text("user_profile"), content.text("user_instructions"))
                key, name = f"custom instructions: {text}", "Custom instructions for ChatGPT"
                instructions = ImportedMessage("custom instructions", text, started, Speaker.USER)
                yield ImportedConversation("chatgpt", key, name, [instructions], content_type="preference")


def _chatgpt_message(message: Record) -> ImportedMessage | None:
    """Return what user or assistant said or wrote into a canvas; ``None`` for hidden messages and calls of tools."""
    about, content = message.object("metadata"), message.object("content")
    role, recipient = message.object("author").get("role"), message.text("recipient") or "all"
    is_hidden = message.get("weight") == 0 or about.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or is_hidden or message.get("channel") in ("commentary", "analysis"):
        return None
    spoken = (None, "text", "audio_transcription")
    parts = [part.text("text") for part in content.objects("parts") if part.get("content_type") in spoken]
    text = paragraphs(*content.texts("parts"), *parts)
    if recipient.startswith("canmore."):
        call = parsed(text or content.text("text"))  # which writes a document, or replaces its parts
        replaced = (update.text("replacement") for update in call.objects("updates"))
        text = paragraphs(call.text("name"), call.text("content"), *replaced)
    elif recipient == "all" and content.get("content_type") in ("text", "multimodal_text"):
        text = _CITATION.sub("", text)
    else:
        return None
    text = with_attachments(text, about.objects("attachments"))
    return ImportedMessage(message.text("id"), text, message.time("create_time"), Speaker(role))


SOURCE = "claude.ai"
_WRITERS = ("artifacts", "create_file", "str_replace")  # tools that write next to the chat


def read_conversations(member: Member) -> Iterator[ImportedConversation]:
    """Yield the conversations of a file, and the texts of attached files as notes."""
    for chat in member.objects():
        project = chat.object("project").text("name") or chat.text("project_uuid")
        messages, leaf = chat.objects("chat_messages"), chat.text("current_leaf_message_uuid")
        by_id = {message.text("uuid"): message for message in messages}
        parents = {name: message.text("parent_message_uuid") for name, message in by_id.items()}
        if not by_id.keys().isdisjoint(parents.values()):  # the export records branches
            if leaf not in by_id:
                leaf = max(reversed(messages), key=lambda message: message.text("created_at")).text("uuid")
            messages = [by_id[name] for name in branch(leaf, parents) if name in by_id]
        key = chat.text("uuid") or f"{member.file.path}#{chat.get('created_at')}"
        yield ImportedConversation(
            SOURCE,
            key,
            chat.text("name"),
            list(map(_message, messages)),
            chat.time("created_at"),
            {"project": project, "model": chat.text("model")},
            updated=chat.time("updated_at"),
        )
        for message in messages:
            for file in message.objects("attachments"):
                if text := file.text("extracted_content"):
                    name = file.text("file_name")
                    yield _note(f"{key} {message.get('uuid')} {name}", name, text, message, project)


def _message(message: Record) -> ImportedMessage:
    texts = []
    for block in message.objects("content"):
        if block.get("type") in ("text", "voice_note"):
            texts.append(block.text("text"))
        elif block.get("type") == "tool_use" and block.get("name") in _WRITERS:
            written = block.object("input")  # a document, or its new part
            title = written.text("title") or written.text("path").rpartition("/")[2]
            texts += [title, written.text("content", "file_text", "new_str")]
    files = [*message.objects("attachments"), *message.objects("files")]
    text = with_attachments(paragraphs(*texts) or message.text("text"), files)
    role = Speaker.USER if message.get("sender") in ("human", "user") else Speaker.ASSISTANT
    return ImportedMessage(message.text("uuid"), text, message.time("created_at"), role)


def read_projects(member: Member) -> Iterator[ImportedConversation]:
    """Yield the instructions of each project and its documents, as notes."""
    for project in member.objects():
        name, key = project.text("name"), f"project {project.get('uuid')}"
        text = paragraphs(project.text("description"), project.text("prompt_template"))
        yield _note(key, name, text, project, name)
        for document in project.objects("docs"):
            title, text = document.text("filename"), document.text("content")
            yield _note(f"{key} {document.text('uuid', 'filename')}", title, text, document, name)


def read_memories(member: Member) -> Iterator[ImportedConversation]:
    """Yield what Claude.ai remembers of the user and of each project, as notes."""
    for memory in member.objects():
        yield _note("memory", "Memory of Claude.ai", memory.text("conversations_memory"), memory, "")
        of_projects = memory.object("project_memories")
        for project in of_projects:
            title = "Memory of a project in Claude.ai"
            yield _note(f"memory {project}", title, of_projects.text(project), memory, project)


def _note(key: str, title: str, text: str, record: Record, project: str) -> ImportedConversation:
    at = record.time("created_at", "updated_at")
    message = ImportedMessage(key, text, at, Speaker.USER)
    return ImportedConversation(
        SOURCE, key, title, [message], at, {"project": project}, "note", record.time("updated_at")
    )


# -- files, folders and ZIP files ------------------------------------------------------------------------

UNKNOWN = "it has no known format of conversations"
HEAD = 1 << 23  # characters by which a format is recognised
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

    *read_messages* parses the lines of a session of Claude Code, Codex or Gemini CLI; *decode* returns the text of a file.
    """

    def __init__(self, read_messages: ReadMessages, decode: chats.Decode) -> None:
        self._database = Format("agent", read_database)
        self._text = Format("text", partial(chats.read_text, decode))

        def session(source: str, mark: str) -> Format:
            return Format(source, partial(read_session, source, read_messages), mark)

        self._formats = [
            session("codex", r'"type"\s*:\s*"(?:session_meta|response_item)"'),
            session("gemini-cli", r'"projectHash"\s*:|\A\s*\{\s*"sessionId"\s*:[^{}]*"startTime"\s*:'),
            session("claude-code", r'"sessionId"\s*:'),
            Format("chatgpt", read_chatgpt, r'"mapping"\s*:\s*\{'),
            Format("claude.ai", read_conversations, r'"chat_messages"\s*:'),
            Format("claude.ai", read_projects, r'"docs"\s*:\s*\['),
            Format("claude.ai", read_memories, r'"(?:conversations_memory|project_memories)"\s*:'),
            Format("openclaw", read_openclaw, r'"type"\s*:\s*"session"|"message"\s*:\s*\{\s*"role"\s*:'),
            Format("slack", chats.read_slack, r'"ts"\s*:\s*"\d+\.\d+"'),
            Format("chat-json", chats.read_json, r'"(?:role|from)"\s*:\s*"|"messages"\s*:\s*\['),
        ]

    files = staticmethod(export_files)

    def read(self, changed: Sequence[SourceFile], every: Sequence[SourceFile]) -> Iterator[ExportPart]:
        archives = {file for file in (*changed, *every) if file.path.lower().endswith(ZIP)}
        for file in changed:
            if file in archives:
                yield from self._in_archive(file)
        if plain := {*changed} - archives:
            paths = {file.path: file for file in every if file not in archives}
            root = os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120
            names = {os.path.relpath(path, root).replace(os.sep, "/"): file for path, file in paths.items()}
            for part in self._in_members([member for member in members_of(names) if member.file in plain]):
                if not isinstance(part, FileFinished) or part.file in plain:
                    yield part

    def detect(self, member: Member) -> Format:
        """Return the format of a file; raise `NotAConversation` or, if it is empty or damaged, `Unreadable`."""
        head = member.head(HEAD)
        if not head.strip():
            raise Unreadable("it is empty")
        if head.startswith("SQLite format 3\0") or member.name.rpartition("/")[2] in DATABASES:
            return self._database
        beginning = "".join(head.split(maxsplit=2)[:2])
        has_lines = member.name.endswith((".jsonl", TRANSCRIPT))
        if not (beginning.startswith(("{", "[{", "[]")) or has_lines):  # "[2024-05-01 10:00] Ann: ..."
            return self._text
        known = (entry for entry in self._formats if re.search(entry.mark, head, re.DOTALL))
        if entry := next(known, None):
            return entry
        is_json = has_lines or member.name.endswith(".json")
        first = next(member.objects(), None) if is_json else None  # which raises for invalid JSON
        if first is None and has_lines:
            raise Unreadable("it has no line with a JSON object")
        raise NotAConversation(UNKNOWN)

    def _in_archive(self, file: SourceFile) -> Iterator[ExportPart]:
        """Yield the parts of a ZIP file, which is finished if every file in it could be read."""
        source, is_whole = "", True
        try:
            with zipfile.ZipFile(file.path) as archive:
                texts = (name for name in archive.namelist() if "/._" not in f"/{name}")  # of macOS
                texts = (name for name in texts if name.lower().endswith((*EXTENSIONS, *ARCHIVES, ZIP)))
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
                if ".." in member.name.split("/") or member.name.startswith("/"):
                    raise Unreadable("its name leads out of the archive; it is unsafe and was skipped")
                if member.file.path.endswith((*ARCHIVES, ZIP)):
                    raise Unreadable("it is an archive. Unpack it, and name the folder")
                file_format = self.detect(member)
                days = chats.slack_days(member) if file_format.source == "slack" else [member]
                seen.update(days)
                written = max(day.file.stamp.mtime_ns for day in days) / 1e9
                has_text = False
                for part in file_format.read(member):
                    if isinstance(part, ImportedConversation):
                        # The time of the file is that of what has none.
                        texts = "".join(message.text for message in part.messages)
                        has_text |= bool(part.content_type or texts.strip())
                        has_times = any(message.at is not None for message in part.messages)
                        started = written if part.started is None else part.started
                        updated = written if part.updated is None and not has_times else part.updated
                        part = part._replace(started=started, updated=updated)
                    has_text |= isinstance(part, ReadFault)  # it may be in the rest
                    yield part
                if not has_text:
                    yield ReadFault(member.file.path, "its messages have no text", is_foreign=True)
                yield from (FileFinished(day.file, file_format.source) for day in days)
            except (Unreadable, ValueError) as error:  # the latter of text that cannot be decoded
                is_foreign = isinstance(error, NotAConversation)
                yield ReadFault(member.file.path, str(error), is_foreign)
                if is_foreign:
                    yield FileFinished(member.file)
            except Exception as error:  # noqa: BLE001  whatever one file has in it, the others are read
                yield ReadFault(member.file.path, f"its form is unexpected ({type(error).__name__}: {error})")
