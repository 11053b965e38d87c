"""Exports that other programs read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from socket import gethostname
from typing import Any

import apsw
import pytest
from command_line import Invoke, write_notes
from programs import run_program

POSTGRES, HARUKA = "notes/decisions/2026-06-09-postgres.md", "notes/people/haruka.md"


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_markdown_is_a_folder_that_can_be_indexed_again(remembered: Invoke, notes: Path, home: Path) -> None:
    """The files of the user byte for byte, and what programs wrote with front matter; a second run adds nothing."""
    remembered("diary", "write", "We chose the blue ticket machine.")
    write_notes(
        notes,
        {
            "board.md": "\n\n%% kanban: {} %%\n- card\n<!-- x -->\n",
            "a.canvas": '{"nodes": []}',
            "a.png": "PNG",
        },
    )
    write_notes(notes, {"changed.md": "Indexed.\n"})
    assert remembered("collection", "add", notes, "--pattern", "**/*.{md,canvas,png}").exit_code == 0
    remembered("update")
    (notes / "changed.md").write_text("Not indexed yet.\n", "utf-8")
    assert remembered("export", "--format", "markdown", "out").exit_code == 0

    exported = {file.relative_to(home / "out").as_posix(): file for file in home.glob("out/**/*.*")}
    assert exported.pop("notes/changed.md").read_text("utf-8") == "Indexed.\n"
    (notes / "changed.md").unlink()
    names = {*exported}
    for file in notes.rglob("*.*"):
        assert exported.pop(f"notes/{file.relative_to(notes)}").read_bytes() == file.read_bytes()
    (diary,) = exported.values()
    assert "blue ticket machine" in diary.read_text("utf-8")
    assert diary.read_text("utf-8").startswith('---\ntitle: "')
    again = remembered("export", "--format", "markdown", "out")
    assert again.exit_code == 0, again.output
    assert {file.relative_to(home / "out") for file in home.glob("out/**/*.*")} - {
        Path("notes/changed.md")
    } == {Path(name) for name in names}
    remembered("backup", home / "copy.sqlite")
    refused = remembered("--vault", home / "copy.sqlite", "export", "--format", "markdown", notes)
    assert (refused.exit_code, "holds your notes" in refused.stderr) == (2, True)
    assert remembered("export", "--format", "markdown", notes / "new").exit_code == 2
    (home / "link.zip").symlink_to("nowhere")
    assert (remembered("export", "link.zip").exit_code, (home / "link.zip").is_symlink()) == (2, True)


def test_names_that_lead_elsewhere(remembered: Invoke, vault_file: Path, home: Path) -> None:
    """A path of a record never becomes a path outside of the folder."""
    with apsw.Connection(str(vault_file)) as vault:
        vault.execute(
            "update documents set path = '../../evil<>' || char(10) || '.md' where path like '%redis%'"
        )
    remembered("export", "--format", "markdown", "out")

    assert {one.name for one in home.glob("out/**/*evil*")} == {"evil___.md"}
    assert not [*home.parent.glob("**/evil*")] or all(
        "out" in one.parts for one in home.parent.glob("**/evil*")
    )


def test_lines_are_memories_that_can_be_imported(remembered: Invoke, notes: Path, home: Path) -> None:
    """Text, time, kind, properties, names, links, relations, privacy and supersessions come back, as imported."""
    head = "---\naliases: [Ticket lore]\nstate: sound\nup: '[[haruka]]'\n---\n"
    twins = {"a/Lore.md": f"{head}See [[2026-06-09-postgres]].\n", "a/Bare.md": "---\nstate: sound\n---\n"}
    write_notes(notes, {**twins, "b/Lore two.md": "See [[2026-06-09-postgres]].\n"})
    assert remembered("remember", "Haruka sells the tickets.", "--supersedes", HARUKA).exit_code == 0
    (notes / "key.md").write_text("---\nprivate: true\n---\nThe key is under the mat.\n", "utf-8")
    assert remembered("update").exit_code == 0
    assert remembered("pin", POSTGRES).exit_code == 0
    assert remembered("maintain", "graph", "--type", "temporal").exit_code == 0
    write_notes(notes, {"Hollow.md": ""})
    exported = remembered("update") and remembered("export", "--format", "jsonl")
    assert (exported.exit_code, "1 without text left out: notes/Hollow.md" in exported.stderr) == (0, True)
    found = {one["id"]: one for one in lines_of(home / "memories.jsonl")}
    (postgres, haruka) = found[POSTGRES], found[HARUKA]
    assert (postgres["authored_at"][:10], postgres["pinned"], postgres["content_type"]) == (
        "2026-06-09",
        True,
        "decision",
    )
    assert "Designs ticket machines." in haruka["text"]

    other = ("--vault", home / "other.sqlite", "--json")
    report = json.loads(remembered(*other, "import", "jsonl", home / "memories.jsonl").stdout)
    assert (report["imported"], report["pinned"], report["unmatched"]) == (len(found), 1, {})
    assert report["relations"] == sum(len(one["relations"]) for one in found.values()) > 0
    answer = json.loads(remembered(*other, "search", "Haruka tickets machines").stdout)["results"][:2]
    assert [(note["title"], note["trusted"]) for note in answer[1:]] == [(haruka["title"], False)]
    assert answer[1]["superseded_by"]["file"] == answer[0]["file"]
    key = json.loads(remembered(*other, "search", "key under the mat").stdout)["results"][0]["docid"]
    assert json.loads(remembered(*other, "get", key).stdout)["context"].startswith("Private")
    sound = json.loads(remembered(*other, "list", "--where", "state=sound").stdout)
    assert len(sound["documents"]) == 2
    links = json.loads(remembered(*other, "links", "[[Ticket lore]]").stdout)["links"]
    assert [link["target"].rpartition("-")[0] for link in links] == [
        "_clawmem/imports/jsonl/notes-people-haruka-md",
        "_clawmem/imports/jsonl/notes-decisions-2026-06-09-postgres-md",
    ]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("-c", "nowhere"), "No collection matches"),
        (("-c", "notes"), "--format jsonl"),
        (("missing/file",), "Create it: mkdir -p"),
        (("all.jsonl",), "or export with --format jsonl."),
        (("all.zip", "--format", "markdown"), "or export with --format bundle."),
    ],
)
def test_what_cannot_be_exported(remembered: Invoke, home: Path, options: tuple[str, ...], why: str) -> None:
    refused = remembered("export", *options)

    assert refused.exit_code != 0
    assert why in refused.output
    assert {*home.iterdir()} == {home / ".cache", home / ".config"}


@pytest.mark.parametrize("is_updated", [True, False])
def test_a_text_whose_file_was_deleted(remembered: Invoke, notes: Path, home: Path, is_updated: bool) -> None:
    """A bundle names it, also before the next update."""
    write_notes(notes, {"crossing.md": "The zebra crossing moves.\n"})
    remembered("update")
    (notes / "crossing.md").unlink()
    if is_updated:
        remembered("update")

    whole = remembered("export", "whole.zip")

    assert whole.exit_code == 0
    assert "deleted files" in whole.stderr and "notes/crossing.md" in whole.stderr


def test_drafts_of_killed_commands(remembered: Invoke, home: Path, environ: dict[str, str]) -> None:
    """Doctor deletes drafts of the vault whose process is gone, and old ones, but none that a command may write."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = "new", "old", *(f"{gethostname()}+{number}+ab-x" for number in (os.getpid(), gone.pid))
    drafts = [home / f".cache/clawmem/.index.sqlite.draft-{name}" for name in names]
    for draft in drafts:
        write_notes(draft, {"index.sqlite": "half"})
    os.utime(drafts[1], (0, 0))

    remembered("doctor")

    assert [draft.exists() for draft in drafts] == [True, False, True, False]
    new = "--vault", str(home / "new.sqlite"), "vault", "init"
    killed = "import os, clawmem.adapters.sqlite.vault as vault; vault.prepare = lambda db: os._exit(1)"
    killed += "\nfrom clawmem.app.main import main; main()"
    run_program(killed, *new, env=environ, cwd=home, check=False)
    assert [*home.glob(".new.sqlite.draft-*")]
    assert (remembered(*new).exit_code, remembered(*new[:2], "doctor").exit_code) == (0, 0)
    assert not [*home.glob(".new.sqlite.draft-*")]
