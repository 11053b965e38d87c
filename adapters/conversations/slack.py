"""The export of a Slack workspace: channels, private channels and direct messages, with their threads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from operator import attrgetter

from clawmem.adapters.conversations.members import Member, Record, Unreadable, with_attachments
from clawmem.ports.imports import ImportedConversation, ImportedMessage, ReadFault

_SKIPPED = re.compile(r"(?:channel|group|bot|pinned|reminder|sh_room|tombstone|huddle)_?\w*")
_SPOKEN = frozenset({"bot_message", "thread_broadcast"})
_MENTION = re.compile(r"<(@|#|!)?([^<>|\n]{1,2000})(?:\|([^<>\n]{0,500}))?>")


def days(member: Member) -> list[Member]:
    """Return the files of the room of *member*, in the order of their days."""
    room = (day for day in member.tree.values() if day.folder == member.folder and day.name.endswith(".json"))
    return sorted(room, key=attrgetter("name"))


def read(member: Member) -> Iterator[ImportedConversation | ReadFault]:
    """Yield each day of the room of *member*, then its threads, whose replies may be in the files of later days."""
    names = _names(member)
    room = member.folder.rpartition("/")[2]
    channel = names.get(room, room)
    threads: dict[str, list[ImportedMessage]] = {}

    def conversation(key: str, title: str, messages: Iterable[ImportedMessage]) -> ImportedConversation:
        key = f"{room or member.place.rpartition('/')[0]}/{key}"  # which a later export shares
        ordered = sorted(messages, key=attrgetter("id"))
        return ImportedConversation("slack", key, title, ordered, labels=(("channel", channel),))

    for file in days(member):
        day: list[ImportedMessage] = []
        try:
            for record in file.objects():
                if message := _message(record, names):
                    thread = record.text("thread_ts")
                    (threads.setdefault(thread, []) if thread else day).append(message)
        except Unreadable as error:
            yield ReadFault(file.place, str(error))
        title = f"#{channel} {file.stem}"
        yield conversation(title, title, day)
    for name, replies in threads.items():
        yield conversation(name, f"Thread in #{channel}", replies)


def _message(record: Record, names: Mapping[str, str]) -> ImportedMessage | None:
    kind = record.text("subtype")
    if record.get("type") != "message" or (kind not in _SPOKEN and _SKIPPED.fullmatch(kind)):
        return None
    fallbacks = [part.text("fallback", "text") for part in record.objects("attachments")]  # of apps
    text = record.text("text") or "\n".join(filter(None, fallbacks))
    text = with_attachments(_plain(text, names), record.objects("files"), "name")
    speaker = names.get(record.text("user")) or record.object("user_profile").text("real_name", "name")
    at = record.text("ts")
    return ImportedMessage(at, text, at, None, speaker or record.text("username", "user", "bot_id"))


def _plain(text: str, names: Mapping[str, str]) -> str:
    """Return *text* with names in the place of ids, and links as their address."""

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
            people = ", ".join(sorted(names.get(id) or id for id in map(str, room.get("members") or ())))
            names[room.text("id")] = room.text("name") or people or room.text("id")
    return names
