"""The data export of Claude.ai: conversations, projects with their documents, and memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clawmem.adapters.conversations.format import Format, nothing
from clawmem.adapters.conversations.members import Member, Tree
from clawmem.adapters.conversations.shapes import (
    Shape,
    beside,
    dicts_in,
    object_in,
    objects_in,
    text_in,
    time_in,
)
from clawmem.ports.conversations import ImportedConversation, ImportedMessage
from clawmem.ports.transcripts import Speaker

SOURCE = "claude.ai"
_ROLES = {"human": Speaker.USER, "user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_NAMED = 20  # attachments of a message that are named


def _conversations(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    for member in members:
        names = _names(member, tree)
        for one in objects_in(member):
            account = object_in(one.get("account"))
            user = names.get(text_in(account.get("uuid"))) or text_in(account.get("full_name"))
            said = dicts_in(one.get("chat_messages"))
            project = text_in(object_in(one.get("project")).get("name")) or text_in(one.get("project_uuid"))
            yield ImportedConversation(
                SOURCE,
                text_in(one.get("uuid")) or f"{member.place}#{one.get('created_at')}",
                text_in(one.get("name")),
                [
                    _message(message, user)
                    for message in _branch(said, text_in(one.get("current_leaf_message_uuid")))
                ],
                time_in(one.get("created_at")),
                tuple(
                    pair for pair in (("project", project), ("model", text_in(one.get("model")))) if pair[1]
                ),
                updated=time_in(one.get("updated_at")),
            )


def _branch(said: list[dict[str, Any]], leaf: str) -> list[dict[str, Any]]:
    """Return the messages that lead to *leaf*; all in the order of the file if the export records no branches."""
    by_name = {text_in(one.get("uuid")): one for one in said}
    path: dict[str, dict[str, Any]] = {}
    while leaf in by_name and leaf not in path:
        path[leaf] = by_name[leaf]
        leaf = text_in(by_name[leaf].get("parent_message_uuid"))
    return list(reversed(path.values())) if len(path) > 1 else said


def _names(member: Member, tree: Tree) -> dict[str, str]:
    """Return the names of the accounts in ``users.json`` next to *member*, by id."""
    users = beside(member, tree, "users.json")
    return {text_in(one.get("uuid")): text_in(one.get("full_name")) for one in users}


def _message(one: dict[str, Any], user: str) -> ImportedMessage:
    blocks = [
        text_in(part.get("text")) for part in dicts_in(one.get("content")) if part.get("type") == "text"
    ]
    text = "\n\n".join(filter(None, blocks)) or text_in(one.get("text"))
    files = [*dicts_in(one.get("attachments")), *dicts_in(one.get("files"))]
    names = list(dict.fromkeys(filter(None, (text_in(file.get("file_name")) for file in files))))[:_NAMED]
    if names:
        text = f"{text}\n\n[attached: {', '.join(names)}]"
    role = _ROLES.get(text_in(one.get("sender")), Speaker.ASSISTANT)
    name = user if role is Speaker.USER else ""
    return ImportedMessage(text_in(one.get("uuid")), text, time_in(one.get("created_at")), role, name)


def _projects(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    for member in members:
        for one in objects_in(member):
            name, project = text_in(one.get("name")), text_in(one.get("uuid"))
            texts = [text_in(one.get(key)) for key in ("description", "prompt_template")]
            yield _text(f"project {project}", name, "\n\n".join(filter(None, texts)), one, name)
            for document in dicts_in(one.get("docs")):
                title = text_in(document.get("filename"))
                key = f"project {project} {text_in(document.get('uuid')) or title}"
                yield _text(key, title, text_in(document.get("content")), document, name)


def _memories(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    for member in members:
        for one in objects_in(member):
            yield _text("memory", "Memory of Claude.ai", text_in(one.get("conversations_memory")), one, "")
            for project, text in object_in(one.get("project_memories")).items():
                yield _text(
                    f"memory {project}", "Memory of a project in Claude.ai", text_in(text), one, project
                )


def _text(key: str, title: str, text: str, one: dict[str, Any], project: str) -> ImportedConversation:
    at = time_in(one.get("created_at")) or time_in(one.get("updated_at"))
    message = ImportedMessage(key, text, at, Speaker.USER)
    labels = (("project", project),) if project else ()
    return ImportedConversation(
        SOURCE, key, title, [message], at, labels, "note", time_in(one.get("updated_at"))
    )


def _has_conversations(shape: Shape) -> bool:
    return shape.has("chat_messages")


def _has_projects(shape: Shape) -> bool:
    return shape.has("uuid", "docs", "name")


def _has_memories(shape: Shape) -> bool:
    return shape.has("conversations_memory") or shape.has("project_memories")


def _has_users(shape: Shape) -> bool:
    return shape.has("uuid", "email_address")


FORMATS = (
    Format(SOURCE, _has_conversations, _conversations),
    Format(SOURCE, _has_projects, _projects),
    Format(SOURCE, _has_memories, _memories),
    Format("", _has_users, nothing),
)
