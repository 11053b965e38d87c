"""Sound files in odd forms: each is imported, or the report says what to do with it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from chat_exports import chatgpt, claude_ai, claude_code, markdown, talk, write_zip
from command_line import Invoke, write_notes

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

    assert (done.exit_code, "4 messages: 1 document added" in done.stdout) == (0, True), done.output


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


INNER = packed({"conversations.json": json.dumps(chatgpt([OARS]))})
ODD: Mapping[str, tuple[str, bytes, str]] = {
    "ZIP in a ZIP": ("a.zip", packed({"in/b.zip": INNER}), "a.zip"),
    "ZIP of pictures": ("a.zip", packed({"photo.jpg": b"x"}), "a.zip"),
    "broken ZIP": ("a.zip", INNER[:100], "it is no complete ZIP file"),
    "empty ZIP": ("a.zip", packed({}), "a.zip"),
    "other archive": ("takeout.tgz", b"\x1f\x8b\x08\x00", "it is not UTF-8 text"),
    "line end in the name": ("a\nb.txt", b"Tides and ropes.\n", "a\ufffdb.txt\n"),
    "blanks": ("a.md", b" \r\n", "it is empty"),
}


@pytest.mark.parametrize(("name", "content", "said"), ODD.values(), ids=ODD)
def test_files_without_a_conversation(
    invoke: Invoke, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    """The report names the file and the remedy, and the exit code is 1."""
    (tmp_path / name).write_bytes(content)

    done = invoke("mine", "--no-embed", tmp_path / name)

    assert (done.exit_code, said in done.stdout) == (1, True), done.output


def test_two_formats_and_an_archive_in_one_archive(invoke: Invoke, tmp_path: Path) -> None:
    """Both formats are imported; an attachment that is an archive is passed over."""
    files = {
        "conversations.json": json.dumps(chatgpt([OARS])),
        "claude/conversations.json": json.dumps(claude_ai([OARS])),
        "file-1-photos.zip": INNER,
    }

    done = invoke("mine", "--no-embed", write_zip(tmp_path / "a.zip", files))

    assert done.exit_code == 0, done.output
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["chatgpt", "claude.ai"]


def test_a_folder_of_many_files(invoke: Invoke, tmp_path: Path) -> None:
    """Three conversations among two hundred files are imported first, and ten of the others are listed."""
    notes = {f"note{at:03}.md": f"# Note {at}\n\nTides and ropes.\n" for at in range(197)}
    chats = {f"chat{at}.jsonl": claude_code(OARS._replace(id=f"oars-{at}")) for at in range(3)}
    write_notes(tmp_path / "many", {**notes, **chats})

    done = invoke("mine", "--no-embed", tmp_path / "many")

    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "claude-code: 3 conversations, 12 messages: 3 documents added, 0 updated, 0 removed, 0 unchanged.",
        "197 files without a conversation:",
    ]
    assert (len(lines), lines[12]) == (14, "  and 187 more; see --json.")


HALVES = {
    "half": ("Where is \\ud83d it, exactly?", "Where is ? it, exactly?"),
    "whole": ("Where\\ud83d\\ude00 is it, exactly?", "Where\U0001f600 is it, exactly?"),
}


@pytest.mark.parametrize("half", HALVES)
def test_half_a_character(invoke: Invoke, tmp_path: Path, half: str) -> None:
    """It is replaced, and neither its conversation nor the others of the file and of the folder are lost."""
    said, read = HALVES[half]
    talks = [OARS._replace(id=f"oars-{n}", title=f"Oars {n}") for n in range(3)]
    text = json.dumps(chatgpt(talks)).replace("How long should the oars of a small boat be?", said, 2)
    write_notes(tmp_path / "all", {"a/conversations.json": text, "z/session.jsonl": claude_code(OARS)})

    done = invoke("mine", "--no-embed", tmp_path / "all")

    assert done.exit_code == 0, done.output
    assert "chatgpt: 3 conversations" in done.stdout and "claude-code: 1 conversation" in done.stdout
    lines = invoke("search", "exactly", "--format", "jsonl", "--full").stdout.splitlines()
    assert any(read in json.loads(line)["body"] for line in lines)


def test_an_error_of_one_file_stops_no_other(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that nobody thought of is named with the kind of error."""

    def failing(*_: object) -> object:
        raise KeyError("surprise")

    monkeypatch.setattr("clawmem.adapters.conversations.chatgpt._branch", failing)
    write_notes(
        tmp_path / "all",
        {"a.json": json.dumps(chatgpt([OARS])), "z/session.jsonl": claude_code(OARS)},
    )

    done = invoke("mine", "--no-embed", tmp_path / "all")

    assert done.exit_code == 0 and "Traceback" not in done.output
    assert "claude-code: 1 conversation" in done.stdout
    assert "a.json" in done.stdout and "KeyError" in done.stdout


def test_invalid_json_is_named_with_its_place(invoke: Invoke, tmp_path: Path) -> None:
    """The report says how many conversations come before the damage."""
    text = '[\n{"mapping": {}},\n{"mapping": {}\n"x"]'
    (tmp_path / "conversations.json").write_text(text, "utf-8")

    done = invoke("mine", "--no-embed", tmp_path / "conversations.json")

    assert (done.exit_code, "no valid JSON after 1 of its entries" in done.stdout) == (1, True), done.output
