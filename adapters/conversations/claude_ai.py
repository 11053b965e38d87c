"""The data export of Claude.ai: conversations, projects with their documents, and memories."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.adapters.conversations.members import (
    Member,
    Record,
    branch,
    labels,
    paragraphs,
    with_attachments,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage
from clawmem.ports.sessions import Speaker

SOURCE = "claude.ai"


def read_conversations(member: Member) -> Iterator[ImportedConversation]:
    """Yield the conversations of a file, and the texts of attached files as notes."""
    for chat in member.objects():
        project = chat.object("project").text("name") or chat.text("project_uuid")
        messages = _branch(chat.objects("chat_messages"), chat.text("current_leaf_message_uuid"))
        key = chat.text("uuid") or f"{member.place}#{chat.get('created_at')}"
        yield ImportedConversation(
            SOURCE,
            key,
            chat.text("name"),
            list(map(_message, messages)),
            chat.time("created_at"),
            labels(project=project, model=chat.text("model")),
            updated=chat.time("updated_at"),
        )
        for message in messages:
            for file in message.objects("attachments"):
                if text := file.text("extracted_content"):
                    name = file.text("file_name")
                    yield _note(f"{key} {message.get('uuid')} {name}", name, text, message, project)


def _branch(messages: list[Record], leaf: str) -> list[Record]:
    """
    Return the messages that lead to *leaf*, without one to the message that was written last.

    If the export records no branches, all are returned in the order of the file.
    """
    by_id = {message.text("uuid"): message for message in messages}
    parents = {name: message.text("parent_message_uuid") for name, message in by_id.items()}
    if by_id.keys().isdisjoint(parents.values()):
        return messages
    if leaf not in by_id:
        leaf = max(reversed(messages), key=lambda message: message.text("created_at")).text("uuid")
    return [by_id[name] for name in branch(leaf, parents) if name in by_id]


def _message(message: Record) -> ImportedMessage:
    text = paragraphs(*map(_block, message.objects("content"))) or message.text("text")
    text = with_attachments(text, [*message.objects("attachments"), *message.objects("files")], "file_name")
    role = Speaker.USER if message.get("sender") in ("human", "user") else Speaker.ASSISTANT
    return ImportedMessage(message.text("uuid"), text, message.time("created_at"), role)


def _block(block: Record) -> str:
    """Return the text of a block, or what a call of the tool `artifacts` writes: a document, or its new part."""
    if block.get("type") == "text":
        return block.text("text")
    if block.get("type") == "tool_use" and block.get("name") == "artifacts":
        written = block.object("input")
        return paragraphs(written.text("title"), written.text("content", "new_str"))
    return ""


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
    updated = record.time("updated_at")
    at = record.time("created_at") or updated
    message = ImportedMessage(key, text, at, Speaker.USER)
    return ImportedConversation(SOURCE, key, title, [message], at, labels(project=project), "note", updated)
