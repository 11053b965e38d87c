"""Notes in the editor of the user: ``edit``, and ``--open`` of answers."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Invoke, ask_json

from clawmem.adapters.system.commands import editor_of, open_in_editor
from clawmem.ports.errors import ConfigError

REDIS = "decisions/2026-02-11-redis.md"

Editor = Callable[[str], Path]


@pytest.fixture
def editor(remembered: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Return a function that sets an editor that runs code on ``file``; it returns the log of its arguments."""

    def become(code: str) -> Path:
        script, program, log = tmp_path / "vim", tmp_path / "vim.py", tmp_path / "opened.json"
        program.write_text(
            f"import json, os, sys\nfrom pathlib import Path\n"
            f"Path({str(log)!r}).write_text(json.dumps(sys.argv[1:]))\nfile = Path(sys.argv[-1])\n{code}\n",
            "utf-8",
        )
        # A path with a blank cannot stand behind "#!".
        script.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(program)])} "$@"\n', "utf-8")
        script.chmod(0o700)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", shlex.quote(str(script)))
        return log

    return become


def test_an_edited_note_is_found_at_once(remembered: Invoke, notes: Path, editor: Editor) -> None:
    """The editor opens the line of the address; words and meaning of the new text are found, other files not read."""
    log = editor("file.write_text('# Sessions\\n\\nThe carousel keeps them.\\n')")
    (notes / "unread.md").write_text("# Unread\n\nOf the carousel.\n", "utf-8")

    assert remembered("edit", f"{REDIS}:3").stdout == f"Indexed: notes/{REDIS}\n"
    assert json.loads(log.read_text()) == ["+3", str(notes / REDIS)]
    for verb in ("search", "vsearch"):
        found = ask_json(remembered, verb, "carousel that keeps things")["results"]
        assert found[0]["file"] == f"notes/{REDIS}"
        assert "notes/unread.md" not in {one["file"] for one in found}


@pytest.mark.parametrize(
    ("code", "action"),
    [("", "unchanged"), ("file.unlink()", "removed"), ("file.write_text('new')", "indexed")],
)
def test_the_outcome_is_named(remembered: Invoke, editor: Editor, code: str, action: str) -> None:
    """As JSON also, with the note."""
    editor(code)

    said = ask_json(remembered, "edit", "Haruka Mori")

    assert (said["action"], said["file"], said["problems"]) == (action, "notes/people/haruka.md", [])


def test_a_file_that_is_no_text_any_more_is_not_called_unchanged(remembered: Invoke, editor: Editor) -> None:
    """The note keeps its former text, and the reason is named."""
    editor("file.write_bytes(bytes(range(256)) * 40)")

    said = ask_json(remembered, "edit", REDIS)

    assert (said["action"], len(said["problems"])) == ("not indexed", 1)
    assert ask_json(remembered, "search", "sessions Redis")["count"]


def test_a_failing_editor_loses_no_change(remembered: Invoke, editor: Editor) -> None:
    """The file is indexed, and the exit code is that of a setting that cannot be applied."""
    editor("file.write_text('# Carousel'); sys.exit(3)")

    done = remembered("edit", REDIS)

    assert done.exit_code == 4
    assert "ended with 3" in done.stderr
    assert ask_json(remembered, "search", "carousel")["count"] == 1


def test_the_first_answer_is_opened(remembered: Invoke, notes: Path, editor: Editor) -> None:
    """At its line, after the answer was written; the outcome goes to stderr, so that a program can read the answer."""
    log = editor("file.write_text(file.read_text() + 'The carousel too.')")

    done = remembered("search", "ticket machines", "--open", "--format", "jsonl")

    assert json.loads(done.stdout)["file"] == "notes/people/haruka.md"
    assert done.stderr == "clawmem: Indexed: notes/people/haruka.md\n"
    assert json.loads(log.read_text()) == ["+6", str(notes / "people/haruka.md")]
    assert remembered("list", "-n", 1, "--open").exit_code == 0
    log.unlink()
    assert "Nothing to open." in remembered("search", "zzz", "--open").stderr
    assert not log.exists()


def test_what_cannot_be_edited(remembered: Invoke, notes: Path, editor: Editor) -> None:
    """Words, a note of the vault alone, and a note whose file is gone; no editor is started."""
    log = editor("")
    memory = ask_json(remembered, "diary", "write", "The ferry leaves at nine.")
    (notes / "people/haruka.md").unlink()

    for address, code in (("sessions", 3), (memory["file"], 2), ("people/haruka.md", 2), ("nowhere.md", 3)):
        done = remembered("edit", address)
        assert done.exit_code == code, done.output
    assert not log.exists()


def test_the_editor_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """VISUAL goes before EDITOR; without both an installed one is taken. Errors name the remedy."""
    assert editor_of({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_of({"VISUAL": " ", "EDITOR": "my\\ vi"}) == ["my vi"]
    monkeypatch.setattr("shutil.which", lambda name: name == "vim")
    assert editor_of({}) == ["vim"]
    monkeypatch.setattr("shutil.which", lambda name: None)
    for broken in ({}, {"EDITOR": "'vi"}):
        with pytest.raises(ConfigError, match="EDITOR"):
            editor_of(broken)
    with pytest.raises(ConfigError, match="Set EDITOR"):
        open_in_editor([str(tmp_path / "none")], "a.md", 1)


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [("code", "--goto a.md:7"), ("nvim", "+7 a.md"), ("hx", "a.md:7"), ("gedit", "a.md")],
)
def test_the_line_in_the_words_of_each_editor(
    monkeypatch: pytest.MonkeyPatch, editor: str, arguments: str
) -> None:
    """Another editor opens the file alone."""
    ran: list[list[str]] = []

    class FinishedEditor:
        returncode = 0

    monkeypatch.setattr("subprocess.run", lambda command, check: ran.append(command) or FinishedEditor())
    open_in_editor([f"/usr/bin/{editor}", "-x"], "a.md", 7)

    assert ran == [[f"/usr/bin/{editor}", "-x", *arguments.split()]]
