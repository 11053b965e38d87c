"""Chats in other files: plain text and Markdown with marked turns, and JSON lists of roles and contents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from clawmem.adapters.conversations.format import Format
from clawmem.adapters.conversations.members import Member, NotAConversation, Tree, Unreadable
from clawmem.adapters.conversations.shapes import Kind, Shape, dicts_in, objects_in, text_in, time_in
from clawmem.ports.conversations import ImportedConversation, ImportedMessage
from clawmem.ports.transcripts import Speaker

TEXT, JSON = "text", "chat-json"
MIN_TURNS = 4  # of a text with roles or times
MIN_NAMED_TURNS = 6  # of a text with names alone, which a list of "key: value" resembles
MAX_SPEAKERS = 12
Decode = Callable[[bytes], str]  # raises ValueError if the bytes are no text

_USERS = frozenset({"user", "human", "you", "me"})
_ASSISTANTS = frozenset(
    {"assistant", "ai", "claude", "gpt", "chatgpt", "bot", "gemini", "copilot", "model", "llm"}
)
_NAME = r"[^\W_][\w .'-]{0,38}"
_TIME = r"\d{4}-\d\d-\d\d[T ,]{1,2}\d\d?:\d\d(?::\d\d)?"
_TURNS = (
    re.compile(rf"^\[?(?P<at>{_TIME})\]?(?: -)? <?(?P<name>{_NAME})>?: ?(?P<text>.*)$"),
    re.compile(rf"^\*\*(?P<name>{_NAME}):?\*\*:?(?: \((?P<at>{_TIME})\))?:?[ \t]*(?P<text>.*)$"),
    re.compile(rf"^#{{1,6}} (?P<name>{_NAME}?):?(?: \((?P<at>{_TIME})\))?(?P<text>)$"),
    re.compile(rf"^(?P<name>{_NAME}): ?(?P<text>.*)$"),
)
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")


def formats(decode: Decode) -> tuple[Format, ...]:
    """Return the formats of chats."""

    def read(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
        for member in members:
            try:
                yield from _text_chat(member, decode(member.content()))
            except ValueError as error:
                raise Unreadable(str(error)) from error

    return (Format(JSON, _is_list, _json_chats), Format(TEXT, lambda shape: shape.kind is Kind.TEXT, read))


class _Turn(NamedTuple):
    name: str
    at: str
    lines: list[str]


def _text_chat(member: Member, text: str) -> Iterator[ImportedConversation]:
    """
    Yield the chat in *text*, if it is one.

    Raises:
        NotAConversation: it is not.
    """
    for number, form in enumerate(_TURNS):
        title, turns = _turns(text, form)
        names = Counter(turn.name.casefold() for turn in turns)
        if _is_chat(names, is_bare=number == len(_TURNS) - 1, has_times=any(turn.at for turn in turns)):
            day = _DAY.search(f"{member.name} {title}")
            yield ImportedConversation(
                TEXT,
                member.place,
                title or member.name.rpartition("/")[2].rpartition(".")[0],
                [_message(number, turn, names.keys()) for number, turn in enumerate(turns, start=1)],
                day[1] if day else None,
            )
            return
    raise NotAConversation("it has no turns such as 'User:' and 'Assistant:'")


def _turns(text: str, form: re.Pattern[str]) -> tuple[str, list[_Turn]]:
    """Return the title above the first turn, and the turns that *form* marks, outside of fenced code."""
    title, turns, is_code = "", list[_Turn](), False
    for line in text.replace("\r\n", "\n").split("\n"):
        is_code ^= bool(_FENCE.match(line))
        if not is_code and (match := form.match(line[:300])):
            rest = match["text"] + line[300:]
            turns.append(_Turn(match["name"].strip(), match.groupdict().get("at") or "", [rest]))
        elif turns:
            turns[-1].lines.append(line)
        elif line.startswith("# ") or not title:
            title = line.lstrip("# ").strip()[:200]
    return title, turns


def _is_chat(names: Counter[str], *, is_bare: bool, has_times: bool) -> bool:
    count = names.total()
    if count < MIN_TURNS or not 2 <= len(names) <= MAX_SPEAKERS:
        return False
    has_roles = not names.keys().isdisjoint(_USERS) and not names.keys().isdisjoint(_ASSISTANTS)
    if has_roles and sum(names[name] for name in _USERS | _ASSISTANTS) >= 0.6 * count:
        return True
    if has_times:
        return True
    return not is_bare and count >= MIN_NAMED_TURNS and min(names.values()) >= 2


def _message(number: int, turn: _Turn, names: Any) -> ImportedMessage:
    text, at = "\n".join(turn.lines).strip(), turn.at.replace(",", "").replace("  ", " ") or None
    name = turn.name.casefold()
    if names & _USERS and names & _ASSISTANTS:
        role = Speaker.USER if name in _USERS else Speaker.ASSISTANT
        return ImportedMessage(str(number), text, at, role, "" if name in _USERS | _ASSISTANTS else turn.name)
    return ImportedMessage(str(number), text, at, None, turn.name)


def _json_chats(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield a list of messages as one conversation, or objects with a list ``messages`` each as one."""
    for member in members:
        said = []
        for number, one in enumerate(objects_in(member)):
            if "messages" in one:
                listed = dicts_in(one["messages"])
                name = text_in(one.get("id")) or text_in(one.get("uuid")) or f"{member.place}#{number}"
                yield _conversation(name, text_in(one.get("title")), listed)
            else:
                said.append(one)
        if said:
            yield _conversation(member.place, member.name.rpartition("/")[2].rpartition(".")[0], said)


def _conversation(name: str, title: str, listed: Sequence[dict[str, Any]]) -> ImportedConversation:
    messages = (_json_message(number, one) for number, one in enumerate(listed, start=1))
    return ImportedConversation(JSON, name, title, [one for one in messages if one])


def _json_message(number: int, one: dict[str, Any]) -> ImportedMessage | None:
    role = text_in(one.get("role")).lower()
    if role not in _USERS | _ASSISTANTS:
        return None
    content = one.get("content")
    parts = (text_in(part.get("text")) for part in dicts_in(content) if part.get("type") in (None, "text"))
    text = content if isinstance(content, str) else "\n\n".join(filter(None, parts))
    at = next((time_in(one.get(key)) for key in ("timestamp", "created_at", "create_time", "time")), None)
    return ImportedMessage(
        text_in(one.get("id")) or str(number), text, at, Speaker.USER if role in _USERS else Speaker.ASSISTANT
    )


def _is_list(shape: Shape) -> bool:
    is_messages = shape.has("role", "content")
    return shape.kind is not Kind.TEXT and (is_messages or (shape.has("messages") and not shape.has("info")))
