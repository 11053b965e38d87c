"""Exports of chat programs and sessions of agents, written from the same talks; nothing in them is of a person."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

USER, ASSISTANT = "user", "assistant"
_NAMES = {USER: "Ida", ASSISTANT: "Per"}  # in a talk between people


class Turn(NamedTuple):
    """One message of a talk; ``at`` is in seconds since the epoch."""

    speaker: str
    text: str
    at: float


class Talk(NamedTuple):
    """A conversation of two; ``user`` is the name of the account, if the export records one."""

    id: str
    title: str
    turns: Sequence[Turn]
    updated: float | None = None
    user: str = ""


def talk(name: str, title: str, day: str, *texts: str) -> Talk:
    """Return a talk of a user and an assistant who speak in turns, a minute apart."""
    start = datetime.fromisoformat(f"{day}T10:00:00+00:00").timestamp()
    turns = [Turn((USER, ASSISTANT)[at % 2], text, start + 60 * at) for at, text in enumerate(texts)]
    return Talk(name, title, turns)


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _roles(one: Talk) -> list[str]:
    """Return the role of each turn: the user is the owner of the account, or the first speaker."""
    first = one.user or one.turns[0].speaker
    return [USER if turn.speaker == first else ASSISTANT for turn in one.turns]


def chatgpt(talks: Iterable[Talk]) -> list[dict[str, Any]]:
    """Return ``conversations.json`` of ChatGPT; each tree has a root without a message, and an abandoned branch."""
    return [_chatgpt(one) for one in talks]


def chatgpt_message(name: str, role: str, text: str, at: float | None, **more: Any) -> dict[str, Any]:
    said = {
        "id": name,
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "weight": 1.0,
        "recipient": "all",
        "metadata": {},
    }
    return {**said, **more}


def _chatgpt(one: Talk) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    parent = "root"
    for number, (turn, role) in enumerate(zip(one.turns, _roles(one), strict=True)):
        name = f"{one.id}-{number}"
        message = chatgpt_message(name, role, turn.text, turn.at)
        mapping[name] = {"id": name, "parent": parent, "children": [], "message": message}
        mapping[parent]["children"].append(name)
        parent = name
    abandoned = chatgpt_message("abandoned", USER, "This abandoned branch is not imported.", one.turns[0].at)
    mapping["abandoned"] = {"id": "abandoned", "parent": "root", "children": [], "message": abandoned}
    mapping["root"]["children"].append("abandoned")
    return {
        "id": one.id,
        "conversation_id": one.id,
        "title": one.title,
        "create_time": one.turns[0].at,
        "update_time": one.updated or one.turns[-1].at,
        "mapping": mapping,
        "current_node": parent,
    }


def claude_ai(talks: Iterable[Talk]) -> list[dict[str, Any]]:
    return [
        {
            "uuid": one.id,
            "name": one.title,
            "created_at": iso(one.turns[0].at),
            "account": {"uuid": f"account of {one.user}"},
            "chat_messages": [
                {
                    "uuid": f"{one.id}-{number}",
                    "sender": "human" if role == USER else ASSISTANT,
                    "text": "This block is not supported on your device.",
                    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": turn.text}],
                    "created_at": iso(turn.at),
                }
                for number, (turn, role) in enumerate(zip(one.turns, _roles(one), strict=True))
            ],
        }
        for one in talks
    ]


def claude_code(one: Talk) -> str:
    """Return a session of Claude Code; an answer of two blocks is on two lines, and tools are in between."""
    lines: list[dict[str, Any]] = [
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "sessionId": one.id,
            "timestamp": iso(one.turns[0].at),
        },
        {"type": "custom-title", "customTitle": one.title, "sessionId": one.id},
    ]
    for number, (turn, role) in enumerate(zip(one.turns, _roles(one), strict=True)):
        common = {"type": role, "uuid": f"{one.id}-{number}", "sessionId": one.id, "timestamp": iso(turn.at)}
        common |= {"cwd": "/home/me/ferry", "isSidechain": False}
        if role == USER:
            lines.append({**common, "message": {"role": role, "content": turn.text}})
            continue
        tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
        for block in (tool, {"type": "text", "text": turn.text}):
            lines.append({**common, "message": {"id": f"m{number}", "role": role, "content": [block]}})
        result = {"type": "tool_result", "tool_use_id": "t", "content": "a tool said this"}
        lines.append({**common, "type": USER, "message": {"role": USER, "content": [result]}})
    return json_lines(lines)


def codex(one: Talk) -> str:
    lines: list[dict[str, Any]] = [
        {
            "timestamp": iso(one.turns[0].at),
            "type": "session_meta",
            "payload": {"id": one.id, "cwd": "/home/me/ferry"},
        }
    ]
    for turn, role in zip(one.turns, _roles(one), strict=True):
        part = {"type": "input_text" if role == USER else "output_text", "text": turn.text}
        payload = {"type": "message", "role": role, "content": [part]}
        lines.append({"timestamp": iso(turn.at), "type": "response_item", "payload": payload})
        event = {"type": f"{role}_message", "message": turn.text}
        lines.append({"timestamp": iso(turn.at), "type": "event_msg", "payload": event})
    return json_lines(lines)


def gemini_cli(one: Talk) -> str:
    lines: list[dict[str, Any]] = [
        {"sessionId": one.id, "projectHash": "abc", "startTime": iso(one.turns[0].at)}
    ]
    for number, (turn, role) in enumerate(zip(one.turns, _roles(one), strict=True)):
        kind = "user" if role == USER else "gemini"
        lines.append({"id": f"g{number}", "timestamp": iso(turn.at), "type": kind, "content": turn.text})
    return json_lines(lines)


def openclaw(one: Talk) -> str:
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": one.id, "timestamp": iso(one.turns[0].at), "cwd": "/home/me"}
    ]
    for number, (turn, role) in enumerate(zip(one.turns, _roles(one), strict=True)):
        message = {"role": role, "content": [{"type": "text", "text": turn.text}]}
        lines.append({"type": "message", "id": f"o{number}", "timestamp": iso(turn.at), "message": message})
    return json_lines(lines)


def slack(talks: Iterable[Talk]) -> dict[str, str]:
    """Return the files of a Slack export: each talk is a channel, and its speakers are users."""
    kept = list(talks)
    names = sorted({turn.speaker for one in kept for turn in one.turns})
    users = [
        {"id": f"U{at}", "name": name.lower(), "profile": {"real_name": _NAMES.get(name, name)}}
        for at, name in enumerate(names)
    ]
    files = {
        "users.json": json.dumps(users),
        "channels.json": json.dumps([{"id": f"C{one.id}", "name": one.id, "members": []} for one in kept]),
    }
    for one in kept:
        days: dict[str, list[dict[str, Any]]] = {}
        for number, turn in enumerate(one.turns):
            message = {"type": "message", "user": f"U{names.index(turn.speaker)}", "text": turn.text}
            days.setdefault(iso(turn.at)[:10], []).append({**message, "ts": f"{turn.at:.0f}.{number:06}"})
        files |= {f"{one.id}/{day}.json": json.dumps(said) for day, said in days.items()}
    return files


def markdown(one: Talk) -> str:
    said = "\n\n".join(f"**{turn.speaker.capitalize()}:** {turn.text}" for turn in one.turns)
    return f"# {one.title} {iso(one.turns[0].at)[:10]}\n\n{said}\n"


def json_lines(values: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def write_zip(path: Path, files: Mapping[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def chatgpt_files(talks: Sequence[Talk]) -> dict[str, str]:
    users = (
        {"user.json": json.dumps({"id": "user-1", "email": "a@example.org", "name": talks[0].user})}
        if talks[0].user
        else {}
    )
    return {"conversations.json": json.dumps(chatgpt(talks)), **users}


def claude_ai_files(talks: Sequence[Talk]) -> dict[str, str]:
    """Return the files of an export of Claude.ai; several accounts of an organisation may share one."""
    names = dict.fromkeys(one.user for one in talks if one.user)
    users = [
        {"uuid": f"account of {name}", "full_name": name, "email_address": "a@example.org"} for name in names
    ]
    files = {"conversations.json": json.dumps(claude_ai(talks))}
    return {**files, "users.json": json.dumps(users)} if users else files


Files = Mapping[str, str]
FORMATS: Mapping[str, Callable[[Sequence[Talk]], Files]] = {
    "chatgpt": chatgpt_files,
    "claude.ai": claude_ai_files,
    "claude-code": lambda talks: {f"project/{one.id}.jsonl": claude_code(one) for one in talks},
    "codex": lambda talks: {f"rollout-{one.id}.jsonl": codex(one) for one in talks},
    "gemini-cli": lambda talks: {f"chats/session-{one.id}.jsonl": gemini_cli(one) for one in talks},
    "openclaw": lambda talks: {f"sessions/{one.id}.jsonl": openclaw(one) for one in talks},
    "slack": slack,
    "text": lambda talks: {f"{one.id}.md": markdown(one) for one in talks},
}
"""Files of an export by source."""
