"""The data export of Claude.ai: conversations, projects with their documents, and memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clawmem.adapters.conversations.json_values import (
    dicts_in,
    first_text,
    object_in,
    objects_in,
    objects_next_to,
    paragraphs,
    text_in,
    time_in,
    with_attachments,
)
from clawmem.adapters.conversations.members import Member, Tree
from clawmem.ports.conversations import ImportedConversation, ImportedMessage
from clawmem.ports.transcripts import Speaker

SOURCE = "claude.ai"
Messages = list[dict[str, Any]]


def read_conversations(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield the conversations of each file, and the texts of attached files as notes."""
    for member in members:
        users = objects_next_to(member, tree, "users.json")
        names = {text_in(user.get("uuid")): text_in(user.get("full_name")) for user in users}
        for chat in objects_in(member):
            account = object_in(chat.get("account"))
            user = names.get(text_in(account.get("uuid"))) or text_in(account.get("full_name"))
            project = first_text(object_in(chat.get("project")), "name") or text_in(chat.get("project_uuid"))
            labels = (("project", project), ("model", text_in(chat.get("model"))))
            messages = _branch(
                dicts_in(chat.get("chat_messages")), text_in(chat.get("current_leaf_message_uuid"))
            )
            key = text_in(chat.get("uuid")) or f"{member.place}#{chat.get('created_at')}"
            yield ImportedConversation(
                SOURCE,
                key,
                text_in(chat.get("name")),
                [_message(message, user) for message in messages],
                time_in(chat.get("created_at")),
                tuple(label for label in labels if label[1]),
                updated=time_in(chat.get("updated_at")),
            )
            for message in messages:
                for file in dicts_in(message.get("attachments")):
                    if text := text_in(file.get("extracted_content")):
                        name = text_in(file.get("file_name"))
                        yield _note(f"{key} {message.get('uuid')} {name}", name, text, message, project)


def _branch(messages: Messages, leaf: str) -> Messages:
    """
    Return the messages that lead to *leaf*, without one to the message that was written last.

    If the export records no branches, all are returned in the order of the file.
    """
    by_id = {text_in(message.get("uuid")): message for message in messages}
    if not any(text_in(message.get("parent_message_uuid")) in by_id for message in messages):
        return messages
    if leaf not in by_id:
        dated = ((text_in(message.get("created_at")), place) for place, message in enumerate(messages))
        leaf = text_in(messages[max(dated)[1]].get("uuid"))
    path: dict[str, dict[str, Any]] = {}
    while leaf in by_id and leaf not in path:
        path[leaf] = by_id[leaf]
        leaf = text_in(by_id[leaf].get("parent_message_uuid"))
    return list(reversed(path.values()))


def _message(message: dict[str, Any], user: str) -> ImportedMessage:
    text = paragraphs(*map(_block, dicts_in(message.get("content")))) or text_in(message.get("text"))
    files = [*dicts_in(message.get("attachments")), *dicts_in(message.get("files"))]
    role = Speaker.USER if message.get("sender") in ("human", "user") else Speaker.ASSISTANT
    return ImportedMessage(
        text_in(message.get("uuid")),
        with_attachments(text, files, "file_name"),
        time_in(message.get("created_at")),
        role,
        user if role is Speaker.USER else "",
    )


def _block(block: dict[str, Any]) -> str:
    """Return the text of a block, or what a call of the tool `artifacts` writes: a document, or its new part."""
    if block.get("type") == "text":
        return text_in(block.get("text"))
    if block.get("type") == "tool_use" and block.get("name") == "artifacts":
        written = object_in(block.get("input"))
        return paragraphs(text_in(written.get("title")), first_text(written, "content", "new_str"))
    return ""


def read_projects(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield the instructions of each project and its documents, as notes."""
    for member in members:
        for project in objects_in(member):
            name, key = text_in(project.get("name")), f"project {project.get('uuid')}"
            text = paragraphs(text_in(project.get("description")), text_in(project.get("prompt_template")))
            yield _note(key, name, text, project, name)
            for document in dicts_in(project.get("docs")):
                title = text_in(document.get("filename"))
                text = text_in(document.get("content"))
                yield _note(f"{key} {first_text(document, 'uuid') or title}", title, text, document, name)


def read_memories(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield what Claude.ai remembers of the user and of each project, as notes."""
    for member in members:
        for memory in objects_in(member):
            yield _note(
                "memory", "Memory of Claude.ai", text_in(memory.get("conversations_memory")), memory, ""
            )
            for project, text in object_in(memory.get("project_memories")).items():
                title = "Memory of a project in Claude.ai"
                yield _note(f"memory {project}", title, text_in(text), memory, project)


def _note(key: str, title: str, text: str, record: dict[str, Any], project: str) -> ImportedConversation:
    updated = time_in(record.get("updated_at"))
    at = time_in(record.get("created_at")) or updated
    message = ImportedMessage(key, text, at, Speaker.USER)
    labels = (("project", project),) if project else ()
    return ImportedConversation(SOURCE, key, title, [message], at, labels, "note", updated)
