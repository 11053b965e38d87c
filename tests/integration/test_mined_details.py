"""Details of real exports: long lines, attachments, documents next to a chat, branches and damaged parts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from chat_exports import chatgpt, claude_ai, claude_code, json_lines
from command_line import Invoke, ask_json, write_notes
from mined_talks import BOAT, BREAD, documents, mined, text_of

IMAGE = "iVBORw0KGgo" * 600_000  # 6.6 MB without a blank


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
    file = {"path": "/mnt/user-data/outputs/rudder.md", "file_text": "Wednesday: grease the rudder."}
    answered["content"] += [{**artifact, "input": create}, {**artifact, "input": update},
                            {**artifact, "name": "create_file", "input": file},
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
    assert "rudder.md\n\nWednesday: grease the rudder." in talk
    assert "secret query" not in talk


def test_layouts_of_slack_and_trees_without_links(invoke: Invoke, tmp_path: Path) -> None:
    """A message whose text is in its layout is read; a conversation that has no order is reported."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "It moves to "}]}
    section["elements"] += [{"type": "user", "user_id": "U2"}, {"type": "text", "text": " on Thursday."}]
    layouts = [
        {"type": "rich_text", "elements": [section]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "Fine, I tell everybody so."}},
    ]
    cells = [
        [{"type": "raw_text", "text": text} for text in row] for row in (("Part", "EUR"), ("Bolt", "17"))
    ]
    layouts.append({"type": "table", "rows": cells})
    said: list[dict[str, Any]] = [
        {"type": "message", "user": "U1", "ts": f"17145576{place}0.000100", "text": "", "blocks": [layout]}
        for place, layout in enumerate(layouts)
    ]
    forwarded = {"is_share": True, "author_name": "Bo", "text": "The berth costs 41 EUR."}
    said.append(
        {**said[0], "ts": "1714557690.000100", "blocks": [], "text": "see this", "attachments": [forwarded]}
    )
    other = {"type": "section", "text": {"type": "mrkdwn", "text": "Decision: Brunner, 4200 EUR"}}
    said.append(
        {**said[0], "ts": "1714557790.000100", "text": "Poll on the boilers, all votes", "blocks": [other]}
    )
    nodes = {
        name: {"message": {"id": name, "author": {"role": "user"}, "content": {"parts": ["Hinges?"]}}}
        for name in "ab"
    }
    write_notes(
        tmp_path,
        {
            "slack/harbour/2024-05-01.json": json.dumps(said),
            "slack/users.json": json.dumps([{"id": "U2", "name": "bo"}]),
            "conversations.json": json.dumps([{"title": "Hinges", "mapping": nodes}]),
        },
    )

    report = mined(invoke, tmp_path)

    [file] = [document["file"] for document in documents(invoke).values()]
    assert "It moves to @bo on Thursday." in text_of(invoke, file)
    assert "Fine, I tell everybody so." in text_of(invoke, file)
    assert "Part | EUR\nBolt | 17\n" in text_of(invoke, file)
    assert "see this\n\nThe berth costs 41 EUR.\n" in text_of(invoke, file)
    assert "Poll on the boilers, all votes\n\nDecision: Brunner, 4200 EUR" in text_of(invoke, file)
    assert "the conversation Hinges has messages without links" in " ".join(report["faults"])


def test_an_early_session_of_codex_has_no_types_of_lines(invoke: Invoke, tmp_path: Path) -> None:
    """Lines of messages after the one that names the session are a chat, whose parts are input and output."""
    spoken = [
        {"type": "message", "role": role, "content": [{"type": f"{way}_text", "text": text}]}
        for role, way, text in (
            ("user", "input", "Where does the freesia stand?"),
            ("assistant", "output", "In a pot."),
        )
    ]
    early = [{"id": "e1", "timestamp": "2025-04-01T10:00:00Z", "instructions": None}, *spoken * 2]
    write_notes(tmp_path, {"rollout.jsonl": json_lines(early)})

    mined(invoke, tmp_path)

    [file] = [document["file"] for document in documents(invoke).values()]
    assert "Where does the freesia stand?" in text_of(invoke, file)
    assert "In a pot." in text_of(invoke, file)


def test_a_missing_link_is_replaced_or_reported(invoke: Invoke, tmp_path: Path) -> None:
    """A message without its predecessor is read after the one that names it; if none does, the gap is reported."""
    whole, torn = chatgpt([BOAT, BREAD])
    for chat in (whole, torn):
        chat["mapping"][chat["current_node"]]["parent"] = "gone"
    for node in torn["mapping"].values():
        node["children"] = []
    write_notes(tmp_path, {"conversations.json": json.dumps([whole, torn])})

    report = mined(invoke, tmp_path)

    assert report["sources"]["chatgpt"]["messages"] == 5
    assert "the conversation Sourdough has messages without links" in " ".join(report["faults"])


@pytest.mark.skipif(sys.platform != "linux", reason="Other systems refuse such names.")
def test_a_name_that_is_no_text_loses_that_file_alone(invoke: Invoke, tmp_path: Path) -> None:
    """Files and folders whose names are not UTF-8 are reported, links too, and the others are read."""
    folder = tmp_path / "in"
    write_notes(folder, {"s.jsonl": claude_code(BOAT)})
    for name in (b"half\xed\xa0\xbd.jsonl", b"fold\xff.jsonl"):
        (folder / os.fsdecode(name)).write_text(claude_code(BOAT))
    (folder / os.fsdecode(b"in\xff")).mkdir()
    (folder / "l.json").symlink_to(folder / "s.jsonl")

    report = mined(invoke, folder)

    assert report["sources"]["claude-code"]["added"] == 1
    assert len(report["faults"]) == 4
    assert str(report["faults"]).count("its name is not UTF-8; rename it") == 3


def test_a_session_has_the_project_of_its_repository(invoke: Invoke, tmp_path: Path) -> None:
    """Also in a folder below; another repository of that name is another project."""
    for owner, talk in (("me", BOAT), ("you", BREAD)):
        (tmp_path / owner / "ferry/.git").mkdir(parents=True)
        session = claude_code(talk).replace("/home/me/ferry", f"{tmp_path}/{owner}/ferry/src")
        write_notes(tmp_path / "in", {f"{owner}.jsonl": session})
    mined(invoke, tmp_path / "in")

    [listed] = ask_json(invoke, "list", "--where", f"project={tmp_path}/you/ferry")["documents"]
    assert BREAD.title in listed["title"]


def test_exchanges_that_the_user_took_back(invoke: Invoke, tmp_path: Path) -> None:
    """Gemini CLI goes back to a message, Codex by turns, and a prompt of Claude Code to the line that it follows."""
    turns = ["Which rope?", "Dyneema.", "LLAMA in the garden?", "LLAMAS eat hay.", "Which shackle?"]
    codex, claude = [{"type": "session_meta"}], []
    gemini: list[Any] = [{"sessionId": "g", "projectHash": "h"}]
    for n, text in enumerate(turns):
        role = ("user", "assistant")[n % 2]
        if n == 4:
            gemini.append({"$rewindTo": "2"})
            codex.append({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}})
        gemini.append({"id": str(n), "type": role.replace("assistant", "gemini"), "content": text})
        message = {"role": role, "content": [{"type": "input_text", "text": text}]}
        codex.append({"type": "response_item", "payload": {"type": "message", **message}})
        link = {"uuid": f"u{n}", "parentUuid": f"u{min(n - 1, n % 3)}", "sessionId": "s", "type": role}
        claude.append({**link, "message": {"role": role, "content": [{"type": "text", "text": text}]}})
    files = {"g.jsonl": json_lines(gemini), "s.jsonl": json_lines(claude), "c.jsonl": json_lines(codex)}
    write_notes(tmp_path / "in", files)

    report = mined(invoke, tmp_path / "in")

    assert (report["foreign"], report["faults"]) == ([], [])
    assert sorted(source["messages"] for source in report["sources"].values()) == [3, 3, 3]
    assert not any("LLAMA" in text_of(invoke, note["file"]) for note in documents(invoke).values())
