from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.adapters.files.transcripts import DiskTranscripts, NotConversation, message_of
from clawmem.ports.errors import InvalidInput
from clawmem.ports.sessions import Cursor, FileTouch, Speaker

sys.path.insert(0, str(Path(__file__).parents[1] / "data" / "transcripts"))

from make_transcripts import conversations, jsonl


def line(kind: str, content: Any, uuid: str, message_id: str | None = None, **rest: Any) -> str:
    message = {"role": kind, "content": content} | ({"id": message_id} if message_id else {})
    entry = {"type": kind, "uuid": uuid, "timestamp": "2024-05-06T09:00:00.000Z", "message": message}
    return json.dumps(entry | rest) + "\n"


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def edit(path: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "name": "Edit", "input": {"file_path": path}}]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_the_client_s_own_lines_are_left_out(transcript: Path) -> None:
    """Of a client's transcript only what people and models said is read, and none of its lines is bad."""
    [first, *_] = conversations("tuning")
    transcript.write_text(jsonl(first), "utf-8")

    part = DiskTranscripts().read(str(transcript))

    said = [words for who, words in first.steps if who != "F"]
    assert [message.text for message in part.messages if message.text] == said
    assert part.bad_lines == 0
    assert part.end == Cursor(len(jsonl(first).splitlines()), len(jsonl(first).encode()), 3)


def test_a_message_split_over_lines_is_one(transcript: Path) -> None:
    """Lines of one message id are one message: its texts, its files, the line on which it begins."""
    transcript.write_text(
        line("user", "Fix it.", "u1")
        + line("assistant", [{"type": "thinking", "thinking": "hm"}], "a1", "msg")
        + line("assistant", text("First."), "a2", "msg")
        + line("assistant", edit("/w/a.py"), "a3", "msg")
        + line("assistant", text("Second."), "a4", "msg")
    )

    _, answer = DiskTranscripts().read(str(transcript)).messages

    assert (answer.text, answer.line, answer.id) == ("First.\n\nSecond.", 3, "msg")
    assert answer.files == (FileTouch("/w/a.py", True),)


def test_subagents_stand_apart(transcript: Path) -> None:
    """What a subagent said is not part of the conversation, and not lost."""
    transcript.write_text(
        line("user", "Go.", "u1") + line("assistant", text("Aside."), "a1", isSidechain=True)
    )

    part = DiskTranscripts().read(str(transcript))

    assert [message.text for message in part.messages] == ["Go."]
    assert [message.text for message in part.sidechains] == ["Aside."]


@pytest.mark.parametrize(
    "entry",
    [
        line("user", "A summary.", "u1", isCompactSummary=True),
        line(
            "user", "This session is being continued from a previous conversation. Summary: we use X.", "u1"
        ),
        line(
            "user",
            "The conversation history before this point was compacted into the following summary:\n\nWe use X.",
            "u1",
        ),
        line("user", "<state_snapshot>We use X.</state_snapshot>", "u1"),
        line("user", '<teammate-message teammate_id="lead">We use X.</teammate-message>', "u1"),
        line("user", "Meta.", "u1", isMeta=True),
        line("user", "<command-name>/clear</command-name>", "u1"),
        line("user", "<local-command-stdout>ok</local-command-stdout>", "u1"),
        line("user", "<system-reminder>We use X.</system-reminder>", "u1"),
        line("user", "<vault-context>\nWe use X.\n</vault-context>", "u1"),
        line("user", [{"type": "tool_result", "content": "We use X."}], "u1"),
        line("system", "We use X.", "u1"),
        json.dumps({"type": "summary", "summary": "We use X."}) + "\n",
    ],
)
def test_what_nobody_said(transcript: Path, entry: str) -> None:
    """Meta turns, commands, reminders, what was injected and what tools answered are no messages, nor bad lines."""
    transcript.write_text(entry)

    part = DiskTranscripts().read(str(transcript))

    assert (part.messages, part.bad_lines, part.end.line) == ((), 0, 1)


def test_bad_lines_are_counted(transcript: Path) -> None:
    """Broken JSON, other shapes and bytes that are no text cost their line and nothing else."""
    bad = [b"{broken\n", b"[1]\n", b'{"type": "user", "message": 3}\n', b'{"type": "user", "message"\xff\n']
    transcript.write_bytes(b"".join(bad) + b"\n" + line("user", "Fine.", "u1").encode() + b"[" * 9999 + b"\n")

    part = DiskTranscripts().read(str(transcript))

    assert [(one.text, one.line) for one in part.messages] == [("Fine.", 6)]
    assert part.bad_lines == 5


@pytest.mark.parametrize("size", [1 << 27, pytest.param(1 << 30, marks=pytest.mark.slow)])
def test_of_a_huge_one_the_end_is_read(transcript: Path, size: int) -> None:
    """Of an eighth of a gigabyte, or a whole one, the last messages are read, with their lines, in little memory."""
    import tracemalloc

    tail = "".join(line("user", f"Prompt {number}.", f"u{number}") for number in range(5))
    with transcript.open("wb") as file:
        file.write(b"{}\n" * 3)
        file.truncate(size - len(tail) - 1)
        file.seek(0, 2)
        file.write(b"\n" + tail.encode())
    tracemalloc.start()
    try:
        part = DiskTranscripts().read(str(transcript))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert [(one.text, one.line) for one in part.messages] == [(f"Prompt {n}.", 5 + n) for n in range(5)]
    assert part.end == Cursor(9, size, 5)
    assert peak < 8 << 20


@pytest.mark.parametrize("path", ["session.jsonl", "/nowhere/session.json", "/a\0b.jsonl"])
def test_other_paths_are_refused(path: str) -> None:
    """A transcript is an absolute path of a .jsonl file."""
    with pytest.raises(InvalidInput, match="is no transcript"):
        DiskTranscripts().read(path)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5), st.data())
def test_any_json_is_a_message_or_none(value: Any, data: st.DataObject) -> None:
    """Whatever stands where the client's fields are expected, nothing but the two answers comes of it."""
    kind = data.draw(st.sampled_from(["user", "assistant", "other", 3]))
    shapes = [
        {"type": kind, "message": value},
        {"type": kind, "message": {"content": value}},
        {"type": kind, "message": {"content": [{"type": "text", "text": value}]}, "uuid": value},
        {"type": kind, "message": {"content": [{"type": "tool_use", "name": "Edit", "input": value}]}},
        value,
    ]
    for shape in shapes:
        try:
            message, _ = message_of(json.dumps(shape).encode(), 1)
        except (NotConversation, ValueError):
            continue
        assert message.speaker in set(Speaker)


SUMMARIZED = "Another language model started to solve this problem.\nSummary: we use Postgres."
QUEUE = "Where should the queue live?"


@pytest.mark.parametrize("history", [False, True])
def test_a_rollout_of_codex(transcript: Path, history: bool) -> None:
    """Messages of the user and the model, without what the program adds; a patch names the files that it writes."""

    def item(role: str, words: str, **rest: Any) -> dict[str, Any]:
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": words}]
        return {"type": "message", "id": f"m-{words[:9]}", "role": role, "content": content, **rest}

    patch = "*** Begin Patch\n*** Update File: src/queue.py\n@@\n-a\n+b\n*** End Patch\n"
    payloads = [
        ("session_meta", {"id": "s1", "cwd": "/work"}),
        ("response_item", item("developer", "<permissions>none</permissions>")),
        ("response_item", item("user", "<environment_context>\n<cwd>/work</cwd>\n</environment_context>")),
        ("response_item", item("user", "# AGENTS.md instructions for /work\n\nBe brief.")),
        ("response_item", item("user", "<skill>\n<name>tidy</name>\nAlways use tabs.\n</skill>")),
        ("response_item", item("user", f"# Context from my IDE setup:\n\n## Open tabs:\n- a.py: a.py\n\n## My request for Codex:\n{QUEUE}",
                               internal_chat_message_metadata_passthrough={"turn_id": "t1"})),
        ("event_msg", {"type": "token_count"}),
        ("response_item", {"type": "reasoning", "summary": []}),
        ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "id": "c1"}),
        ("response_item", item("assistant", "In Postgres.")),
        ("response_item", item("assistant", "Summary: we use Postgres.")),
        ("compacted", {"message": "", "replacement_history": [item("user", QUEUE), item("user", SUMMARIZED)]} if history
         else {"message": SUMMARIZED}),
        ("response_item", item("user", "Another language model started to solve this problem.\nSummary.")),
    ]  # fmt: skip
    rows = [
        {"timestamp": "2026-11-23T12:26:19.655Z", "ordinal": number, "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(payloads)
    ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    part = DiskTranscripts().read(str(transcript))

    assert [(one.speaker, one.text, one.prompt_id) for one in part.messages] == [
        (Speaker.USER, QUEUE, "t1"),
        (Speaker.ASSISTANT, "", ""),
        (Speaker.ASSISTANT, "In Postgres.", ""),
    ]
    assert part.messages[1].files == (FileTouch("src/queue.py", True),)
    assert (part.bad_lines, part.end.turns) == (0, 1)


def test_a_session_of_gemini(transcript: Path) -> None:
    """A message that is written again with its tool calls is one message; metadata, notices and files are left out."""
    call = {"name": "write_file", "args": {"file_path": "notes.md", "content": "x"}}
    rows: list[dict[str, Any]] = [
        {"sessionId": "s1", "projectHash": "p", "startTime": "2026-11-23T12:00:00Z", "kind": "main"},
        {
            "id": "1",
            "type": "user",
            "content": [
                {"text": text}
                for text in (
                    "<hook_context>x</hook_context>Save it.",
                    "\n--- Content from referenced files ---",
                    "\nContent from @a.md:\n",
                    "Always use tabs.",
                    "\n--- End of content ---",
                )
            ],
        },
        {"$set": {"lastUpdated": "2026-11-23T12:00:01Z"}},
        {"id": "2", "type": "info", "content": "Update available."},
        {"id": "3", "type": "gemini", "content": "Saved.", "thoughts": []},
        {"id": "3", "type": "gemini", "content": "Saved.", "toolCalls": [call]},
        {"$rewindTo": "9"},
    ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    part = DiskTranscripts().read(str(transcript))

    assert [(one.speaker, one.text) for one in part.messages] == [
        (Speaker.USER, "Save it."),
        (Speaker.ASSISTANT, "Saved."),
    ]
    assert part.messages[1].files == (FileTouch("notes.md", True),)
    assert part.bad_lines == 0
