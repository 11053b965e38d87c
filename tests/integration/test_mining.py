"""Conversations of other programs become documents that are found and dated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chat_exports import (
    FORMATS,
    chatgpt,
    chatgpt_message,
    claude_ai,
    talk,
    write_zip,
)
from command_line import Invoke, ask_json, write_notes
from mined_talks import BOAT, BREAD, changes, documents, mined, text_of, write_export


@pytest.mark.parametrize("source", FORMATS)
def test_each_format_is_recognised_by_its_content(invoke: Invoke, tmp_path: Path, source: str) -> None:
    """Every exchange is found by its words, with its own time, its speakers and an origin that is not trusted."""
    report = mined(invoke, write_export(tmp_path / "export", source, BOAT, BREAD))

    assert not report["faults"], report
    assert list(report["sources"]) == [source]
    assert report["sources"][source]["messages"] == 8
    [found, *_] = ask_json(invoke, "search", "how long does a coat of varnish dry")["results"]
    assert found["file"].startswith(f"conversations/{source}/")
    assert found["origin"] == "imported"
    text = text_of(invoke, found["file"])
    assert "wait a whole day below ten degrees." in text
    assert "tool said" not in text
    assert ":** And how long does each coat" in text
    assert {one["authored_at"][:10] for one in documents(invoke).values()} == {"2025-04-02", "2024-11-20"}
    [counted] = ask_json(invoke, "mine", "--sources")["sources"]
    assert (counted["source"], counted["first"][:10], counted["last"][:10]) == (
        source,
        "2024-11-20",
        "2025-04-02",
    )


def test_a_zip_is_read_in_place(invoke: Invoke, tmp_path: Path) -> None:
    """A partitioned export in a ZIP file is imported whole; files without conversations are not complained of."""
    parts = {f"conversations-00{at}.json": json.dumps(chatgpt([one])) for at, one in enumerate((BOAT, BREAD))}
    others = {
        "user.json": '{"email": "a@example.org", "chatgpt_plus_user": true}',
        "chat.html": "<p>hello</p>",
    }

    report = mined(invoke, write_zip(tmp_path / "export.zip", {**parts, **others}))

    assert (changes(report, "chatgpt"), report["foreign"], report["faults"]) == ((2, 0, 0, 0), [], [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export.zip", "home"]


def test_chatgpt_reads_the_current_branch_alone(invoke: Invoke, tmp_path: Path) -> None:
    """Abandoned, hidden and weightless messages and tool calls are left out; instructions become a preference."""
    [one] = chatgpt([BOAT])
    mapping, last = one["mapping"], one["current_node"]
    context = {
        "content_type": "user_editable_context",
        "user_profile": "I sail.",
        "user_instructions": "Be short.",
    }
    hidden = {"is_visually_hidden_from_conversation": True}
    more = {
        "h": chatgpt_message("h", "user", "hidden words", None, metadata=hidden),
        "w": chatgpt_message("w", "assistant", "weightless words", None, weight=0.0),
        "t": chatgpt_message("t", "assistant", "search(tool words)", None, recipient="web"),
        "i": chatgpt_message("i", "user", "", None, content=context),
        "c": chatgpt_message(
            "c",
            "assistant",
            "Cited\u30104\u2020source\u3011 words \ue200cite\ue202turn0\ue201, and at the end.",
            None,
        ),
    }
    for name, message in more.items():
        mapping[name] = {"id": name, "parent": last, "children": [], "message": message}
        last = name
    write_notes(tmp_path, {"conversations.json": json.dumps([{**one, "current_node": last}])})

    report = mined(invoke, tmp_path / "conversations.json")

    found = documents(invoke)
    text = "\n".join(text_of(invoke, document["file"]) for document in found.values())
    for absent in ("abandoned", "hidden words", "weightless", "tool words", "\u3010"):
        assert absent not in text
    assert "Cited words, and at the end." in text
    assert report["sources"]["chatgpt"]["conversations"] == 1
    [source] = ask_json(invoke, "mine", "--sources")["sources"]
    assert source["documents"] == len(found)
    assert found["Custom instructions for ChatGPT"]["content_type"] == "preference"
    assert "I sail.\n\nBe short." in text


def test_claude_exports_memories_and_projects(invoke: Invoke, tmp_path: Path) -> None:
    """Memories and documents of projects become notes; of users, the name alone is used."""
    project = {"uuid": "p1", "name": "Harbour", "description": "", "prompt_template": "Answer in Danish.",
               "docs": [{"uuid": "d1", "filename": "tides.md", "content": "High water is at six."}]}  # fmt: skip
    files = {
        "conversations.json": json.dumps(claude_ai([BREAD])),
        "projects.json": json.dumps([project]),
        "memories.json": json.dumps(
            [{"conversations_memory": "The user bakes on Fridays.", "account_uuid": "a"}]
        ),
        "users.json": json.dumps(
            [{"uuid": "a", "full_name": "Ann Nonymous", "email_address": "a@example.org"}]
        ),
    }

    report = mined(invoke, write_zip(tmp_path / "data.zip", files))

    assert (report["foreign"], report["faults"]) == ([], [])
    texts = {title: text_of(invoke, one["file"]) for title, one in documents(invoke).items()}
    assert texts["Memory of Claude.ai"] == "The user bakes on Fridays.\n"
    assert texts["tides.md"] == "High water is at six.\n"
    assert texts["Harbour"] == "Answer in Danish.\n"
    assert not any("example.org" in text for text in texts.values())


def test_slack_threads_and_names(invoke: Invoke, tmp_path: Path) -> None:
    """A thread is one conversation over several days, ids become names, joins are left out."""
    said = [
        {"type": "message", "user": "U1", "text": "Who moves the <#C1|harbour> lights? <@U2>", "ts": "1700000000.000100",
         "thread_ts": "1700000000.000100", "reply_count": 1},
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1700000001.000100"},
        {"type": "message", "user": "U2", "text": "A plan &amp; a map of the harbour lights",
         "ts": "1700000002.000100"},
    ]  # fmt: skip
    reply = {"type": "message", "user": "U2", "text": "The night crew moves them.", "ts": "1700090000.000200",
             "thread_ts": "1700000000.000100"}  # fmt: skip
    users = [
        {"id": "U1", "profile": {"real_name": "Ida Holm"}},
        {"id": "U2", "profile": {"display_name": "Per"}},
    ]
    files = {
        "users.json": json.dumps(users),
        "channels.json": json.dumps([{"id": "C1", "name": "harbour", "members": []}]),
        "harbour/2023-11-14.json": json.dumps(said),
        "harbour/2023-11-15.json": json.dumps([reply]),
    }
    write_notes(tmp_path / "slack", files)

    mined(invoke, tmp_path / "slack")

    texts = [text_of(invoke, one["file"]) for one in documents(invoke).values()]
    assert (
        "**Ida Holm:** [2023-11-14] Who moves the #harbour lights? @Per\n\n**Per:** [2023-11-15] The night crew moves them.\n"
        in texts
    )
    assert any("A plan & a map" in text for text in texts)
    assert not any("joined" in text for text in texts)


def test_a_document_has_the_time_of_its_messages(invoke: Invoke, tmp_path: Path) -> None:
    """An answer on a later day is found by that day; a few words stay with the talk."""
    day = 1_700_000_000
    thread: dict[str, object] = {"type": "message", "user": "U1", "thread_ts": f"{day}.0001"}
    said = [
        {**thread, "text": "Can somebody order the licence of the glossary plugin?", "ts": f"{day}.0001"},
        {**thread, "text": "It arrived today, the papers are in the green folder.", "ts": f"{day + 2 * 86_400}.0001"},
        {**thread, "text": "Thanks!", "ts": f"{day + 5 * 86_400}.0001"},
    ]  # fmt: skip
    write_notes(tmp_path / "slack", {"harbour/2023-11-14.json": json.dumps(said)})
    mined(invoke, tmp_path / "slack")

    options = ("--since", "2023-11-16", "--until", "2023-11-17")
    [found] = ask_json(invoke, "search", "green folder", *options)["results"]
    assert found["authored_at"].startswith("2023-11-16")
    text = text_of(invoke, found["file"])
    assert text.endswith("**U1:** [2023-11-19] Thanks!\n")
    (tmp_path / "slack/harbour/2023-11-14.json").write_text(f"{json.dumps(said)}\n\n", "utf-8")
    assert changes(mined(invoke, tmp_path / "slack"), "slack") == (0, 0, 0, 2)


def test_secrets_are_redacted_before_they_are_stored(invoke: Invoke, tmp_path: Path) -> None:
    """A key in two messages is not in the vault."""
    leaky = talk(
        "leak", "Deploy key ghp_0123456789abcdefABCDEF0123456789abcd", "2025-05-05",
        "The password of the harbour database is in the safe.", "I will remember it.",
        "Thanks. The token is ghp_0123456789abcdefABCDEF0123456789abcd.",
    )  # fmt: skip
    mined(invoke, write_export(tmp_path / "export", "chatgpt", leaky))

    said = invoke("list", "--json").stdout + "".join(
        text_of(invoke, one["file"]) for one in documents(invoke).values()
    )
    assert "ghp_0123" not in said
    vault = next(tmp_path.rglob("index.sqlite"))
    assert (
        b"ghp_0123456789" not in vault.read_bytes() + Path(f"{vault}-wal").read_bytes()
        if (Path(f"{vault}-wal").exists())
        else b"ghp_0123456789" not in vault.read_bytes()
    )
