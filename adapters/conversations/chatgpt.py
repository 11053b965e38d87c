"""The data export of ChatGPT: trees of messages, of which the current branch is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clawmem.adapters.conversations.members import Member, Tree
from clawmem.adapters.conversations.records import (
    Record,
    labels,
    objects_in,
    objects_next_to,
    paragraphs,
    parsed,
    with_attachments,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.transcripts import Speaker

_MARK = "(?:\u3010[^\u3011\n]{0,200}\u2020[^\u3011\n]{0,200}\u3011|\ue200[^\ue201]{0,500}\ue201)"
# With the blank before it, if no word follows: "sells it <mark>, about 9 EUR".
_CITATION = re.compile(rf"[ \t]?{_MARK}(?=[\s.,;:!?)]|\Z)|{_MARK}")
_CANVAS = "canmore."  # the tool that writes the documents next to a chat
_HIDDEN_CHANNELS = ("commentary", "analysis")


def read(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation | ReadFault]:
    """Yield the conversations of each file, and custom instructions as preferences."""
    for member in members:
        user = Record(next(iter(objects_next_to(member, tree, "user.json")), None)).text("name")
        for chat in objects_in(member):
            if isinstance(chat.get("mapping"), dict):
                yield from _conversation(chat, member, user)


def _conversation(chat: Record, member: Member, user: str) -> Iterator[ImportedConversation | ReadFault]:
    branch, is_linked = _branch(chat["mapping"], chat.text("current_node"))
    title, started = chat.text("title"), chat.time("create_time")
    messages = [found for message in branch if (found := _message(message, user))]
    yield ImportedConversation(
        "chatgpt",
        chat.text("conversation_id", "id") or f"{member.place}#{chat.get('create_time')}",
        title,
        messages,
        started,
        labels(model=chat.text("default_model_slug"), gpt=chat.text("gizmo_id")),
        updated=chat.time("update_time"),
    )
    if not is_linked:
        reason = f"the messages of {title[:80]!r} do not name the messages before them; they are in the order of time"
        yield ReadFault(member.place, reason)
    for message in branch:
        content = message.object("content")
        if content.get("content_type") == "user_editable_context":
            text = paragraphs(content.text("user_profile"), content.text("user_instructions"))
            yield ImportedConversation(
                "chatgpt",
                f"custom instructions: {text}",
                "Custom instructions for ChatGPT",
                [ImportedMessage("custom instructions", text, started, Speaker.USER)],
                content_type="preference",
            )


def _branch(mapping: Mapping[str, Any], current: str) -> tuple[list[Record], bool]:
    """
    Return the messages from the root to the current node, and whether the nodes are linked.

    Without a current node it is the leaf that was written last. Where no node names its parent or children, all messages
    are returned in the order of time.
    """
    nodes = {name: Record(node) for name, node in mapping.items()}
    parents = {child: name for name, node in nodes.items() for child in node.texts("children")}
    parents |= {name: node["parent"] for name, node in nodes.items() if node.text("parent")}
    messages = {name: message for name, node in nodes.items() if (message := node.object("message"))}
    if not parents and len(messages) > 1:
        return sorted(messages.values(), key=_written), False
    last = current
    if last not in nodes:
        inner = {*parents.values()}
        leaves = [name for name in messages if name not in inner] or list(messages)
        last = max(leaves, key=lambda name: _written(messages[name]), default="")
    path: dict[str, None] = {}
    while last in nodes and last not in path:  # a cycle ends the walk
        path[last] = None
        last = parents.get(last, "")
    return [messages[name] for name in reversed(path) if name in messages], True


def _written(message: Mapping[str, Any]) -> float:
    at = message.get("create_time")
    return at if isinstance(at, (int, float)) else 0.0


def _message(message: Record, user: str) -> ImportedMessage | None:
    """Return what user or assistant said or wrote into a canvas; ``None`` for hidden messages and calls of tools."""
    author, about = message.object("author"), message.object("metadata")
    role, recipient = author.get("role"), message.text("recipient") or "all"
    content = message.object("content")
    is_hidden = message.get("weight") == 0 or about.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or is_hidden or message.get("channel") in _HIDDEN_CHANNELS:
        return None
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    if recipient.startswith(_CANVAS):
        text = _canvas(paragraphs(*texts) or content.text("text"))
    elif recipient == "all" and content.get("content_type") in ("text", "multimodal_text"):
        text = _CITATION.sub("", paragraphs(*texts))
    else:
        return None
    name = author.text("name") or user if role == Speaker.USER else ""
    text = with_attachments(text, about.objects("attachments"), "name")
    return ImportedMessage(message.text("id"), text, message.time("create_time"), Speaker(role), name)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    value = Record(part)
    return value.text("text") if value.get("content_type") in ("audio_transcription", "text") else ""


def _canvas(call: str) -> str:
    """Return the text that a call writes into a canvas: the whole document, or its replaced parts."""
    written = parsed(call)
    parts = (update.text("replacement") for update in written.objects("updates"))
    return paragraphs(written.text("name"), written.text("content"), *parts)
