"""Sessions of OpenCode in files: its storage folder, and `opencode export`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from clawmem.adapters.conversations.members import Member, Tree, Unreadable
from clawmem.adapters.conversations.records import Record, objects_in
from clawmem.adapters.conversations.sessions import project_labels, text_of_parts
from clawmem.ports.conversations import ImportedConversation, ImportedMessage
from clawmem.ports.transcripts import Speaker


def read_export(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield the sessions of `opencode export`."""
    for member in members:
        for session in objects_in(member):
            messages = session.objects("messages")
            parts = ((message.object("info"), message.objects("parts")) for message in messages)
            yield opencode_session(session.object("info"), parts)


def read_storage(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield the sessions of a storage folder: a file for each session, message and part."""
    sessions: dict[str, Record] = {}
    messages: dict[str, list[Record]] = {}
    parts: dict[str, list[Record]] = {}
    for member in members:
        with suppress(Unreadable):  # it is written at this moment
            for record in objects_in(member):
                if "messageID" in record:
                    parts.setdefault(record.text("messageID"), []).append(record)
                elif "sessionID" in record:
                    messages.setdefault(record.text("sessionID"), []).append(record)
                elif "projectID" in record:
                    sessions[record.text("id")] = record
    for name, session in sessions.items():
        if not session.get("parentID"):  # of a subagent
            ordered = sorted(messages.get(name, ()), key=_id)
            yield opencode_session(
                session, ((message, sorted(parts.get(_id(message), ()), key=_id)) for message in ordered)
            )


def _id(record: Record) -> str:
    return record.text("id")


def opencode_session(info: Record, messages: Iterable[tuple[Record, list[Record]]]) -> ImportedConversation:
    """Return a session with its messages and their parts; what neither user nor agent wrote is left out."""
    return ImportedConversation(
        "opencode",
        _id(info),
        info.text("title"),
        [
            ImportedMessage(_id(message), text_of_parts(parts), _created(message), Speaker(message["role"]))
            for message, parts in messages
            if message.get("role") in ("user", "assistant")
        ],
        _created(info),
        project_labels(info.text("directory")),
    )


def _created(record: Record) -> str | float | None:
    return record.object("time").time("created")


def storage_root(name: str) -> str:
    """Return the storage folder of a file in ``session/PROJECT/``, ``message/SESSION/`` or ``part/MESSAGE/``."""
    return f"{'/'.join(name.split('/')[:-3])}/"
