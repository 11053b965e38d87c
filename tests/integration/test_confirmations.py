"""Commands that ask before they change something, where nobody can answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke, write_notes

from clawmem.app.operations.table import all_operations

# Arguments with which each operation would do something; NOTES and OTHER stand for folders.
ARGUMENTS: dict[str, list[tuple[str, ...]]] = {
    "collection_add": [("collection", "add", "OTHER"), ("collection", "add", ".", "--name", "everything")],
    "bootstrap": [("bootstrap", "OTHER")],
    "collection_remove": [("collection", "remove", "notes")],
    "memory_forget": [("forget", "people/haruka.md"), ("forget", "people/haruka.md", "--prove")],
    "source_forget": [("mine", "--forget", "talks")],
    "repair": [("--vault", "OTHER/empty.sqlite", "doctor", "--repair")],
}
TALK = "User: How long do the sessions live?\nAssistant: They live for 14 days.\n" * 3


def everything(home: Path) -> dict[str, bytes]:
    contents = {str(one): one.read_bytes() for one in home.rglob("*") if one.is_file()}
    return {name: content for name, content in contents.items() if content and not name.endswith("-shm")}


@pytest.mark.parametrize("name", [one.name for one in all_operations() if one.asks_first])
@pytest.mark.parametrize("agreed", [(), ("--yes",)], ids=["asked", "agreed"])
def test_a_preview_changes_nothing(
    remembered: Invoke, home: Path, notes: Path, tmp_path: Path, name: str, agreed: tuple[str, ...]
) -> None:
    """Of no operation of the table that asks, and also if its file was moved, or the call agrees."""
    write_notes(tmp_path / "other", {"talk.txt": TALK, "thought.md": "# Thought\n", "empty.sqlite": ""})
    assert remembered("mine", tmp_path / "other/talk.txt", "--source", "talks").exit_code == 0
    (notes / "people/haruka.md").rename(notes / "people/mori.md")
    (tmp_path / "other/talk.txt").write_text(TALK.replace("14", "15"), "utf-8")
    before = everything(home)
    for arguments in ARGUMENTS[name]:
        words = [word.replace("OTHER", str(tmp_path / "other")) for word in arguments]
        done = remembered(*words, *agreed, "--preview")
        as_json = remembered(*words, *agreed, "--preview", "--json")

        assert everything(home) == before, (words, done.output)
        assert (done.exit_code == 0) is (as_json.exit_code == 0), done.output
        if done.exit_code == 0:
            assert json.loads(as_json.stdout)["action"] == "preview"
        else:
            assert "--dry-run" in done.stderr


def test_a_form_refuses_the_options_of_another(remembered: Invoke) -> None:
    """The refusal names the form that has the option."""
    for words, sentence in (
        (("doctor", "--yes"), "--yes goes with --repair."),
        (
            ("query", "--mode", "words", "x", "--purpose", "y"),
            "--purpose goes with --mode hybrid or --mode auto.",
        ),
        (("maintain", "light", "--no-model"), "--no-model goes with enrich."),
        (("pin", "--off", "--why", " ", "people/haruka.md"), "--why is empty."),
        (
            ("snooze", "--off", "--until", "friday", "people/haruka.md"),
            "--until and --off do not go together.",
        ),
        (("list", "--tasks", "--sort", "due"), "--sort and --tasks do not go together."),
        (("archive", "people/haruka.md", "--dry-run"), "--dry-run and NOTE do not go together."),
        (("get", "x", "--max-bytes", "9", "--from", "1"), "--max-bytes and --from do not go together."),
        (("serve", "--stop", "--status"), "--status and --stop do not go together."),
        (("setup", "codex", "--remove", "--check"), "--check and --remove do not go together."),
        (("setup", "vscode", "--remove"), "Remove its entry"),
        (("install-service", "--remove", "--enable"), "do not go together"),
        (("update", "--embed", "--no-embed"), "--embed and --no-embed do not go together."),
        (("maintain", "graph", "--type", "x"), "--type must be 'temporal', "),
        (("search", "x", "--since", "2027-01-01", "--until", "2020-01-01"), "(since) is after"),
        (("snooze", "people/haruka.md", "--until", "99999999d"), "is too far"),
        (("export", "-"), "Name a new file."),
        (("search", "caf\udce9"), "is not UTF-8."),
        (("maintain", "all"), "Choose: light, heavy, "),
        (("query", "--mode", "magic", "x"), "Choose: hybrid, words, "),
        (("links", "--similar", "--causes", "people/haruka.md"), "do not go together"),
        (("status", "--full", "more"), "status --help"),
    ):
        refused = remembered(*words)
        assert (refused.exit_code, sentence in refused.stderr) == (2, True), refused.output


def test_a_preview_of_a_collection(remembered: Invoke, notes: Path, tmp_path: Path) -> None:
    """It says what would be added or removed, and how to go on."""
    write_notes(tmp_path / "other", {"thought.md": "# Thought\n"})

    added = remembered("collection", "add", tmp_path / "other", "--preview").stdout
    assert "Collection other:" in added and "would be added" in added
    removed = remembered("collection", "remove", "notes", "--preview").stdout
    assert "Collection notes would be removed; 3 documents would no longer be found." in removed
    assert remembered("collection", "remove", "nothing", "--preview").exit_code == 3


@pytest.mark.parametrize(
    "words",
    ["import mem0 WRONG", "import nope", "beads WRONG", "mine WRONG", "mine CHAT", "mine CHAT --dry-run", "update",
     "update -c nope", "watch", "embed", "--backend tantivy update", "vault sync work EMPTY", "bootstrap EMPTY"],
)  # fmt: skip
def test_a_failed_first_command(invoke: Invoke, home: Path, tmp_path: Path, words: str) -> None:
    """It leaves no vault, in the usual place or another, and the next command says how to make one."""
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "CHAT").write_text("Milk and eggs.\n", "utf-8")
    arguments = [str(tmp_path / word) if word in ("EMPTY", "CHAT") else word for word in words.split()]
    for vault in (), ("--vault", str(tmp_path / "own.sqlite")):
        done = invoke(*vault, *arguments)

        assert done.exit_code in (1, 2, 3, 5) and "Traceback" not in done.output
        assert not [
            file
            for file in (*home.rglob("*"), *tmp_path.glob("*"))
            if "sqlite" in file.name and file.stat().st_size
        ]
    assert "Run: clawmem bootstrap PATH" in invoke("search", "milk").stderr
