"""The data exports of ChatGPT and Claude.ai: conversations with branches, projects, and memories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.adapters.conversations.members import (
    Member,
    Record,
    branch,
    labels,
    paragraphs,
    parsed,
    with_attachments,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.sessions import Speaker

_MARK = "(?:\u3010[^\u3011\n]{0,200}\u2020[^\u3011\n]{0,200}\u3011|\ue200[^\ue201]{0,500}\ue201)"
# With the blank before it, if no word follows: "sells it <mark>, about 9 EUR".
_CITATION = re.compile(rf"[ \t]?{_MARK}(?=[\s.,;:!?)]|\Z)|{_MARK}")
_HIDDEN_CHANNELS = ("commentary", "analysis")


def read_chatgpt(member: Member) -> Iterator[ImportedConversation | ReadFault]:
    """Yield the conversations of a file, custom instructions as preferences, and a fault for each damaged one."""
    for chat in member.objects():
        if isinstance(chat.get("mapping"), dict):
            yield from _conversation(chat, member)
        else:
            name = chat.text("title", "conversation_id", "id") or "without a title"
            yield ReadFault(member.place, f"the conversation {name} is damaged, its mapping is no object")


def _conversation(chat: Record, member: Member) -> Iterator[ImportedConversation | ReadFault]:
    nodes = chat.object("mapping")
    messages = _chatgpt_branch(nodes, chat.text("current_node"))
    if len(nodes) > 1 and not any(Record(node).text("parent") for node in nodes.values()):
        reason = "has messages without links to the ones before; only the last one was read"
        yield ReadFault(member.place, f"the conversation {chat.text('title') or 'without a title'} {reason}")
    started = chat.time("create_time")
    yield ImportedConversation(
        "chatgpt",
        chat.text("conversation_id", "id") or f"{member.place}#{started}",
        chat.text("title"),
        [imported for message in messages if (imported := _chatgpt_message(message))],
        started,
        labels(model=chat.text("default_model_slug"), gpt=chat.text("gizmo_id")),
        updated=chat.time("update_time"),
    )
    for content in (message.object("content") for message in messages):
        if content.get("content_type") == "user_editable_context":
            text = paragraphs(content.text("user_profile"), content.text("user_instructions"))
            yield ImportedConversation(
                "chatgpt",
                f"custom instructions: {text}",
                "Custom instructions for ChatGPT",
                [ImportedMessage("custom instructions", text, started, Speaker.USER)],
                content_type="preference",
            )


def _chatgpt_branch(mapping: Record, current: str) -> list[Record]:
    """Return the messages from the root to the current node; without one, to the message that was written last."""
    nodes = {name: Record(node) for name, node in mapping.items()}
    messages = {name: message for name, node in nodes.items() if (message := node.object("message"))}
    if current not in nodes:
        written = {name: message.get("create_time") or 0 for name, message in messages.items()}
        current = max(messages, key=lambda name: written[name], default="")
    path = branch(current, {name: node.text("parent") for name, node in nodes.items()})
    return [messages[name] for name in path if name in messages]


def _chatgpt_message(message: Record) -> ImportedMessage | None:
    """Return what user or assistant said or wrote into a canvas; ``None`` for hidden messages and calls of tools."""
    about, content = message.object("metadata"), message.object("content")
    role, recipient = message.object("author").get("role"), message.text("recipient") or "all"
    is_hidden = message.get("weight") == 0 or about.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or is_hidden or message.get("channel") in _HIDDEN_CHANNELS:
        return None
    parts = [Record({"text": part} if isinstance(part, str) else part) for part in content.get("parts") or ()]
    text = paragraphs(
        *(
            part.text("text")
            for part in parts
            if part.get("content_type") in (None, "text", "audio_transcription")
        )
    )
    if recipient.startswith("canmore."):
        call = parsed(text or content.text("text"))  # which writes a document, or replaces its parts
        replaced = (update.text("replacement") for update in call.objects("updates"))
        text = paragraphs(call.text("name"), call.text("content"), *replaced)
    elif recipient == "all" and content.get("content_type") in ("text", "multimodal_text"):
        text = _CITATION.sub("", text)
    else:
        return None
    text = with_attachments(text, about.objects("attachments"), "name")
    return ImportedMessage(message.text("id"), text, message.time("create_time"), Speaker(role))


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
