"""The export of a Slack workspace: channels, private channels and direct messages, with their threads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import unescape
from typing import Any, NamedTuple

from clawmem.adapters.conversations.format import Format, nothing
from clawmem.adapters.conversations.members import Member, Tree, Unreadable
from clawmem.adapters.conversations.shapes import Kind, Shape, dicts_in, object_in, objects_in, text_in
from clawmem.ports.conversations import ImportedConversation, ImportedMessage, ReadFault

SOURCE = "slack"
REDACTED = "[redacted: slack token]"
_SKIPPED = re.compile(r"(?:channel|group|bot|pinned|reminder|sh_room|tombstone|huddle)_?\w*")
_SPOKEN = frozenset({"bot_message", "thread_broadcast"})
_MENTION = re.compile(r"<(@|#|!)?([^<>|\n]{1,2000})(?:\|([^<>\n]{0,500}))?>")
_TOKEN_OF_FILE = re.compile(r"[?&](?:t|token)=xox[a-z]-[^\s&>|]{1,500}")
_TOKEN = re.compile(r"xox[abeprs]-[\w-]{8,500}")


class _Names(NamedTuple):
    """Names of users and of conversations by id."""

    users: Mapping[str, str]
    rooms: Mapping[str, str]


def _read(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation | ReadFault]:
    """Yield each day of a room, then its threads, whose replies may be in the files of later days."""
    first = members[0]
    folder, _, _ = first.name.rpartition("/")
    root, _, room = folder.rpartition("/")
    names = _names(tree, f"{root}/" if root else "")
    place = first.place.rpartition("/")[0]
    labels = (("channel", names.rooms.get(room, room)),)
    threads: dict[str, dict[str, ImportedMessage]] = {}
    edited: dict[str, str] = {}  # the time of an edit by the id of the message

    def conversation(name: str, title: str, said: Iterable[ImportedMessage]) -> ImportedConversation:
        ordered, key = sorted(said, key=_sent), f"{_room_id(place, room)}/{name}"
        return ImportedConversation(
            SOURCE, key, title, ordered, labels=labels, updated=_changed(ordered, edited)
        )

    for member in members:
        day: list[ImportedMessage] = []
        try:
            for one in objects_in(member):
                if (message := _message(one, names)) is None:
                    continue
                edited[message.id] = text_in(object_in(one.get("edited")).get("ts"))
                thread = text_in(one.get("thread_ts"))
                if thread:
                    threads.setdefault(thread, {})[message.id] = message
                else:
                    day.append(message)
        except Unreadable as error:
            yield ReadFault(member.place, str(error), is_partial=True)
        title = f"#{labels[0][1]} {member.name.rpartition('/')[2].removesuffix('.json')}"
        yield conversation(title, title, day)
    for name, said in threads.items():
        # Replies without their thread come from an export of a range of days, and replace no earlier ones.
        begins = name if name in said else f"{name} from {min(said.values(), key=_sent).id}"
        yield conversation(begins, f"Thread in #{labels[0][1]}", said.values())


def _changed(messages: Sequence[ImportedMessage], edited: Mapping[str, str]) -> str | None:
    """Return the time of the last message or edit."""
    return max((max(one.id, edited[one.id]) for one in messages), default=None)


def _room_id(place: str, room: str) -> str:
    """Return an id that a later export shares: the room's name; without one the place of the file."""
    return room or place


def _sent(message: ImportedMessage) -> tuple[int, str]:
    whole, _, fraction = message.id.partition(".")
    return int(whole) if whole.isdecimal() else 0, fraction


def _message(one: dict[str, Any], names: _Names) -> ImportedMessage | None:
    kind = text_in(one.get("subtype"))
    if one.get("type") != "message" or (kind not in _SPOKEN and _SKIPPED.fullmatch(kind)):
        return None
    text = text_in(one.get("text")) or "\n".join(
        text_in(item.get("fallback")) for item in dicts_in(one.get("attachments"))
    )
    files = [text_in(file.get("name")) for file in dicts_in(one.get("files"))]
    if any(files):
        text = f"{text}\n\n[attached: {', '.join(filter(None, files))}]"
    at = text_in(one.get("ts"))
    return ImportedMessage(at, _shown(text, names), at, None, _speaker(one, names))


def _speaker(one: dict[str, Any], names: _Names) -> str:
    about = object_in(one.get("user_profile"))
    user = text_in(one.get("user"))
    known = names.users.get(user) or text_in(about.get("real_name")) or text_in(about.get("name"))
    return known or text_in(one.get("username")) or user or text_in(one.get("bot_id"))


def _shown(text: str, names: _Names) -> str:
    """
    Return *text* with names in the place of ids, links as their address, and without tokens in addresses of files.

    A token that somebody wrote is marked as redacted: the general rules know only longer ones.
    """

    def plain(match: re.Match[str]) -> str:
        mark, target, label = match.groups()
        if mark == "@":
            return f"@{names.users.get(target) or label or target}"
        if mark == "#":
            return f"#{label or names.rooms.get(target, target)}"
        if mark == "!":
            return f"@{label or target.partition('^')[0]}".replace("@@", "@")
        return f"{label} ({target})" if label and label != target else target

    return unescape(_TOKEN.sub(REDACTED, _TOKEN_OF_FILE.sub("", _MENTION.sub(plain, text))))


def _names(tree: Tree, root: str) -> _Names:
    users = {}
    for name in ("users.json", "org_users.json"):
        for one in _listed(tree, f"{root}{name}"):
            about = object_in(one.get("profile"))
            shown = text_in(about.get("display_name")) or text_in(about.get("real_name"))
            users[text_in(one.get("id"))] = shown or text_in(one.get("real_name")) or text_in(one.get("name"))
    rooms = {}
    for name in ("channels.json", "groups.json", "mpims.json", "dms.json"):
        for one in _listed(tree, f"{root}{name}"):
            people = one.get("members")
            listed = (
                [users.get(text_in(who), text_in(who)) for who in people] if isinstance(people, list) else []
            )
            room = text_in(one.get("id"))
            rooms[room] = text_in(one.get("name")) or ", ".join(sorted(listed)) or room
    return _Names(users, rooms)


def _listed(tree: Tree, name: str) -> Iterator[dict[str, Any]]:
    with suppress(Unreadable):  # then ids take the place of names
        if name in tree:
            yield from objects_in(tree[name])


def _folder(name: str) -> str:
    return name.rpartition("/")[0] or name


def _is_day(shape: Shape) -> bool:
    is_message = shape.values.get("type") == "message" and shape.has("ts")
    return shape.kind is Kind.ARRAY and is_message and not shape.has("sessionId")


def _is_companion(shape: Shape) -> bool:
    is_user = shape.has("id", "profile") or shape.has("id", "team_id")
    is_room = shape.has("id", "members") or shape.has("service_id", "date")
    return shape.kind is Kind.ARRAY and (is_user or is_room)


FORMATS = (Format(SOURCE, _is_day, _read, _folder), Format("", _is_companion, nothing))
