"""Damaged and hostile exports: each gets a clear report, everything else is imported, nothing is half-written."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_exports import (
    Talk,
    chatgpt,
    chatgpt_message,
    claude_ai,
    claude_code,
    codex,
    markdown,
    openclaw,
    talk,
    write_zip,
)
from command_line import Invoke, ask_json, write_notes

SOUND = talk(
    "sound",
    "Oars",
    "2025-02-03",
    "How long should the oars of a small rowing boat be?",
    "About twice the width between the rowlocks, plus a hand.",
)
OTHER = talk(
    "other",
    "Anchor",
    "2025-02-04",
    "Which anchor holds best in soft mud near the harbour?",
    "A fluke anchor, because it digs in deep.",
)


def mined(invoke: Invoke, *arguments: object) -> Any:
    """Return the report of an import, whether or not all was read."""
    done = invoke("mine", "--no-embed", *arguments, "--json")
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


def added(report: Any) -> int:
    return sum(one["added"] for one in report["sources"].values())


def packed(files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def broken_zip(content: bytes) -> bytes:
    """Return a ZIP file whose central directory is cut off."""
    whole = packed({"conversations.json": content})
    return whole[: len(whole) // 2]


def flipped_zip(content: bytes) -> bytes:
    """Return a ZIP file whose member does not have its checksum."""
    return packed({"conversations.json": content}).replace(b"rowlocks", b"rowlucks", 1)


def bomb(content: bytes) -> bytes:
    """Return a ZIP file that expands two hundredfold and more."""
    padded = content[:-1] + b" " * (40 << 20) + content[-1:]
    return packed({"conversations.json": padded}, zipfile.ZIP_DEFLATED)


BAD: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "truncated": (broken_zip, "bad.zip", "download it again"),
    "damaged": (flipped_zip, "bad.zip", "damaged"),
    "bomb": (bomb, "bad.zip", "ZIP bomb"),
    "cut": (lambda content: content[:-30], "bad.json", "JSON is cut off at line"),
    "empty": (lambda content: b"", "bad.json", "empty"),
    "no database": (lambda content: b"x" * 5_000, "opencode.db", "database cannot be read"),
    "no lines of JSON": (lambda content: b"torn\n", "rollout-1.jsonl", "unreadable lines: 1"),
    "null": (lambda content: b"null\n", "session.jsonl", "no line with a JSON object"),
}


@pytest.mark.parametrize(("damage", "name", "said"), BAD.values(), ids=BAD)
def test_a_damaged_file_does_not_end_the_others(
    invoke: Invoke, tmp_path: Path, damage: Callable[[bytes], bytes], name: str, said: str
) -> None:
    """The report names the file and the reason; it is tried again, while the sound file is not read twice."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(damage(json.dumps(chatgpt([SOUND])).encode()))
    write_notes(tmp_path / "in", {"z.json": json.dumps(claude_ai([OTHER]))})

    report = mined(invoke, tmp_path / "in")

    [fault] = report["faults"]
    assert name in fault
    assert said in fault
    assert report["sources"]["claude.ai"]["added"] == 1
    again = mined(invoke, tmp_path / "in")
    assert (again["faults"], again["skipped"]) == ([fault], 1)


def test_names_that_lead_out_of_an_archive_lead_nowhere(invoke: Invoke, tmp_path: Path) -> None:
    """Files with '..' or an absolute path as their name are unsafe, and a link is none; nothing is unpacked."""
    link = zipfile.ZipInfo("link.json")
    link.external_attr = 0o120777 << 16
    content = json.dumps(chatgpt([SOUND]))
    path = write_zip(tmp_path / "evil.zip", {"../out.json": content, "/abs.json": content})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")

    report = mined(invoke, path)

    assert (added(report), len(report["faults"]), len(report["foreign"])) == (0, 2, 1)
    assert all("it is unsafe" in fault for fault in report["faults"])
    assert not [*tmp_path.rglob("*.json")]


def test_hostile_messages(invoke: Invoke, tmp_path: Path) -> None:
    """Long texts are cut, lone surrogates and control characters dropped, and wrong times replaced by the nearest."""
    [one] = chatgpt([SOUND])
    last = one["current_node"]
    times = (None, 9e15, -5, "soon", 32503680000, float("1e300"))
    texts = [
        "long " * 200_000,
        "lone \ud800 surrogate \x00 and \x1b[31m control in a text",
        *["future words"] * 4,
    ]
    for number, (at, text) in enumerate(zip(times, texts, strict=True)):
        name = f"x{number}"
        role = ("user", "assistant")[number % 2]
        mapping = {
            "id": name,
            "parent": last,
            "children": [],
            "message": chatgpt_message(name, role, text, at),
        }
        one["mapping"][name], last = mapping, name
    (tmp_path / "c.json").write_text(json.dumps([{**one, "current_node": last}]), "utf-8")

    report = mined(invoke, tmp_path / "c.json")

    assert (report["faults"], report["sources"]["chatgpt"]["messages"]) == ([], 8)
    listed = ask_json(invoke, "list", "-n", 20)["documents"]
    assert {one["authored_at"][:10] for one in listed} == {"2025-02-03"}
    texts = [ask_json(invoke, "get", one["file"])["text"] for one in listed]
    assert not any("\x1b" in text or "\x00" in text for text in texts)
    assert any("surrogate  and" in text.replace("\ufffd", "").replace("   ", "  ") for text in texts)
    assert mined(invoke, tmp_path / "c.json")["skipped"] == 1


@pytest.mark.parametrize(
    "value", ["NaN", "-Infinity", "1e999", "9" * 400, '"\\ud800"', '"\\udfff \\ud83d\\ude00"']
)
def test_odd_values_do_not_end_an_export(invoke: Invoke, tmp_path: Path, value: str) -> None:
    """The conversations after numbers that no program can hold, and after half a character, are imported."""
    export = json.dumps([*chatgpt([SOUND]), *chatgpt([OTHER])]).replace(str(SOUND.turns[0].at), value)
    (tmp_path / "c.json").write_text(export, "utf-8")

    report = mined(invoke, tmp_path / "c.json")

    assert (added(report), report["faults"]) == (2, [])


@pytest.mark.parametrize("damaged", ['{"role": "assistant", "conte', '{"role": }', "}"])
def test_a_damaged_line_of_a_chat_costs_no_other(invoke: Invoke, tmp_path: Path, damaged: str) -> None:
    """The lines before and after it are imported, in the one conversation that they are."""
    roles = ["user", "assistant"] * 3
    lines = [json.dumps({"role": role, "content": f"Line {at} on oars."}) for at, role in enumerate(roles)]
    (tmp_path / "c.jsonl").write_text("\n".join([*lines[:3], damaged, *lines[3:], ""]), "utf-8")

    report = mined(invoke, tmp_path / "c.jsonl")

    assert report["sources"]["chat-json"]["messages"] == len(lines)
    assert report["faults"] == [f"{tmp_path}/c.jsonl: unreadable lines: 1."]


def test_a_cyclic_tree_ends(invoke: Invoke, tmp_path: Path) -> None:
    """A message that is its own ancestor, and a missing current node, end the walk; a damaged conversation is named."""
    [cyclic], [lost] = chatgpt([SOUND]), chatgpt([OTHER])
    cyclic["mapping"]["root"]["parent"] = cyclic["current_node"]
    lost["current_node"] = "nowhere"
    del lost["mapping"]["abandoned"]
    (tmp_path / "c.json").write_text(json.dumps([cyclic, lost, {"mapping": {}}, {"mapping": 5}, 7]), "utf-8")

    report = mined(invoke, tmp_path / "c.json")

    assert added(report) == 2
    [fault] = report["faults"]
    assert "is damaged" in fault


@pytest.mark.parametrize("session", [claude_code, codex, openclaw])
def test_unreadable_lines_of_a_session_are_counted(
    invoke: Invoke, tmp_path: Path, session: Callable[[Talk], str]
) -> None:
    """The other lines are imported, and the file is not read again; a line that is being written is no fault."""
    first, rest = session(SOUND).split("\n", 1)
    write_notes(tmp_path / "in", {"s.jsonl": f'{first}\n{{"broken\n{rest}{{"typ'})

    report = mined(invoke, tmp_path / "in")

    assert (added(report), report["faults"]) == (1, [f"{tmp_path}/in/s.jsonl: unreadable lines: 1."])
    assert mined(invoke, tmp_path / "in")["skipped"] == 1


# -- Sound files in odd forms: each is imported, or the report says what to do with it.


OARS = talk(
    "oars",
    "Oars",
    "2025-02-03",
    "How long should the oars of a small boat be?",
    "Twice the width between the rowlocks \u2028 plus a hand.",
    "And of which wood should I make them?",
    "Of ash, which bends before it breaks.",
)
FORMS: Mapping[str, Callable[[str], bytes]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "mark of UTF-8": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16, big-endian": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
}
CHATS = {
    "session.jsonl": claude_code(OARS).replace("\\u2028", "\u2028"),
    "conversations.json": json.dumps(chatgpt([OARS]), indent=1),
    "chat.md": markdown(OARS),
}


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize("form", FORMS)
def test_encodings_and_line_ends(invoke: Invoke, tmp_path: Path, name: str, form: str) -> None:
    """A file that was saved again by an editor is read completely."""
    (tmp_path / name).write_bytes(FORMS[form](CHATS[name]))

    done = invoke("mine", "--no-embed", tmp_path / name)

    assert (done.exit_code, "messages 4, added 1" in done.stdout) == (0, True), done.output


INNER = packed({"conversations.json": json.dumps(chatgpt([OARS]))})
ODD: Mapping[str, tuple[str, bytes, str]] = {
    "ZIP in a ZIP": ("a.zip", packed({"in/b.zip": INNER}), "a.zip"),
    "ZIP of pictures": ("a.zip", packed({"photo.jpg": b"x"}), "a.zip"),
    "broken ZIP": ("a.zip", INNER[:100], "it is no complete ZIP file"),
    "empty ZIP": ("a.zip", packed({}), "a.zip"),
    "other archive": ("takeout.tgz", b"\x1f\x8b\x08\x00", "Unpack it"),
    "line end in the name": ("a\nb.txt", b"Tides and ropes.\n", "b.txt\n"),
    "blanks": ("a.md", b" \r\n", "it is empty"),
    "broken JSON": ("a.json", b'{"a": NaN', "its JSON is cut off at line 1"),
}


@pytest.mark.parametrize(("name", "content", "said"), ODD.values(), ids=ODD)
def test_files_without_a_conversation(
    invoke: Invoke, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    """The report names the file and the remedy, and the exit code is 1, also of a repetition."""
    (tmp_path / name).write_bytes(content)

    for done in [invoke("mine", "--no-embed", tmp_path / name) for _ in range(2)]:
        assert (done.exit_code, said in done.stdout) == (1, True), done.output
