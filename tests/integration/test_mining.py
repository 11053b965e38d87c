"""Conversations of other programs become documents that are found, dated and never imported twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_exports import (
    ASSISTANT,
    FORMATS,
    USER,
    Talk,
    Turn,
    chatgpt,
    chatgpt_message,
    claude_ai,
    claude_code,
    talk,
    write_zip,
)
from command_line import Invoke, ask_json, write_notes

from clawmem.adapters.conversations.exports import DiskExports
from clawmem.adapters.files.transcripts import messages_in
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.interfaces.cli.unchanged import NO_VECTORS, mined_at_once
from clawmem.app.services.conversations.mining import MineConversations, MiningInterrupted, MiningOptions
from clawmem.app.services.conversations.sources import imported_sources
from clawmem.app.services.conversations.synthesis import SynthesizeFacts
from clawmem.app.services.indexing.publish import publish
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.domain.conversations.units import FORMER_SHARED
from clawmem.domain.conversations.versions import ConversationState
from clawmem.ports.conversations import ExportFile, ExportPart
from clawmem.ports.records import Document

BOAT = talk(
    "boat-talk",
    "Painting the boat",
    "2025-04-02",
    "Which varnish should I use for the deck of the old wooden boat?",
    "Use a spar varnish with UV filters, in six thin coats.",
    "And how long does each coat have to dry before the next one?",
    "Sand after twelve hours, and wait a whole day below ten degrees.",
)
BREAD = talk(
    "bread-talk",
    "Sourdough",
    "2024-11-20",
    "My sourdough loaf collapses in the oven, what is going wrong?",
    "It is overproofed: shorten the second rise to three hours.",
    "Thanks!",
    "You are welcome.",
)
DAYS = ("2024-05-01", "2024-05-09")


def write_export(folder: Path, source: str, *talks: Talk) -> Path:
    """Write the export of *source*, and return its folder."""
    write_notes(folder, FORMATS[source](talks))
    return folder


def mined(invoke: Invoke, *arguments: object) -> Any:
    """Return the result of an import without vectors."""
    return ask_json(invoke, "mine", "--no-embed", *arguments)


def documents(invoke: Invoke) -> dict[str, dict[str, Any]]:
    """Return the documents by title."""
    listed = ask_json(invoke, "list", "-n", 100)["documents"]
    return {one["title"]: one for one in listed}


def text_of(invoke: Invoke, file: str) -> str:
    """Return the text of a document."""
    return str(ask_json(invoke, "get", file)["text"])


def changes(report: Mapping[str, Any], source: str) -> tuple[int, int, int, int]:
    """Return how many documents of *source* were added, updated, removed and unchanged."""
    one = report["sources"][source]
    return one["added"], one["updated"], one["removed"], one["unchanged"]


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
    days = {one["authored_at"][:10] for one in documents(invoke).values()}
    assert days == {"2025-04-02", "2024-11-20"}
    [counted] = ask_json(invoke, "sources")["sources"]
    assert (counted["source"], counted["first"][:10], counted["last"][:10]) == (
        source,
        "2024-11-20",
        "2025-04-02",
    )


@pytest.mark.parametrize("source", sorted(FORMATS.keys() - {"slack"}))
def test_a_second_export_adds_only_what_is_new(invoke: Invoke, tmp_path: Path, source: str) -> None:
    """Unchanged files are skipped, a later export adds its exchanges, and the earlier documents keep their ids."""
    first = write_export(tmp_path / "export", source, BOAT)
    before = mined(invoke, first)["sources"][source]["added"]
    known = {title: one["docid"] for title, one in documents(invoke).items()}

    again = mined(invoke, first)
    later = mined(invoke, write_export(tmp_path / "export", source, BOAT, BREAD))

    assert (again["sources"], again["files"]) == ({}, 0)
    assert again["skipped"] == len(FORMATS[source]([BOAT]))
    assert later["sources"][source]["added"] == 1
    assert later["sources"][source]["updated"] == 0
    after = {title: one["docid"] for title, one in documents(invoke).items()}
    assert len(after) == before + 1
    assert known.items() <= after.items()


def test_an_edited_conversation_updates_its_documents(invoke: Invoke, tmp_path: Path) -> None:
    """A changed exchange is replaced in place, an exchange that is gone is no longer found, a longer one grows."""
    more = [turn._replace(text=f"{turn.text} {'Sand it well. ' * 180}") for turn in BOAT.turns]
    long = BOAT._replace(turns=more)
    mined(invoke, write_export(tmp_path / "export", "chatgpt", long))
    assert documents(invoke).keys() == {"Painting the boat", "Painting the boat (2)"}
    known = {one["file"]: one["docid"] for one in documents(invoke).values()}
    edited = BOAT._replace(
        turns=[
            BOAT.turns[0],
            BOAT.turns[1]._replace(text="Use tung oil instead, it is easier to repair."),
        ],
        updated=BOAT.turns[-1].at + 60,
    )

    report = mined(invoke, write_export(tmp_path / "export", "chatgpt", edited))

    assert changes(report, "chatgpt") == (0, 1, 1, 0)
    [left] = documents(invoke).values()
    assert left["file"] in known
    assert "tung oil" in text_of(invoke, left["file"])
    assert not ask_json(invoke, "search", "sand after twelve hours")["results"]
    again = mined(
        invoke, write_export(tmp_path / "export", "chatgpt", long._replace(updated=BOAT.turns[-1].at + 120))
    )
    assert changes(again, "chatgpt") == (1, 1, 0, 0)


def test_unchanged_files_are_answered_at_once(
    invoke: Invoke, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without loading the commands; a changed file, a missing vector and any option are left to the command."""
    export = write_export(tmp_path / "export", "chatgpt", BOAT)
    arguments = [NO_VECTORS, str(export)]
    assert not mined_at_once(arguments)
    mined(invoke, export)

    assert mined_at_once(arguments)
    assert capsys.readouterr().out == invoke("mine", *arguments).stdout
    assert not mined_at_once([str(export)])
    assert not any(
        mined_at_once([*arguments, one]) for one in ("--json", "", "\udcff", str(tmp_path / "missing"))
    )
    write_export(tmp_path / "export", "chatgpt", BOAT, BREAD)
    assert not mined_at_once(arguments)
    assert capsys.readouterr().out == ""


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
        "c": chatgpt_message("c", "assistant", "Cited\u30104\u2020source\u3011 words at the end.", None),
    }
    for name, message in more.items():
        mapping[name] = {"id": name, "parent": last, "children": [], "message": message}
        last = name
    write_notes(tmp_path, {"conversations.json": json.dumps([{**one, "current_node": last}])})

    mined(invoke, tmp_path / "conversations.json")

    found = documents(invoke)
    text = "\n".join(text_of(invoke, document["file"]) for document in found.values())
    for absent in ("abandoned", "hidden words", "weightless", "tool words", "\u3010"):
        assert absent not in text
    assert "Cited words at the end." in text
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


@pytest.mark.parametrize("source", ["chatgpt", "claude.ai"])
def test_messages_carry_the_name_of_the_account(invoke: Invoke, tmp_path: Path, source: str) -> None:
    """The user of an export with accounts has a name, also where several share the export; the agent has none."""
    names = {"chatgpt": ("Ida Holm", "Ida Holm"), "claude.ai": ("Ida Holm", "Per Dahl")}[source]
    talks = [owned(one, name) for one, name in zip((BOAT, BREAD), names, strict=True)]
    files = {f"data/{name}": text for name, text in FORMATS[source](talks).items()}

    report = mined(invoke, write_zip(tmp_path / "export.zip", files))

    assert (report["foreign"], report["faults"]) == ([], [])
    for question, name, answer in (
        ("varnish", names[0], "Use a spar"),
        ("sourdough", names[1], "It is over"),
    ):
        [found, *_] = ask_json(invoke, "search", question, "--where", f"speaker={name}")["results"]
        text = text_of(invoke, found["file"])
        assert text.startswith(f"**{name}:** ")
        assert f"**Agent:** {answer}" in text


def owned(one: Talk, name: str) -> Talk:
    """Return *one* as a talk of the account of *name*."""
    turns = [turn._replace(speaker=name) if turn.speaker == USER else turn for turn in one.turns]
    return one._replace(user=name, turns=turns)


def test_slack_threads_names_and_tokens(invoke: Invoke, tmp_path: Path) -> None:
    """A thread is one conversation over several days, ids become names, joins and tokens of files are left out."""
    said = [
        {"type": "message", "user": "U1", "text": "Who moves the <#C1|harbour> lights? <@U2>", "ts": "1700000000.000100",
         "thread_ts": "1700000000.000100", "reply_count": 1},
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined", "ts": "1700000001.000100"},
        {"type": "message", "user": "U2", "text": "A plan &amp; a map: https://files.slack.com/a?t=xoxe-12345678-abcdef",
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
        "**Ida Holm:** Who moves the #harbour lights? @Per\n\n**Per:** The night crew moves them.\n" in texts
    )
    assert any("A plan & a map" in text for text in texts)
    assert not any("xoxe" in text or "joined" in text for text in texts)


def test_options_limit_an_import(invoke: Invoke, tmp_path: Path) -> None:
    """A dry run changes nothing, and --since leaves out earlier exchanges, which a later import adds."""
    export = write_export(tmp_path / "export", "chatgpt", BOAT, BREAD)

    assert changes(mined(invoke, export, "--dry-run"), "chatgpt") == (2, 0, 0, 0)
    assert not documents(invoke)
    assert changes(mined(invoke, export, "--since", "2025-01-01"), "chatgpt")[0] == 1
    assert changes(mined(invoke, export), "chatgpt") == (1, 0, 0, 1)
    assert mined(invoke, export)["skipped"] == 1
    named = mined(
        invoke, write_export(tmp_path / "other", "claude.ai", BREAD), "-c", "chats", "--source", "work"
    )
    assert list(named["sources"]) == ["work"]
    assert documents(invoke)["Sourdough"]
    renamed = mined(invoke, export, "--source", "ship")
    assert (changes(renamed, "ship")[0], mined(invoke, export, "--source", "ship")["skipped"]) == (2, 1)


def test_conversations_before_a_day_and_under_a_second_name(invoke: Invoke, tmp_path: Path) -> None:
    """The first are counted; an import of the same ones under another name warns, once for each conversation."""
    old, new = (
        talk(day, day, day, f"Who painted the crane on {day}?", "Olga did, in green.") for day in DAYS
    )
    file = write_export(tmp_path, "chatgpt", old, new)

    late = invoke("mine", "--no-embed", file, "--since", DAYS[1])
    assert "1 document added" in late.stdout and "1 conversation before that day left out" in late.stdout
    assert mined(invoke, file)["sources"]["chatgpt"]["earlier"] == 0
    for repeated in (2, 0):  # the second time they are known
        again = invoke("mine", "--no-embed", file, "--source", "work", "--json")
        assert json.loads(again.stdout)["sources"].get("work", {"repeated": 0})["repeated"] == repeated
        assert ("mine --forget work" in again.stderr) == bool(repeated)
    third = mined(invoke, file, "--source", "late", "--since", DAYS[1])["sources"]["late"]
    assert (third["earlier"], third["repeated"], third["added"]) == (1, 1, 1)


def test_a_conversation_keeps_the_name_of_its_first_import(invoke: Invoke, tmp_path: Path) -> None:
    """Without --source, what was imported under another name is neither imported twice nor divided when it grows."""
    file = write_export(tmp_path, "chatgpt", BOAT)
    mined(invoke, file, "--source", "work")

    assert changes(mined(invoke, file), "work") == (0, 0, 0, 1)
    grown = mined(invoke, write_export(tmp_path, "chatgpt", GROWN, BREAD))
    assert (changes(grown, "work"), changes(grown, "chatgpt")) == ((0, 1, 0, 0), (1, 0, 0, 0))
    ask_json(invoke, "mine", "--forget", "work", "--yes")
    again = mined(invoke, write_export(tmp_path, "chatgpt", GROWN))
    assert (changes(again, "chatgpt")[0], again["sources"]["chatgpt"]["forgotten"]) == (0, 1)
    other = BREAD._replace(id=BOAT.id)  # another conversation that has the same id
    mined(invoke, write_export(tmp_path / "b", "chatgpt", BOAT), "-c", "b", "--source", "work")
    separate = mined(invoke, write_export(tmp_path / "c", "claude.ai", other), "-c", "b")
    assert list(separate["sources"]) == ["claude.ai"]


def test_secrets_are_redacted_before_they_are_stored(invoke: Invoke, tmp_path: Path) -> None:
    """A key in a message and a password that follows in the next one are not in the vault."""
    leaky = talk(
        "leak", "Deploy key ghp_0123456789abcdefABCDEF0123456789abcd", "2025-05-05",
        "The password of the harbour database is:", "I will remember it.", "Tr0ub4dor&3-lighthouse",
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


def test_a_forgotten_source_stays_forgotten(invoke: Invoke, tmp_path: Path) -> None:
    """Forgetting asks first, proves that nothing is left, touches no other source, and a new import brings nothing back."""
    boat = write_export(tmp_path / "export", "chatgpt", BOAT)
    mined(invoke, boat, write_export(tmp_path / "other", "claude.ai", BREAD))

    asked = invoke("mine", "--forget", "chatgpt")
    assert asked.exit_code != 0
    assert "1 document from chatgpt" in asked.stderr
    assert len(documents(invoke)) == 2
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")["forgotten"]

    assert (done["documents"], {found for probe in done["probes"].values() for found in probe}) == (1, set())
    [left] = ask_json(invoke, "sources")["sources"]
    assert left["source"] == "claude.ai"
    again = mined(invoke, boat)
    assert (changes(again, "chatgpt"), again["sources"]["chatgpt"]["forgotten"]) == ((0, 0, 0, 0), 1)
    assert mined(invoke, boat)["skipped"] == 1
    (tmp_path / "export" / "conversations.json").write_text(json.dumps(chatgpt([BOAT]), indent=1), "utf-8")
    again = mined(invoke, boat)
    assert (again["skipped"], again["sources"]["chatgpt"]["forgotten"]) == (0, 1)
    assert len(documents(invoke)) == 1
    unknown = invoke("mine", "--forget", "chatgbt", "--yes")
    assert unknown.exit_code != 0
    assert "claude.ai" in unknown.stderr


def test_an_interrupted_forgetting_continues(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps the finished parts, and says so; the same command forgets the rest and leaves no trace of either."""
    mined(invoke, write_export(tmp_path / "export", "chatgpt", BOAT, BREAD, PLANS))
    forget, parts = Forgetting._forget, iter(range(2))

    def interrupted(self: Forgetting, part: Sequence[Document], *more: Any) -> Any:
        if next(parts, None) is None:
            raise KeyboardInterrupt
        return forget(self, part, *more)

    monkeypatch.setattr("clawmem.app.services.lifecycle.forgetting.PART", 1)
    with monkeypatch.context() as patch:
        patch.setattr(Forgetting, "_forget", interrupted)
        stopped = invoke("mine", "--forget", "chatgpt", "--yes")

    assert (stopped.exit_code, len(documents(invoke))) == (130, 1)
    assert "At least 2 of 3 documents from chatgpt are forgotten." in stopped.stderr
    assert "Run the same command again" in stopped.stderr
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")["forgotten"]
    assert (done["documents"], done["left"], any(done["probes"].values())) == (1, "", False)
    assert documents(invoke) == {}
    assert mined(invoke, tmp_path / "export")["sources"]["chatgpt"]["forgotten"] == 3


def longer(one: Talk, *texts: str) -> Talk:
    """Return *one* with more messages, an hour later."""
    later = [
        Turn((USER, ASSISTANT)[at % 2], text, one.turns[-1].at + 3600 + at) for at, text in enumerate(texts)
    ]
    return one._replace(turns=[*one.turns, *later])


GROWN = longer(
    BOAT, "Does the varnish go bad in an opened tin?", "It forms a skin, which you can strain off."
)


def test_new_messages_of_a_forgotten_conversation_are_imported(invoke: Invoke, tmp_path: Path) -> None:
    """Later messages become documents of their own, again and again; forgotten ones do not return."""
    mined(invoke, write_export(tmp_path / "export", "chatgpt", BOAT))
    ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")
    grown = longer(GROWN, "And which brush do I take for the thin coats?", "A soft one of badger hair.")

    for number, one in enumerate((GROWN, grown)):
        report = mined(invoke, write_export(tmp_path / "export", "chatgpt", one))
        assert (changes(report, "chatgpt"), report["sources"]["chatgpt"]["forgotten"]) == (
            (1 - number, number, 0, 0),
            1,
        )
        [left] = documents(invoke).values()
        text = text_of(invoke, left["file"])
        assert "forms a skin" in text
        assert "UV filters" not in text
    assert "badger" in text
    ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")
    assert mined(invoke, tmp_path / "export")["sources"]["chatgpt"]["forgotten"] == 2
    assert not documents(invoke)


def test_a_conversation_stays_divided_as_it_was(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents of an earlier release keep their messages when the conversation grows, so that forgotten ones stay away."""
    long = BOAT._replace(
        turns=[turn._replace(text=f"{turn.text} {'Sand it well. ' * 60}") for turn in BOAT.turns]
    )
    with monkeypatch.context() as earlier:
        earlier.setattr(ConversationState, "shared", FORMER_SHARED)
        mined(invoke, write_export(tmp_path / "export", "chatgpt", long))
    assert len(documents(invoke)) == 2
    file = next(one["docid"] for one in documents(invoke).values() if one["file"].endswith("0002.md"))
    assert invoke("forget", file, "--yes").exit_code == 0

    report = mined(invoke, write_export(tmp_path / "export", "chatgpt", longer(long, "Which brush?", "A soft one of badger hair.")))  # fmt: skip

    assert changes(report, "chatgpt")[1:] == (0, 0, 1)
    texts = [text_of(invoke, one["file"]) for one in documents(invoke).values()]
    assert any("badger" in text for text in texts)
    assert not any("wait a whole day" in text for text in texts)


@pytest.mark.parametrize("source", ["chatgpt", "claude.ai", "slack", "claude-code", "codex"])
def test_an_older_copy_deletes_nothing(invoke: Invoke, tmp_path: Path, source: str) -> None:
    """An export that lacks the newest messages changes no document, in the same import and in a later one."""
    for name, one in (("a-new", GROWN), ("b-old", BOAT)):
        write_zip(tmp_path / f"exports/{name}.zip", FORMATS[source]([one]))
    mined(invoke, tmp_path / "exports")
    found = documents(invoke)

    write_zip(tmp_path / "older.zip", FORMATS[source]([BOAT]))
    report = mined(invoke, tmp_path / "older.zip")

    assert changes(report, source)[:3] == (0, 0, 0)
    assert documents(invoke) == found
    assert any("forms a skin" in text_of(invoke, one["file"]) for one in found.values())


def test_older_and_partial_slack_exports_change_nothing(invoke: Invoke, tmp_path: Path) -> None:
    """An export from before an edit does not undo it, and replies without their thread delete no earlier ones."""
    parent = {"type": "message", "user": "U1", "text": "Who repairs the old crane at the pier?", "ts": "1700000000.0001",
              "thread_ts": "1700000000.0001"}  # fmt: skip
    reply = {**parent, "text": "The smith repairs it, on Tuesday morning.", "ts": "1700090000.0002"}
    edited = {
        **parent,
        "text": "Who repairs the new crane at the pier?",
        "edited": {"user": "U1", "ts": "1700095000.0"},
    }
    days = ("pier/2023-11-14.json", "pier/2023-11-15.json")
    mined(
        invoke,
        write_zip(
            tmp_path / "a.zip", dict(zip(days, (json.dumps([edited]), json.dumps([reply])), strict=True))
        ),
    )

    mined(
        invoke,
        write_zip(
            tmp_path / "b.zip", dict(zip(days, (json.dumps([parent]), json.dumps([reply])), strict=True))
        ),
    )
    mined(invoke, write_zip(tmp_path / "c.zip", {days[1]: json.dumps([{**reply, "ts": "1700099000.0003"}])}))

    texts = [text_of(invoke, one["file"]) for one in documents(invoke).values()]
    assert any("the new crane" in text and "The smith" in text for text in texts)
    assert not any("the old crane" in text for text in texts)


def test_forgetting_keeps_to_its_collection(invoke: Invoke, tmp_path: Path) -> None:
    """With -c, only that collection is forgotten; paths and options of imports are refused."""
    mined(invoke, write_export(tmp_path / "a", "chatgpt", BOAT))
    mined(invoke, write_export(tmp_path / "b", "chatgpt", BREAD), "-c", "work")
    for more in (
        [tmp_path / "a"],
        ["--dry-run"],
        ["--since", "2025-01-01"],
        ["--source", "x"],
        ["--synthesize"],
    ):
        refused = invoke("mine", "--forget", "chatgpt", "--yes", *more)
        assert refused.exit_code != 0
        assert "Leave out" in refused.stderr
    assert invoke("mine", "-c", "other", "--forget", "chatgpt", "--yes").exit_code == 3
    assert (
        "2 documents from chatgpt in conversations and work" in invoke("mine", "--forget", "chatgpt").stderr
    )

    assert (
        ask_json(invoke, "mine", "-c", "work", "--forget", "chatgpt", "--yes")["forgotten"]["documents"] == 1
    )

    assert [one["collection"] for one in ask_json(invoke, "sources")["sources"]] == ["conversations"]


def test_sessions_of_agents_on_this_machine_are_the_default(invoke: Invoke, home: Path) -> None:
    """Without a path, the recorded sessions of the agents are imported; without any, the command says what to name."""
    refused = invoke("mine")
    assert refused.exit_code != 0
    assert "clawmem mine PATH" in refused.stderr
    write_notes(home / ".claude/projects/-home-me-ferry", {f"{BOAT.id}.jsonl": claude_code(BOAT)})

    report = mined(invoke)

    assert changes(report, "claude-code") == (1, 0, 0, 0)
    assert ask_json(invoke, "search", "varnish", "--where", "project=ferry")["results"]


def test_an_interrupted_import_continues(vault: SqliteVault, clock: ManualClock, tmp_path: Path) -> None:
    """Ctrl-C keeps committed documents; the next run adds the rest, and no document twice."""
    write_notes(
        tmp_path, {f"{at}.json": json.dumps(chatgpt([BREAD._replace(id=f"t{at}")])) for at in range(20)}
    )
    exports = DiskExports(messages_in, lambda data: data.decode())
    clock.set(BREAD.turns[-1].at * 1000)

    class Interrupted(DiskExports):
        """Exports whose reading is interrupted in the middle."""

        def read(self, changed: Sequence[ExportFile], every: Sequence[ExportFile]) -> Iterator[ExportPart]:
            yield from exports.read(changed[:8], every)
            raise KeyboardInterrupt

    options, interrupted = (
        MiningOptions("conversations"),
        Interrupted(messages_in, lambda data: data.decode()),
    )
    with pytest.raises(MiningInterrupted) as stopped:
        MineConversations(vault, clock, interrupted)([str(tmp_path)], options)
    kept = vault.documents.collections()["conversations"]
    assert stopped.value.report.sources["chatgpt"].added == kept == 8

    report = MineConversations(vault, clock, exports)([str(tmp_path)], options)

    assert (report.skipped, report.sources["chatgpt"].added) == (8, 12)


def test_an_interrupt_counts_committed_documents_alone(
    vault: SqliteVault, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents of a transaction that Ctrl-C ended are neither stored nor counted."""
    write_export(tmp_path, "chatgpt", BREAD, BOAT, PLANS)
    clock.set(int(PLANS.turns[-1].at * 1000))
    saved: list[str] = []

    def interrupted(*arguments: Any) -> int:
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(arguments[1].path)
        return publish(*arguments)

    monkeypatch.setattr(f"{MineConversations.__module__}.publish", interrupted)
    monkeypatch.setattr(f"{MineConversations.__module__}.CHUNK_S", 60.0)
    exports = DiskExports(messages_in, lambda data: data.decode())
    with pytest.raises(MiningInterrupted) as stopped:
        MineConversations(vault, clock, exports)([str(tmp_path)], MiningOptions("conversations"))

    counts = stopped.value.report.sources["chatgpt"]
    assert len(saved) == 2
    assert (counts.conversations, counts.added, vault.documents.collections()) == (0, 0, {})


@pytest.mark.parametrize("before", range(5))
def test_an_interrupted_import_counts_what_it_stored(
    vault: SqliteVault, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """Wherever an import is interrupted, its report and the list of sources agree."""
    long = [turn._replace(text=f"{turn.text} {'Sand it well. ' * 180}") for turn in BOAT.turns]
    write_export(tmp_path, "chatgpt", BOAT._replace(turns=long), BREAD, PLANS)
    clock.set(int(PLANS.turns[-1].at * 1000))
    left = iter(range(before))

    def interrupted(*arguments: Any) -> int:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return publish(*arguments)

    monkeypatch.setattr(f"{MineConversations.__module__}.publish", interrupted)
    monkeypatch.setattr(f"{MineConversations.__module__}.CHUNK_S", 0.0)
    exports = DiskExports(messages_in, lambda data: data.decode())
    mine, options = MineConversations(vault, clock, exports), MiningOptions("conversations")
    try:
        report = mine([str(tmp_path)], options)
    except MiningInterrupted as stopped:
        report = stopped.report

    counts = report.sources["chatgpt"]
    listed = [(one.conversations, one.documents) for one in imported_sources(vault.documents, ())]
    assert counts.added == before
    assert listed == ([(counts.conversations, counts.added)] if before else [])
    assert counts.conversations == (0, 1, 1, 2, 3)[before]


def test_watching_imports_sessions_that_grow(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --watch a session is imported again when it has grown; what runs once or removes is refused."""
    sessions = home / ".claude/projects/-home-me-ferry"
    write_notes(sessions, {f"{BREAD.id}.jsonl": claude_code(BREAD)})

    class Stop(threading.Event):
        """A stop signal that is set at the third wait; at the first one another session begins."""

        waits = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.waits += 1
            if self.waits == 1:
                write_notes(sessions, {f"{BOAT.id}.jsonl": claude_code(BOAT)})
            if self.waits == 3:
                self.set()
            return self.is_set()

    monkeypatch.setattr("clawmem.app.interfaces.cli.mining.stop_event", Stop)
    done = invoke("mine", "--watch", "--no-embed")
    assert done.stdout.count("1 document added") == 2, done.output
    assert len(documents(invoke)) == 2
    for option in ("--dry-run", "--forget=claude-code"):
        assert "--watch" in invoke("mine", "--watch", option).stderr


PLANS = talk(
    "plans",
    "Plans for the boat",
    "2025-06-01",
    "We decided to sell the old dinghy, because nobody rows any more.",
    "Then the shed has room for the sails.",
    "I prefer the sails in the attic. The shed is leaking since the storm.",
    "Dry them first.",
)


def test_facts_are_drawn_by_rules_and_go_with_their_source(invoke: Invoke, tmp_path: Path) -> None:
    """Without a model, decisions, preferences and problems become memories that quote, are not repeated, and are forgotten."""
    export = write_export(tmp_path / "export", "chatgpt", PLANS, BREAD)
    drawn = mined(invoke, export, "--synthesize")["synthesis"]
    again = mined(invoke, export, "--synthesize")["synthesis"]

    assert (drawn["docsScanned"], drawn["llmFailures"], drawn["stopped"]) == (2, 0, "")
    assert drawn["factsSaved"] == drawn["factsExtracted"] >= 3
    assert (again["docsScanned"], again["factsSaved"]) == (0, 0)
    facts = {one["title"]: one for one in documents(invoke).values() if "synthesized/" in one["file"]}
    decision = facts["We decided to sell the old dinghy, because nobody rows any more"]
    assert (decision["content_type"], decision["origin"], decision["authored_at"][:10]) == (
        "decision",
        "imported",
        "2025-06-01",
    )
    assert "conversations/chatgpt/" in text_of(invoke, decision["file"])
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")["forgotten"]
    assert (done["derived"], documents(invoke)) == (len(facts), {})


def answers(prompt: str) -> str:
    """Answer as a model: a fact of each conversation, with links by title."""
    if "dinghy" in prompt:
        links = [
            {"targetTitle": "shorten the  rise", "relationType": "semantic", "weight": 0.9},
            {"targetTitle": "Sell the dinghy", "relationType": "causal"},
            {"targetTitle": "Nothing of that name", "relationType": "causal"},
        ]
        quote = "We decided to sell the old dinghy, because nobody rows any more."
        return json.dumps(
            [{"title": "Sell the dinghy", "contentType": "decision", "quote": quote, "links": links}]
        )
    if "sourdough" in prompt:
        quote = "It is overproofed: shorten the second rise to three hours."
        fact = {"title": "Shorten the rise", "contentType": "problem", "quote": quote}
        return json.dumps([{**fact, "aliases": ["Shorter second rise"]}])
    return "[]"


def test_facts_are_drawn_by_a_model(vault: SqliteVault, clock: ManualClock, tmp_path: Path) -> None:
    """Two passes count facts and links; a link to itself or to nothing is unresolved, and calls are charged and limited."""
    exports = DiskExports(messages_in, lambda data: data.decode())
    clock.set(int(PLANS.turns[-1].at * 1000))
    write_export(tmp_path, "chatgpt", PLANS, BREAD, BOAT)
    MineConversations(vault, clock, exports)([str(tmp_path)], MiningOptions("conversations"))
    model = ScriptedGenerator(answers)

    limited = SynthesizeFacts(vault, clock, model, calls_a_day=1)("conversations")
    report = SynthesizeFacts(vault, clock, model)("conversations")

    assert (limited.docsScanned, limited.factsSaved) == (1, 1)
    assert "limit of 1 calls" in limited.stopped
    assert (report.docsScanned, report.factsExtracted, report.factsSaved) == (2, 1, 1)
    assert (limited.linksResolved, limited.linksUnresolved) == (0, 0)
    assert (report.linksResolved, report.linksUnresolved) == (1, 2)
    assert (report.docsWithNoFacts, report.llmFailures) == (1, 0)
    assert [(one.purpose, one.calls) for one in vault.ledger.totals()] == [("mine-synthesis", 3)]
    failing = SynthesizeFacts(vault, clock, ScriptedGenerator(lambda prompt: "no JSON"))
    assert failing("conversations").docsScanned == 0
