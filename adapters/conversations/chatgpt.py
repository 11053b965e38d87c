"""The data export of ChatGPT: trees of messages, of which the current branch is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from clawmem.adapters.conversations.format import Format, nothing
from clawmem.adapters.conversations.members import Member, Tree
from clawmem.adapters.conversations.shapes import Kind, Shape, beside, object_in, objects_in, text_in, time_in
from clawmem.ports.conversations import ImportedConversation, ImportedMessage
from clawmem.ports.transcripts import Speaker

SOURCE = "chatgpt"
PREFERENCE = "preference"
_MARK = "(?:\u3010[^\u3011\n]{0,200}\u2020[^\u3011\n]{0,200}\u3011|\ue200[^\ue201]{0,500}\ue201)"
# With the blank before it, if no word follows: "sells it <mark>, about 9 EUR".
_CITATION = re.compile(rf"[ \t]?{_MARK}(?=[\s.,;:!?)]|\Z)|{_MARK}")
_PROSE = frozenset({"text", "multimodal_text"})


def _recognises(shape: Shape) -> bool:
    return shape.kind is not Kind.TEXT and shape.has("mapping")


def _read(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    for member in members:
        user = next((text_in(one.get("name")) for one in beside(member, tree, "user.json")), "")
        for one in objects_in(member):
            if isinstance(one.get("mapping"), dict):
                yield from _conversation(one, member, user)


def _conversation(one: dict[str, Any], member: Member, user: str) -> Iterator[ImportedConversation]:
    mapping = one["mapping"]
    name = (
        text_in(one.get("conversation_id"))
        or text_in(one.get("id"))
        or f"{member.place}#{one.get('create_time')}"
    )
    branch = list(_branch(mapping, text_in(one.get("current_node"))))
    labels = [("model", text_in(one.get("default_model_slug"))), ("gpt", text_in(one.get("gizmo_id")))]
    yield ImportedConversation(
        SOURCE,
        name,
        text_in(one.get("title")),
        [message for node in branch for message in _messages(node, user)],
        time_in(one.get("create_time")),
        tuple(pair for pair in labels if pair[1]),
        updated=time_in(one.get("update_time")),
    )
    for node in branch:
        if said := _instructions(node):
            yield ImportedConversation(
                SOURCE,
                f"custom instructions: {said}",
                "Custom instructions for ChatGPT",
                [ImportedMessage("custom instructions", said, time_in(one.get("create_time")), Speaker.USER)],
                content_type=PREFERENCE,
            )


def _branch(mapping: dict[str, Any], current: str) -> Iterator[dict[str, Any]]:
    """Yield the messages from the root to the current node; without one, to the leaf that was written last."""
    node = current if current in mapping else _last_leaf(mapping)
    path: dict[str, dict[str, Any]] = {}
    while node in mapping and node not in path:  # a cycle ends the walk
        path[node] = object_in(mapping[node])
        node = text_in(path[node].get("parent"))
    for one in reversed(path.values()):
        if isinstance(one.get("message"), dict):
            yield one["message"]


def _last_leaf(mapping: dict[str, Any]) -> str:
    def written(name: str) -> float:
        at = object_in(object_in(mapping[name]).get("message")).get("create_time")
        return at if isinstance(at, (int, float)) else 0.0

    leaves = [name for name in mapping if not object_in(mapping[name]).get("children")]
    return max(leaves or list(mapping), key=written, default="")


def _messages(message: dict[str, Any], user: str) -> Iterator[ImportedMessage]:
    author = object_in(message.get("author"))
    role = author.get("role")
    about, content = object_in(message.get("metadata")), object_in(message.get("content"))
    if role not in ("user", "assistant") or message.get("weight") == 0:
        return
    if about.get("is_visually_hidden_from_conversation") or message.get("channel") in (
        "commentary",
        "analysis",
    ):
        return
    if message.get("recipient", "all") != "all" or content.get("content_type") not in _PROSE:
        return
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    text = _CITATION.sub("", "\n\n".join(filter(None, texts)))
    name = text_in(author.get("name")) or user if role == Speaker.USER else ""
    yield ImportedMessage(
        text_in(message.get("id")), text, time_in(message.get("create_time")), Speaker(role), name
    )


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    one = object_in(part)
    return text_in(one.get("text")) if one.get("content_type") in ("audio_transcription", "text") else ""


def _instructions(message: dict[str, Any]) -> str:
    content = object_in(message.get("content"))
    if content.get("content_type") != "user_editable_context":
        return ""
    return "\n\n".join(
        filter(None, (text_in(content.get(key)) for key in ("user_profile", "user_instructions")))
    )


def _is_companion(shape: Shape) -> bool:
    kinds = (
        ("conversation_id", "evaluation_name"),
        ("conversation_id", "rating"),
        ("conversation_id", "is_anonymous"),
        ("conversation_id", "title"),
        ("email", "id"),
        ("email", "chatgpt_plus_user"),
        ("user_id", "settings"),
        ("chats",),
        ("generations", "tasks"),
        ("locale", "theme"),
    )
    return shape.is_empty or (shape.kind is not Kind.TEXT and any(shape.has(*keys) for keys in kinds))


FORMATS = (Format(SOURCE, _recognises, _read), Format("", _is_companion, nothing))
