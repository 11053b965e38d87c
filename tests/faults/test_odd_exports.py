"""Sound files in odd forms: each is imported, or the report says what to do with it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from chat_exports import chatgpt, claude_code, markdown, talk
from command_line import Invoke

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
