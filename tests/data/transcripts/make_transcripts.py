"""
Conversations, written by hand and labelled in place, as the JSONL that Claude Code keeps of them.

A conversation begins with ``=== name``. ``U:`` and ``A:`` say who speaks, ``F: write PATH`` (or ``edit``, ``read``)
is a tool the assistant used. ``{D|…}`` is what a reader would keep: D a decision, P a preference, B a problem,
M a milestone, Q an open question; the marks are not part of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
KINDS = {"D": "decision", "P": "preference", "B": "problem", "M": "milestone", "Q": "question"}
TOOLS = {"write": "Write", "edit": "Edit", "read": "Read"}

_LABEL = re.compile(r"\{([DPBMQ])\|(.*?)\}", re.DOTALL)
_SESSION = re.compile(r"^=== (\S+)\n", re.MULTILINE)


class Label(NamedTuple):
    """What should be found: the kind and the words."""

    kind: str
    text: str


class Conversation(NamedTuple):
    """One conversation: its name, what is said and done, and what should be found in it."""

    name: str
    steps: list[tuple[str, str]]  # (U, A or F), text
    labels: list[Label]


def conversations(part: str) -> list[Conversation]:
    """Those of one half, ``tuning`` or ``heldout``, in the order of the file."""
    text = (HERE / f"conversations_{part}.txt").read_text("utf-8")
    _, *pieces = _SESSION.split(text)
    return [_conversation(name, body) for name, body in zip(pieces[::2], pieces[1::2], strict=True)]


def jsonl(conversation: Conversation) -> str:
    """The transcript's lines: a message a line, tools as blocks of their own, the client's noise in between."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(conversation))


def _conversation(name: str, body: str) -> Conversation:
    steps = [(line[0], _LABEL.sub(r"\2", line[3:]).strip()) for line in body.strip().split("\n")]
    labels = [Label(KINDS[kind], text.strip()) for kind, text in _LABEL.findall(body)]
    return Conversation(name, steps, labels)


def _lines(conversation: Conversation) -> Iterator[dict[str, Any]]:
    yield {"type": "mode", "mode": "default", "sessionId": conversation.name}
    for number, (who, text) in enumerate(conversation.steps):
        yield _line(conversation.name, number, who, text)
        if who == "F":
            yield _tool_answer(conversation.name, number)
        elif who == "U":
            yield {"type": "attachment", "attachment": {"type": "date", "text": "ignore me"}}


def _line(session: str, number: int, who: str, text: str) -> dict[str, Any]:
    speaker = "user" if who == "U" else "assistant"
    message: dict[str, Any] = {"role": speaker, "content": text}
    if who != "U":
        message |= {"id": f"msg_{session}_{number}", "content": [_block(number, who, text)]}
    return _envelope(session, number, speaker, message)


def _block(number: int, who: str, text: str) -> dict[str, Any]:
    if who == "A":
        return {"type": "text", "text": text}
    verb, _, path = text.partition(" ")
    return {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": TOOLS[verb],
        "input": {"file_path": f"/project/{path}"},
    }


def _tool_answer(session: str, number: int) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "We decided nothing here."}
    return _envelope(session, number, "user", {"role": "user", "content": [block]}, suffix="-result")


def _envelope(
    session: str, number: int, speaker: str, message: dict[str, Any], suffix: str = ""
) -> dict[str, Any]:
    return {
        "type": speaker,
        "uuid": f"{session}-{number:03}{suffix}",
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": session,
        "timestamp": f"2024-05-06T09:{number:02}:00.000Z",
        "cwd": "/project",
        "message": message,
    }
