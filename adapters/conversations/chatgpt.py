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
    for chat in member.objects():
        if isinstance(chat.get("mapping"), dict):
            yield from _conversation(chat, member)
        else:
            name = chat.text("title", "conversation_id", "id") or "without a title"
            yield ReadFault(member.place, f"the conversation {name} is damaged, its mapping is no object")


def _conversation(chat: Record, member: Member) -> Iterator[ImportedConversation]:
    messages = _branch(chat.object("mapping"), chat.text("current_node"))
    started = chat.time("create_time")
    yield ImportedConversation(
        "chatgpt",
        chat.text("conversation_id", "id") or f"{member.place}#{started}",
        chat.text("title"),
        [imported for message in messages if (imported := _message(message))],
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
        written = {name: message.get("create_time") or 0 for name, message in messages.items()}
        current = max(messages, key=lambda name: written[name], default="")
    path = branch(current, {name: node.text("parent") for name, node in nodes.items()})
    return [messages[name] for name in path if name in messages]


def _message(message: Record) -> ImportedMessage | None:
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
    if recipient.startswith(_CANVAS):
        call = parsed(text or content.text("text"))  # which writes a document, or replaces its parts
        replaced = (update.text("replacement") for update in call.objects("updates"))
        text = paragraphs(call.text("name"), call.text("content"), *replaced)
    elif recipient == "all" and content.get("content_type") in ("text", "multimodal_text"):
        text = _CITATION.sub("", text)
    else:
        return None
    text = with_attachments(text, about.objects("attachments"), "name")
    return ImportedMessage(message.text("id"), text, message.time("create_time"), Speaker(role))
