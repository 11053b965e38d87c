"""The data export of ChatGPT: trees of messages, of which the current branch is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from clawmem.adapters.conversations.json_values import (
    dicts_in,
    first_text,
    object_in,
    objects_in,
    objects_next_to,
    paragraphs,
    text_in,
    texts_in,
    time_in,
    with_attachments,
)
from clawmem.adapters.conversations.members import Member, Tree
from clawmem.ports.conversations import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.transcripts import Speaker

_MARK = "(?:\u3010[^\u3011\n]{0,200}\u2020[^\u3011\n]{0,200}\u3011|\ue200[^\ue201]{0,500}\ue201)"
# With the blank before it, if no word follows: "sells it <mark>, about 9 EUR".
_CITATION = re.compile(rf"[ \t]?{_MARK}(?=[\s.,;:!?)]|\Z)|{_MARK}")
_CANVAS = "canmore."  # the tool that writes the documents next to a chat
_HIDDEN_CHANNELS = ("commentary", "analysis")

Messages = list[dict[str, Any]]


def read(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation | ReadFault]:
    """Yield the conversations of each file, and custom instructions as preferences."""
    for member in members:
        user = next(
            (text_in(account.get("name")) for account in objects_next_to(member, tree, "user.json")), ""
        )
        for chat in objects_in(member):
            if isinstance(chat.get("mapping"), dict):
                yield from _conversation(chat, member, user)


def _conversation(
    chat: dict[str, Any], member: Member, user: str
) -> Iterator[ImportedConversation | ReadFault]:
    branch, is_linked = _branch(chat["mapping"], text_in(chat.get("current_node")))
    title, started = text_in(chat.get("title")), time_in(chat.get("create_time"))
    labels = (("model", text_in(chat.get("default_model_slug"))), ("gpt", text_in(chat.get("gizmo_id"))))
    messages = [found for message in branch if (found := _message(message, user))]
    yield ImportedConversation(
        "chatgpt",
        first_text(chat, "conversation_id", "id") or f"{member.place}#{chat.get('create_time')}",
        title,
        messages,
        started,
        tuple(label for label in labels if label[1]),
        updated=time_in(chat.get("update_time")),
    )
    if not is_linked:
        reason = f"the messages of {title[:80]!r} do not name the messages before them; they are in the order of time"
        yield ReadFault(member.place, reason)
    for message in branch:
        content = object_in(message.get("content"))
        if content.get("content_type") == "user_editable_context":
            text = paragraphs(text_in(content.get("user_profile")), text_in(content.get("user_instructions")))
            yield ImportedConversation(
                "chatgpt",
                f"custom instructions: {text}",
                "Custom instructions for ChatGPT",
                [ImportedMessage("custom instructions", text, started, Speaker.USER)],
                content_type="preference",
            )


def _branch(mapping: Mapping[str, Any], current: str) -> tuple[Messages, bool]:
    """
    Return the messages from the root to the current node, and whether the nodes are linked.

    Without a current node it is the leaf that was written last. Where no node names its parent or children, all messages
    are returned in the order of time.
    """
    nodes = {name: object_in(node) for name, node in mapping.items()}
    parents = {child: name for name, node in nodes.items() for child in texts_in(node.get("children"))}
    parents |= {name: node["parent"] for name, node in nodes.items() if text_in(node.get("parent"))}
    messages = {
        name: node["message"] for name, node in nodes.items() if isinstance(node.get("message"), dict)
    }
    if not parents and len(messages) > 1:
        return sorted(messages.values(), key=_written), False
    leaves = list(messages.keys() - {*parents.values()} or messages)
    last = current
    if last not in nodes:
        last = max(leaves, key=lambda name: _written(messages[name]), default="")
    path: dict[str, None] = {}
    while last in nodes and last not in path:  # a cycle ends the walk
        path[last] = None
        last = parents.get(last, "")
    return [messages[name] for name in reversed(path) if name in messages], True


def _written(message: Mapping[str, Any]) -> float:
    at = message.get("create_time")
    return at if isinstance(at, (int, float)) else 0.0


def _message(message: dict[str, Any], user: str) -> ImportedMessage | None:
    """Return what user or assistant said or wrote into a canvas; ``None`` for hidden messages and calls of tools."""
    author, about = object_in(message.get("author")), object_in(message.get("metadata"))
    role, recipient = author.get("role"), text_in(message.get("recipient")) or "all"
    content = object_in(message.get("content"))
    is_hidden = message.get("weight") == 0 or about.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or is_hidden or message.get("channel") in _HIDDEN_CHANNELS:
        return None
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    if recipient.startswith(_CANVAS):
        text = _canvas(paragraphs(*texts) or text_in(content.get("text")))
    elif recipient == "all" and content.get("content_type") in ("text", "multimodal_text"):
        text = _CITATION.sub("", paragraphs(*texts))
    else:
        return None
    name = text_in(author.get("name")) or user if role == Speaker.USER else ""
    text = with_attachments(text, dicts_in(about.get("attachments")), "name")
    return ImportedMessage(
        text_in(message.get("id")), text, time_in(message.get("create_time")), Speaker(role), name
    )


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    value = object_in(part)
    return text_in(value.get("text")) if value.get("content_type") in ("audio_transcription", "text") else ""


def _canvas(call: str) -> str:
    """Return the text that a call writes into a canvas: the whole document, or its replaced parts."""
    with suppress(ValueError, RecursionError):
        written = object_in(json.loads(call))
        parts = (text_in(update.get("replacement")) for update in dicts_in(written.get("updates")))
        return paragraphs(text_in(written.get("name")), text_in(written.get("content")), *parts)
    return ""
