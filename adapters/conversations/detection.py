"""The table of formats, which are recognised by the start of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import ijson

from clawmem.adapters.conversations import chatgpt, chats, claude_ai, databases, sessions, slack
from clawmem.adapters.conversations.chats import Decode
from clawmem.adapters.conversations.members import Member, Reader, Tree, Unreadable
from clawmem.adapters.conversations.records import reason_of
from clawmem.adapters.conversations.sessions import TITLES, ReadMessages
from clawmem.ports.imports import ImportedConversation

SAMPLES = (1 << 18, 1 << 24)  # bytes; the second one is tried where the first one shows no format
_SAMPLE_LINES = 200  # a session begins with lines of its program
_SQLITE = b"SQLite format 3\0"
_CUT = "premature EOF"  # the parser's reason where a sample ends before the file does
_COMPANIONS = (
    {"conversation_id", "evaluation_name"}, {"conversation_id", "rating"}, {"conversation_id", "is_anonymous"},
    {"conversation_id", "title"}, {"email", "id"}, {"email", "chatgpt_plus_user"}, {"user_id", "settings"}, {"chats"},
    {"generations", "tasks"}, {"locale", "theme"},  # of ChatGPT
    {"uuid", "email_address"},  # of Claude.ai
    {"id", "profile"}, {"id", "team_id"}, {"id", "members"}, {"service_id", "date"},  # of Slack
)  # fmt: skip


class _Sample(NamedTuple):
    """
    Start of a JSON file.

    ``start`` is its first bracket. ``first`` are the members of its first object, ``None`` in the place of arrays and
    objects; ``lines`` the objects on its first lines, if it has several. ``damage`` is why members may be missing.
    """

    start: str
    first: Mapping[str, Any]
    lines: Sequence[Mapping[str, Any]]
    is_empty: bool
    damage: str

    def has(self, *keys: str) -> bool:
        return self.first.keys() >= {*keys}


class Detection:
    """
    Recognition of formats.

    Args:
        read_messages: Parses the lines of a session of Claude Code, Codex or Gemini CLI.
        decode: Returns the text of a file of any encoding.
    """

    def __init__(self, read_messages: ReadMessages, decode: Decode) -> None:
        self._text = Reader("text", chats.reader_of_texts(decode))
        self._database = Reader("agent", databases.read)

        def session(source: str) -> Reader:
            return Reader(source, sessions.reader_of(source, read_messages))

        self._table: tuple[tuple[Callable[[_Sample], bool], Reader], ...] = (
            (lambda it: it.has("mapping"), Reader("chatgpt", chatgpt.read)),
            (lambda it: it.has("chat_messages"), Reader("claude.ai", claude_ai.read_conversations)),
            (lambda it: it.has("uuid", "docs", "name"), Reader("claude.ai", claude_ai.read_projects)),
            (
                lambda it: it.has("conversations_memory") or it.has("project_memories"),
                Reader("claude.ai", claude_ai.read_memories),
            ),
            (_is_openclaw, Reader("openclaw", sessions.read_openclaw)),
            (lambda it: any(map(_is_line_of_claude_code, it.lines)), session("claude-code")),
            (
                lambda it: any(
                    line.get("type") in ("session_meta", "response_item") and "payload" in line
                    for line in it.lines
                ),
                session("codex"),
            ),
            (
                lambda it: (
                    (it.has("sessionId", "projectHash") or it.has("sessionId", "startTime"))
                    and not it.has("type")
                ),
                session("gemini-cli"),
            ),
            (
                lambda it: it.start == "{" and it.has("info", "messages"),
                Reader("opencode", sessions.read_opencode),
            ),
            (
                lambda it: (
                    it.start == "["
                    and it.first.get("type") == "message"
                    and it.has("ts")
                    and not it.has("sessionId")
                ),
                Reader("slack", slack.read, lambda name: name.rpartition("/")[0] or name),
            ),
            (lambda it: any(map(it.first.keys().__ge__, _COMPANIONS)), Reader("", _nothing)),
            (
                lambda it: it.has("role", "content") or it.has("messages"),
                Reader("chat-json", chats.read_json),
            ),
            (lambda it: it.is_empty, Reader("", _nothing)),
        )

    def detect(self, head: bytes, is_whole: bool = True) -> Reader | None:
        """
        Return the reader of a file that begins with *head*; ``None`` if its format is unknown.

        Raises:
            Unreadable: it is no valid JSON, and its format is unknown.
        """
        if head.startswith(_SQLITE):
            return self._database
        sample = _sample(head, is_whole=is_whole)
        if sample is None:
            return self._text
        found = next((reader for recognises, reader in self._table if recognises(sample)), None)
        if sample.damage and sample.first and not (found and found.source):
            raise Unreadable(f"it is no valid JSON ({sample.damage})")
        return found

    def of_member(self, member: Member) -> Reader | None:
        """Return the reader of *member*, whose first line may be long; see `detect`."""
        for size in SAMPLES:
            head, is_whole = member.head(size)
            if not head.strip():
                raise Unreadable("it is empty")
            found = self.detect(head, is_whole)
            if found or is_whole:
                return found
        return None


def _nothing(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    yield from ()


def _sample(head: bytes, *, is_whole: bool) -> _Sample | None:
    """Return the start of JSON; ``None`` of a text, also one that begins with a bracket."""
    start = head.lstrip()[:1].decode("latin-1")
    if start == "{":
        lines = []
        for line in head.split(b"\n")[:_SAMPLE_LINES]:
            with suppress(ValueError, RecursionError):
                if isinstance(record := json.loads(line), dict):
                    lines.append(record)
        if lines and (len(lines) > 1 or b"\n" in head.strip()):
            return _Sample(start, lines[0], lines, is_empty=False, damage="")
    if start not in ("{", "["):
        return None
    prefix = "item" if start == "[" else ""
    first: dict[str, Any] = {}
    events, damage = list[str](), ""
    try:
        for place, event, value in ijson.parse(head, use_float=True):
            events = [*events, event][:2]
            if place == prefix and event == "map_key":
                first[value] = None
            elif place == prefix and event == "end_map":
                break
            elif event in ("string", "number") and place.rpartition(".")[0] == prefix:
                first[place.rpartition(".")[2]] = value
    except (ijson.JSONError, ValueError, OverflowError) as error:
        damage = "" if not is_whole and _CUT in str(error) else reason_of(error)
    is_empty = events[1:] in (["end_array"], ["end_map"])
    if start == "[" and events[1:] != ["start_map"] and not is_empty:
        return None  # "[2024-05-01 10:00] Ann: ..." or a Markdown link
    return _Sample(start, first, (), is_empty, damage)


def _is_openclaw(sample: _Sample) -> bool:
    is_session = sample.first.get("type") == "session" and "payload" not in sample.first
    return bool(sample.lines and is_session) or any(
        line.get("type") == "message" and isinstance(line.get("message"), dict) and "sessionId" not in line
        for line in sample.lines
    )


def _is_line_of_claude_code(line: Mapping[str, Any]) -> bool:
    kinds = ("user", "assistant", "human", *TITLES)
    return "sessionId" in line and (line.get("type") in kinds or "uuid" in line)
