"""Details of real exports: long lines, attachments, documents next to a chat, blocks, branches and damaged parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_exports import (
    chatgpt,
    chatgpt_message,
    claude_ai,
    claude_code,
    codex,
    gemini_cli,
    json_lines,
    write_zip,
)
from command_line import Invoke, ask_json, write_notes
from mined_talks import BOAT, BREAD, documents, mined, text_of

IMAGE = "iVBORw0KGgo" * 100_000  # 1.1 MB without a blank


def _snapshot(_: str) -> dict[str, Any]:
    files = {f"src/{n}.py": {"backupFileName": "a" * 60, "version": n} for n in range(10_000)}
    return {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"trackedFileBackups": files}}


def _pasted_image(session: str) -> dict[str, Any]:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}}
    content = [image, {"type": "text", "text": "What is this?"}]
    message = {"role": "user", "content": content}
    return {"parentUuid": None, "type": "user", "message": message, "uuid": "u0", "sessionId": session,
            "timestamp": "2025-04-02T09:59:00.000Z"}  # fmt: skip


@pytest.mark.parametrize("first", [_snapshot, _pasted_image], ids=lambda first: first.__name__)
def test_a_long_first_line_hides_no_session_of_claude_code(
    invoke: Invoke, tmp_path: Path, first: Any
) -> None:
    """A session that begins with a snapshot of many files, or with a pasted image, is recognised."""
    write_notes(tmp_path / "in", {"s.jsonl": json_lines([first(BOAT.id)]) + claude_code(BOAT)})

    report = mined(invoke, tmp_path / "in")

    assert (report["foreign"], report["faults"], report["sources"]["claude-code"]["added"]) == ([], [], 1)
    assert "wait a whole day" in text_of(invoke, next(iter(documents(invoke).values()))["file"])


def test_long_instructions_hide_no_session_of_codex(invoke: Invoke, tmp_path: Path) -> None:
    """The first line of a rollout has the instructions of the client, which may be longer than the sample."""
    meta, rest = codex(BOAT).split("\n", 1)
    record = json.loads(meta)
    record["payload"]["base_instructions"] = {"text": "Never force-push.\n" * 15_000}
    write_notes(tmp_path / "in", {"r.jsonl": json_lines([record]) + rest})

    assert mined(invoke, tmp_path / "in")["sources"]["codex"]["messages"] == 4


def test_a_long_first_message_hides_no_session_of_gemini_cli(invoke: Invoke, tmp_path: Path) -> None:
    """A session that is one object on one line is recognised although its members come after a long one."""
    lines = [json.loads(line) for line in gemini_cli(BOAT).splitlines()]
    session = {"messages": [{"id": "g", "type": "info", "content": IMAGE}, *lines[1:]], **lines[0]}
    write_notes(tmp_path / "in", {"session.json": json.dumps(session)})

    assert mined(invoke, tmp_path / "in")["sources"]["gemini-cli"]["messages"] == 4


def test_a_session_without_times_has_that_of_its_file_or_start(invoke: Invoke, tmp_path: Path) -> None:
    """Messages without a time have the time at which their session began."""
    meta, *rest = (json.loads(line) for line in codex(BOAT).splitlines())
    for line in rest:
        del line["timestamp"]
    write_notes(tmp_path / "in", {"r.jsonl": json_lines([meta, *rest])})

    mined(invoke, tmp_path / "in")

    assert {one["authored_at"][:10] for one in documents(invoke).values()} == {"2025-04-02"}


def test_claude_ai_attachments_and_artifacts(invoke: Invoke, tmp_path: Path) -> None:
    """The text of an attached file is a note of its own; what Claude wrote next to the chat is part of the answer."""
    [chat] = claude_ai([BOAT])
    asked, answered = chat["chat_messages"][:2]
    asked["attachments"] = [
        {
            "file_name": "survey.txt",
            "file_type": "txt",
            "extracted_content": "The keel has a crack near frame nine.",
        }
    ]
    artifact = {"type": "tool_use", "name": "artifacts", "input": {}}
    create = {"command": "create", "id": "a", "title": "Varnish plan", "content": "Monday: sand the coaming."}
    update = {"command": "update", "id": "a", "old_str": "Monday", "new_str": "Tuesday: sand the tiller."}
    answered["content"] += [{**artifact, "input": create}, {**artifact, "input": update},
                            {**artifact, "name": "web_search", "input": {"content": "secret query"}}]  # fmt: skip
    write_notes(tmp_path, {"conversations.json": json.dumps([chat])})

    mined(invoke, tmp_path / "conversations.json")

    found = documents(invoke)
    assert found["survey.txt"]["content_type"] == "note"
    assert found["survey.txt"]["authored_at"][:10] == "2025-04-02"
    assert text_of(invoke, found["survey.txt"]["file"]) == "The keel has a crack near frame nine.\n"
    talk = text_of(invoke, found[BOAT.title]["file"])
    assert "[attached: survey.txt]" in talk
    assert "Varnish plan\n\nMonday: sand the coaming.\n\nTuesday: sand the tiller." in talk
    assert "secret query" not in talk


@pytest.mark.parametrize("names_leaf", [True, False])
def test_claude_ai_reads_the_branch_of_the_last_message(
    invoke: Invoke, tmp_path: Path, *, names_leaf: bool
) -> None:
    """An answer that was made again, and what followed the first one, are left out."""
    [chat] = claude_ai([BOAT])
    messages = chat["chat_messages"]
    parents = ["00000000-0000-4000-8000-000000000000", *(message["uuid"] for message in messages)]
    for message, parent in zip(messages, parents, strict=False):
        message["parent_message_uuid"] = parent
    again = {**messages[1], "uuid": "first-try", "created_at": "2025-04-02T10:00:30Z",
             "content": [{"type": "text", "text": "Use tar, an abandoned answer."}]}  # fmt: skip
    messages.insert(1, again)
    if names_leaf:
        chat["current_leaf_message_uuid"] = messages[-1]["uuid"]
    write_notes(tmp_path, {"conversations.json": json.dumps([chat])})

    assert mined(invoke, tmp_path / "conversations.json")["sources"]["claude.ai"]["messages"] == 4
    text = text_of(invoke, documents(invoke)[BOAT.title]["file"])
    assert "spar varnish" in text and "abandoned" not in text


def test_chatgpt_canvas_and_attachments(invoke: Invoke, tmp_path: Path) -> None:
    """Documents that ChatGPT writes into a canvas are part of its answers, and attached files are named."""
    [chat] = chatgpt([BOAT])
    last = chat["current_node"]
    create = {"name": "Logbook", "type": "document", "content": "Noon: passed the red buoy."}
    update = {
        "updates": [{"pattern": ".*", "multiple": False, "replacement": "Noon: passed the green buoy."}]
    }
    calls = {
        "c": (
            "canmore.create_textdoc",
            {"content_type": "code", "language": "json", "text": json.dumps(create)},
        ),
        "u": ("canmore.update_textdoc", {"content_type": "text", "parts": [json.dumps(update)]}),
        "x": ("canmore.comment_textdoc", {"content_type": "code", "text": "{broken"}),
    }
    more = {name: chatgpt_message(name, "assistant", "", None, recipient=recipient, content=content)
            for name, (recipient, content) in calls.items()}  # fmt: skip
    files = {"attachments": [{"id": "f1", "name": "chart.pdf", "mime_type": "application/pdf"}, {"id": "f2"}]}
    more["f"] = chatgpt_message("f", "user", "Here is the chart.", None, metadata=files)
    for name, message in more.items():
        chat["mapping"][name] = {"id": name, "parent": last, "children": [], "message": message}
        last = name
    write_notes(tmp_path, {"conversations.json": json.dumps([{**chat, "current_node": last}])})

    report = mined(invoke, tmp_path / "conversations.json")

    assert report["faults"] == []
    text = "\n".join(text_of(invoke, one["file"]) for one in documents(invoke).values())
    for words in (
        "Logbook\n\nNoon: passed the red buoy.",
        "the green buoy.",
        "Here is the chart.\n\n[attached: chart.pdf]",
    ):
        assert words in text
    assert "broken" not in text


def test_blocks_of_slack(invoke: Invoke, tmp_path: Path) -> None:
    """A message whose text is in its blocks is read; a summary of an app gives way to the whole text."""
    rich = {"type": "rich_text", "elements": [
        {"type": "rich_text_section", "elements": [
            {"type": "user", "user_id": "U2"}, {"type": "text", "text": " the dredger needs "},
            {"type": "link", "url": "https://example.org/oil", "text": "oil"}, {"type": "emoji", "name": "ship"}]},
        {"type": "rich_text_list", "style": "bullet", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "ten litres"}]},
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "by noon"}]}]}]}  # fmt: skip
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "Pump *three* stopped at <#C1>."},
               "fields": [{"type": "mrkdwn", "text": "Pressure: 4 bar"}]}  # fmt: skip
    header = {"type": "header", "text": {"type": "plain_text", "text": "Alarm"}}
    messages = [
        {"type": "message", "user": "U1", "text": "", "ts": "1700000000.000100", "blocks": [rich]},
        {"type": "message", "subtype": "bot_message", "username": "Watch", "text": "Alarm", "ts": "1700000060.000100",
         "blocks": [header, {"type": "divider"}, section]},
        {"type": "message", "subtype": "bot_message", "username": "Watch", "text": "", "ts": "1700000120.000100",
         "attachments": [{"fallback": "[no preview]", "blocks": [{**header, "text": {"type": "plain_text", "text": "All clear"}}]}]},
    ]  # fmt: skip
    users = [{"id": "U1", "profile": {"real_name": "Ida"}}, {"id": "U2", "profile": {"display_name": "Per"}}]
    files = {"users.json": users, "channels.json": [{"id": "C1", "name": "harbour", "members": []}],
             "harbour/2023-11-14.json": messages}  # fmt: skip
    write_notes(tmp_path / "slack", {name: json.dumps(value) for name, value in files.items()})

    mined(invoke, tmp_path / "slack")

    [day] = documents(invoke).values()
    assert text_of(invoke, day["file"]) == (
        "**Ida:** the dredger needs\noil\nten litres\nby noon\n\n"
        "**Watch:** Alarm\nPump *three* stopped at #harbour.\nPressure: 4 bar\n\n"
        "**Watch:** All clear\n"
    )


def test_one_bad_file_in_a_zip(invoke: Invoke, tmp_path: Path) -> None:
    """It is reported by name, the other files are imported, and the exit code is that of a success."""
    whole = json.dumps(chatgpt([BOAT]))
    files = {"conversations-000.json": whole, "conversations-001.json": json.dumps(chatgpt([BREAD]))[:-300]}
    packed = write_zip(tmp_path / "export.zip", files)

    for added in (1, 0):
        done = invoke("mine", "--no-embed", packed, "--json")
        report = json.loads(done.stdout)
        assert (done.exit_code, report["sources"]["chatgpt"]["added"]) == (0, added)
        [fault] = report["faults"]
        assert "conversations-001.json" in fault and "no valid JSON" in fault
    assert ask_json(invoke, "search", "varnish")["results"]
    damaged = write_zip(tmp_path / "damaged.zip", {"conversations.json": whole[:200]})
    assert invoke("mine", "--no-embed", damaged).exit_code == 1
