"""The data export of ChatGPT: trees of messages, of which the current branch is read."""

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
    whole,
    with_attachments,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.sessions import Speaker

_MARK = "(?:\u3010[^\u3011\n]{0,200}\u2020[^\u3011\n]{0,200}\u3011|\ue200[^\ue201]{0,500}\ue201)"
# With the blank before it, if no word follows: "sells it <mark>, about 9 EUR".
_CITATION = re.compile(rf"[ \t]?{_MARK}(?=[\s.,;:!?)]|\Z)|{_MARK}")
_CANVAS = "canmore."  # the tool that writes the documents next to a chat
_HIDDEN_CHANNELS = ("commentary", "analysis")


def read(member: Member) -> Iterator[ImportedConversation | ReadFault]:
    """Yield the conversations of a file, custom instructions as preferences, and a fault for each damaged one."""
    user = Record(next(iter(member.objects_next_to("user.json")), None)).text("name")
    for chat in member.objects():
        if isinstance(chat.get("mapping"), dict):
            yield from _conversation(chat, member, user)
        else:
            name = chat.text("title", "conversation_id", "id") or "without a title"
            yield ReadFault(member.place, f"the conversation {name} is damaged, its mapping is no object")


def _conversation(chat: Record, member: Member, user: str) -> Iterator[ImportedConversation]:
    messages = _branch(chat.object("mapping"), chat.text("current_node"))
    started = chat.time("create_time")
    yield ImportedConversation(
        "chatgpt",
        chat.text("conversation_id", "id") or f"{member.place}#{started}",
        chat.text("title"),
        [imported for message in messages if (imported := _message(message, user))],
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


def _branch(mapping: Record, current: str) -> list[Record]:
    """Return the messages from the root to the current node; without one, to the message that was written last."""
    nodes = {name: Record(node) for name, node in mapping.items()}
    messages = {name: message for name, node in nodes.items() if (message := node.object("message"))}
    if current not in nodes:
        current = max(messages, key=lambda name: _written(messages[name]), default="")
    path = branch(current, {name: node.text("parent") for name, node in nodes.items()})
    return [messages[name] for name in path if name in messages]


def _written(message: Record) -> float:
    at = message.get("create_time")
    return at if isinstance(at, (int, float)) else 0.0


def _message(message: Record, user: str) -> ImportedMessage | None:
    """Return what user or assistant said or wrote into a canvas; ``None`` for hidden messages and calls of tools."""
    author, about, content = message.object("author"), message.object("metadata"), message.object("content")
    role, recipient = author.get("role"), message.text("recipient") or "all"
    is_hidden = message.get("weight") == 0 or about.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or is_hidden or message.get("channel") in _HIDDEN_CHANNELS:
        return None
    text = paragraphs(*map(_part, content.get("parts") or ()))
    if recipient.startswith(_CANVAS):
        call = parsed(text or content.text("text"))  # which writes a document, or replaces its parts
        replaced = (update.text("replacement") for update in call.objects("updates"))
        text = paragraphs(call.text("name"), call.text("content"), *replaced)
    elif recipient == "all" and content.get("content_type") in ("text", "multimodal_text"):
        text = _CITATION.sub("", text)
    else:
        return None
    name = author.text("name") or user if role == Speaker.USER else ""
    text = with_attachments(text, about.objects("attachments"), "name")
    return ImportedMessage(message.text("id"), text, message.time("create_time"), Speaker(role), name)


def _part(part: object) -> str:
    if isinstance(part, str):
        return whole(part)
    value = Record(part)
    return value.text("text") if value.get("content_type") in ("audio_transcription", "text") else ""
