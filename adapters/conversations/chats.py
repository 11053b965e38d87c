"""Chats in other files: plain text and Markdown with marked turns, and JSON lists of roles and contents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from clawmem.adapters.conversations.members import Member, NotAConversation, Record, Unreadable, paragraphs
from clawmem.ports.imports import ImportedConversation, ImportedMessage
from clawmem.ports.sessions import Speaker

Decode = Callable[[bytes], str]  # raises ValueError if the bytes are no text

_USERS = frozenset({"user", "human", "you", "me"})
_ASSISTANTS = frozenset("assistant ai claude gpt chatgpt bot gemini copilot model llm".split())
_NAME = r"[^\W_][\w .'-]{0,38}"
_TIME = r"\d{4}-\d\d-\d\d[T ,]{1,2}\d\d?:\d\d(?::\d\d)?"
_BARE = re.compile(rf"^(?P<name>{_NAME}): ?(?P<text>.*)$")
_FORMS = (
    re.compile(rf"^\[?(?P<at>{_TIME})\]?(?: -)? <?(?P<name>{_NAME})>?: ?(?P<text>.*)$"),
    re.compile(rf"^\*\*(?P<name>{_NAME}):?\*\*:?(?: \((?P<at>{_TIME})\))?:?[ \t]*(?P<text>.*)$"),
    _BARE,
)
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")


class _Turn(NamedTuple):
    name: str
    at: str
    lines: list[str]


def reader_of_texts(decode: Decode) -> Callable[[Member], Iterator[ImportedConversation]]:
    """Return the reader of chats in text; files whose lines mark no turns are no conversations."""

    def read(member: Member) -> Iterator[ImportedConversation]:
        try:
            text = decode(member.content())
        except ValueError as error:
            raise Unreadable(str(error)) from error
        yield _text_chat(member, text)

    return read


def _text_chat(member: Member, text: str) -> ImportedConversation:
    for form in _FORMS:
        title, turns = _turns(text, form)
        names = Counter(turn.name.casefold() for turn in turns)
        count, has_times = names.total(), any(turn.at for turn in turns)
        has_roles = not names.keys().isdisjoint(_USERS) and not names.keys().isdisjoint(_ASSISTANTS)
        is_marked = has_times or (
            has_roles and sum(names[name] for name in _USERS | _ASSISTANTS) >= 0.6 * count
        )
        are_names = form is not _BARE and count >= 6 and min(names.values()) >= 2
        if count < 4 or not 2 <= len(names) <= 12 or not (is_marked or are_names):
            continue
        messages = []
        for number, turn in enumerate(turns, start=1):
            name, role = turn.name, None
            if has_roles:
                role = Speaker.USER if name.casefold() in _USERS else Speaker.ASSISTANT
                name = "" if name.casefold() in _USERS | _ASSISTANTS else name
            at = turn.at.replace(",", "").replace("  ", " ") or None
            messages.append(ImportedMessage(str(number), "\n".join(turn.lines).strip(), at, role, name))
        day = _DAY.search(f"{member.name} {title}")
        started = day[1] if day else None
        return ImportedConversation("text", member.place, title or member.stem, messages, started)
    raise NotAConversation("it has no turns such as 'User:' and 'Assistant:'")


def _turns(text: str, form: re.Pattern[str]) -> tuple[str, list[_Turn]]:
    """Return the title above the first turn, and the turns that *form* marks, outside of fenced code."""
    title, turns, is_code = "", list[_Turn](), False
    for line in text.replace("\r\n", "\n").split("\n"):
        is_code ^= line.lstrip(" ").startswith(("```", "~~~"))
        if not is_code and (match := form.match(line[:300])):
            rest = match["text"] + line[300:]
            turns.append(_Turn(match["name"].strip(), match.groupdict().get("at") or "", [rest]))
        elif turns:
            turns[-1].lines.append(line)
        elif line.startswith("# ") or not title:
            title = line.lstrip("# ").strip()[:200]
    return title, turns


def read_json(member: Member) -> Iterator[ImportedConversation]:
    """Yield a list of messages as one conversation, or objects with a list ``messages`` each as one."""
    messages = []
    for number, record in enumerate(member.objects()):
        if "messages" in record:
            key = record.text("id", "uuid") or f"{member.place}#{number}"
            yield _json_chat(key, record.text("title"), record.objects("messages"))
        else:
            messages.append(record)
    if messages:
        yield _json_chat(member.place, member.stem, messages)


def _json_chat(key: str, title: str, records: Sequence[Record]) -> ImportedConversation:
    messages = []
    for number, record in enumerate(records, start=1):
        role = record.text("role").lower()
        if role in _USERS | _ASSISTANTS:
            parts = [part for part in record.objects("content") if part.get("type") in (None, "text")]
            text = record.text("content") or paragraphs(*(part.text("text") for part in parts))
            times = map(record.time, ("timestamp", "created_at", "create_time", "time"))
            speaker = Speaker.USER if role in _USERS else Speaker.ASSISTANT
            at = next((time for time in times if time), None)
            messages.append(ImportedMessage(record.text("id") or str(number), text, at, speaker))
    return ImportedConversation("chat-json", key, title, messages)
