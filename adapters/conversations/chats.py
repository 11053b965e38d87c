"""Chats of Slack workspaces and of other files: plain text and Markdown with marked turns, JSON lists of roles and contents."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from operator import attrgetter
from typing import NamedTuple

from clawmem.adapters.conversations.members import (
    MAX_TEXT,
    Member,
    NotAConversation,
    Record,
    Unreadable,
    paragraphs,
    text_of_parts,
    with_attachments,
)
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault
from clawmem.ports.sessions import Speaker

Decode = Callable[[bytes], str]  # raises ValueError if the bytes are no text

_ROLES = dict.fromkeys(("user", "human", "you", "me", "prompt"), Speaker.USER) | dict.fromkeys(
    "assistant ai claude gpt chatgpt bot gemini copilot model llm response".split(), Speaker.ASSISTANT
)
_TIMES = ("timestamp", "created_at", "create_time", "createdAt", "time")
_NAME = r"[^\W_](?:[\w .'-]|[^\x00-\x7f]){0,38}"
_TIME = r"\d{4}-\d\d-\d\d[T ,]{1,2}\d\d?:\d\d(?::\d\d)?"
# Also "#### You:", "## MODEL ✨" and "ChatGPT said:".
_BARE = re.compile(rf"^(?P<head>#{{2,6}} [^\w\n]*)?(?P<name>{_NAME}?)(?: said)?(?(head):?$|:) ?(?P<text>.*)$")
_FORMS = (
    re.compile(rf"^\[?(?P<at>{_TIME})\]?(?: -)? <?(?P<name>{_NAME})>?: ?(?P<text>.*)$"),
    re.compile(rf"^\*\*(?P<name>{_NAME}):?\*\*:?(?: \((?P<at>{_TIME})\))?:?[ \t]*(?P<text>.*)$"),
    _BARE,
)


class _Turn(NamedTuple):
    name: str
    at: str
    lines: list[str]


def read_text(decode: Decode, member: Member) -> Iterator[ImportedConversation]:
    """Yield the chat in a text; a file whose lines mark no turns is no conversation."""
    with member.open() as file:
        data = file.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise Unreadable(f"it has more than {MAX_TEXT} bytes, too many for a chat in plain text")
    text = decode(data)
    for form in _FORMS:
        title, turns = _turns(text, form)
        names = Counter(turn.name.casefold() for turn in turns)
        count, has_times = names.total(), any(turn.at for turn in turns)
        has_roles = {Speaker.USER, Speaker.ASSISTANT} <= {*map(_ROLES.get, names)}
        is_marked = has_times or (has_roles and sum(names[name] for name in _ROLES) >= 0.6 * count)
        are_names = form is not _BARE and count >= 6 and min(names.values()) >= 2
        if count < 4 or not 2 <= len(names) <= 12 or not (is_marked or are_names):
            continue
        messages = []
        for number, turn in enumerate(turns, start=1):
            role = _ROLES.get(turn.name.casefold(), Speaker.ASSISTANT) if has_roles else None
            name = "" if has_roles and turn.name.casefold() in _ROLES else turn.name
            at = turn.at.replace(",", "").replace("  ", " ") or None
            messages.append(ImportedMessage(str(number), "\n".join(turn.lines).strip(), at, role, name))
        day = re.search(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", f"{member.name} {title}")
        started = day[0] if day else None
        yield ImportedConversation("text", member.file.path, title or member.stem, messages, started)
        return
    raise NotAConversation("it has no turns such as 'User:' and 'Assistant:'")


def _turns(text: str, form: re.Pattern[str]) -> tuple[str, list[_Turn]]:
    """Return the title above the first turn, and the turns that *form* marks, outside of fenced code."""
    title, turns, is_code = "", list[_Turn](), False
    for line in text.replace("\r\n", "\n").split("\n"):
        is_code ^= line.lstrip(" ").startswith(("```", "~~~"))
        match = None if is_code else form.match(line[:300])
        parts = match.groupdict() if match else {}
        name = re.sub(r"\A\W+|\W+\Z", "", parts.get("name", ""))
        if name and (name.casefold() in _ROLES or not parts.get("head")):
            turns.append(_Turn(name, parts.get("at") or "", [parts["text"] + line[300:]]))
        elif turns:
            turns[-1].lines.append(line)
        elif line.startswith("# ") or not title:
            title = line.lstrip("# ").strip()[:200]
    return title, turns


def read_json(member: Member) -> Iterator[ImportedConversation]:
    """Yield a list of messages as one conversation, or objects with a list such as ``messages`` each as one."""
    rest, fault = [], None
    try:
        for number, record in enumerate(member.objects()):
            record = Record({**record, **record.object("chat")})  # of Open WebUI
            about = record.object("info") or record.object("session") or record  # of OpenCode, of early Codex
            # The last two of Codex, ShareGPT.
            lists = map(record.objects, ("messages", "items", "conversations"))
            key = about.text("id", "uuid", "conversationId") or f"{member.file.path}#{number}"
            if inner := next(filter(None, lists), None):
                title, started = about.text("title"), about.time(*_TIMES)
                yield ImportedConversation("chat-json", key, title, _json_messages(inner), started)
            else:
                rest.append(record)
    except Unreadable as error:
        fault = error
    if rest:
        yield ImportedConversation("chat-json", member.file.path, member.stem, _json_messages(rest))
    if fault:
        raise fault


def _json_messages(records: Iterable[Record]) -> list[ImportedMessage]:
    messages = []
    for number, record in enumerate(records, start=1):
        about = record.object("info") or record
        by_user = about.get("isCreatedByUser")  # of LibreChat
        name = "" if by_user is None else "user" if by_user else "assistant"
        if role := _ROLES.get(about.text("role", "from").lower() or name):
            parts = record.get("content") or record.get("parts")  # of Gemini
            text = record.text("content", "value", "text") or text_of_parts(parts)
            at = about.time(*_TIMES) or about.object("time").time("created")
            messages.append(ImportedMessage(about.text("id") or str(number), text, at, role))
    return messages


# -- Slack ----------------------------------------------------------------------------------------------

_SKIPPED = re.compile(r"(?:channel|group|bot|pinned|reminder|sh_room|tombstone|huddle)_?\w*")
_MENTION = re.compile(r"<(@|#|!)?([^<>|\n]{1,2000})(?:\|([^<>\n]{0,500}))?>")


def slack_days(member: Member) -> list[Member]:
    """Return the files of the room of *member*, a channel, group or direct message, in the order of their days."""
    room = (day for day in member.tree.values() if day.folder == member.folder and day.name.endswith(".json"))
    return sorted(room, key=attrgetter("name"))


def read_slack(member: Member) -> Iterator[ImportedConversation | ReadFault]:
    """Yield each day of the room of *member*, then its threads, whose replies may be in the files of later days."""
    names, room = _names(member), member.folder.rpartition("/")[2]
    channel = names.get(room, room)
    threads: dict[str, list[ImportedMessage]] = {}

    def conversation(key: str, title: str, messages: Iterable[ImportedMessage]) -> ImportedConversation:
        key = f"{room or member.file.path.rpartition('/')[0]}/{key}"  # which a later export shares
        ordered = sorted(messages, key=attrgetter("id"))
        return ImportedConversation("slack", key, title, ordered, labels={"channel": channel})

    for file in slack_days(member):
        day: list[ImportedMessage] = []
        try:
            for record in file.objects():
                if message := _message(record, names):
                    thread = record.text("thread_ts")
                    (threads.setdefault(thread, []) if thread else day).append(message)
        except Unreadable as error:
            yield ReadFault(file.file.path, str(error))
        title = f"#{channel} {file.stem}"
        yield conversation(title, title, day)
    for name, replies in threads.items():
        yield conversation(name, f"Thread in #{channel}", replies)


def _message(record: Record, names: Mapping[str, str]) -> ImportedMessage | None:
    kind = record.text("subtype")
    if record.get("type") != "message" or (
        kind not in ("bot_message", "thread_broadcast") and _SKIPPED.fullmatch(kind)
    ):
        return None
    texts = [record.text("text"), _layout(record.get("blocks"))]
    words, words_of_layout = (set(re.findall(r"\w+", text)) for text in texts)
    if words <= words_of_layout or words_of_layout <= words:  # one is a short form of the other
        texts = [max(texts, key=len)]
    attached = record.objects("attachments")  # of apps, and messages of others
    shared = [part for part in attached if part.get("is_share") or part.get("is_msg_unfurl")]
    texts += map(_layout, shared if any(texts) else attached)
    text = with_attachments(_plain(paragraphs(*texts), names), record.objects("files"))
    speaker = names.get(record.text("user")) or record.object("user_profile").text("real_name", "name")
    at = record.text("ts")
    return ImportedMessage(at, text, at, None, speaker or record.text("username", "user", "bot_id"))


def _layout(part: object, between: str = "\n") -> str:
    """Return the text of a layout, of a part of one, or of an attachment; a section is a line, as a row of a table."""
    if isinstance(part, list):
        return between.join(filter(None, (_layout(item, " | ") for item in part)))
    block = Record(part)
    user, channel = block.text("user_id"), block.text("channel_id")
    mention = f"<@{user}>" if user else f"<#{channel}>" if channel else ""
    title, own = (block.text(name) or block.object(name).text("text") for name in ("title", "text"))
    own = own or block.text("url", "alt_text", "value") or mention
    is_line = block.text("type") in ("rich_text_section", "rich_text_quote", "rich_text_preformatted")
    between, names = "" if is_line else "\n", ("elements", "fields", "rows", "blocks")
    inner = [_layout(block[name], between) for name in names if block.get(name)]
    return "\n".join(filter(None, [block.text("pretext"), title, own, *inner])) or block.text("fallback")


def _plain(text: str, names: Mapping[str, str]) -> str:

    def plain(match: re.Match[str]) -> str:
        mark, target, label = match.groups()
        if mark == "@":
            return f"@{names.get(target) or label or target}"
        if mark == "#":
            return f"#{label or names.get(target, target)}"
        if mark == "!":
            return f"@{label or target.partition('^')[0]}".replace("@@", "@")
        return f"{label} ({target})" if label and label != target else target

    return unescape(_MENTION.sub(plain, text))


def _names(member: Member) -> dict[str, str]:
    """Return the names of users and rooms by id; without the files above the folder of *member*, ids stay."""
    names: dict[str, str] = {}
    for file in ("users.json", "org_users.json"):
        for user in member.objects_next_to(f"../{file}"):
            profile = user.object("profile")
            name = profile.text("display_name", "real_name") or user.text("real_name", "name")
            names[user.text("id")] = name
    for file in ("channels.json", "groups.json", "mpims.json", "dms.json"):
        for room in member.objects_next_to(f"../{file}"):
            people = ", ".join(sorted(names.get(id) or id for id in room.texts("members")))
            names[room.text("id")] = room.text("name") or people or room.text("id")
    return names
