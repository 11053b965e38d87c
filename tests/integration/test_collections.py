"""Collections that are removed, moved, emptied or named wrongly while somebody works with them."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from command_line import Invoke, write_file, write_notes

from clawmem.adapters.files.disk import DiskFiles
from clawmem.app.settings.config_file import set_value
from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import SourceUnreadable


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(100):
        (folder / f"note{number}.md").write_text(
            f"# Barrel {number}\n\nStands in cellar {number}.\n", "utf-8"
        )
    return folder


@pytest.fixture
def config(home: Path) -> Path:
    return home / ".config/clawmem/config.yaml"


def collections(invoke: Invoke) -> dict[str, int]:
    return {
        one["name"]: one["documents"]
        for one in json.loads(invoke("--json", "collection", "list").stdout)["collections"]
    }


def test_a_collection_that_left_the_config_file_is_reported_and_can_be_removed(
    remembered: Invoke, many: Path, config: Path
) -> None:
    """By update and doctor; what a program stored itself needs no configuration."""
    before = config.read_text("utf-8")
    remembered("collection", "add", many, "--name", "old")
    remembered("diary", "write", "The barrels were counted.")
    assert remembered("update").exit_code == 0
    config.write_text(before, "utf-8")

    assert f"still served: 100. If {config} was" in remembered("update").stderr
    doctor = remembered("doctor").stdout
    assert "clawmem collection remove old" in doctor and "remove _clawmem" not in doctor
    config.write_text("", "utf-8")
    doctor = remembered("doctor").stdout
    assert doctor.index("collection add FOLDER --name old") < doctor.index("collection remove old")
    assert remembered("collection", "add", many, "--name", "old").exit_code == 0
    assert "old: 0 added, 0 updated, 0 removed, 100 unchanged" in remembered("update").stdout
    config.write_text(before, "utf-8")

    removed = remembered("--json", "collection", "remove", "old")

    assert json.loads(removed.stdout)["documents"] == 100
    assert "old" not in collections(remembered)
    assert "still served" not in remembered("update").output
    assert remembered("collection", "remove", "old").exit_code == 3
    assert remembered("collection", "remove", "_clawmem").exit_code == 3


@pytest.fixture
def twin(notes: Path, tmp_path: Path) -> Path:
    """Another folder whose files have the same names, sizes and times, and other text."""
    folder = tmp_path / "twin"
    shutil.copytree(notes, folder)
    for file in folder.rglob("*.md"):
        seen, text = file.stat(), file.read_text("utf-8")
        file.write_text(text.replace("Redis", "Kafka").replace("ticket", "coffee"), "utf-8")
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    return folder


def test_the_name_of_another_folder_is_refused(
    remembered: Invoke, notes: Path, twin: Path, config: Path
) -> None:
    """Nothing is written, and the message names the way on."""
    before = config.read_text("utf-8")

    refused = remembered("collection", "add", twin, "--name", "notes")

    assert refused.exit_code == 2
    assert str(notes) in refused.stderr and "--name" in refused.stderr
    assert config.read_text("utf-8") == before
    assert remembered("bootstrap", twin, "--name", "notes").exit_code == 2
    (notes / "sub").mkdir()
    assert "inside the collection 'notes'" in remembered("collection", "add", notes / "sub").stderr
    assert "For others: clawmem collection add" in remembered("bootstrap", notes, "--name", "other").stderr


def test_a_collection_that_is_added_again_keeps_what_is_not_named(
    remembered: Invoke, notes: Path, config: Path
) -> None:
    """What changes is said; exclusions are added to those that are there."""
    remembered("collection", "add", notes, "--pattern", "**/*.{md,txt}", "--exclude", "drafts")

    again = remembered("collection", "add", notes, "--project", "cars", "--exclude", "old")

    assert "pattern" not in again.stderr and "project was empty and is cars now" in again.stderr
    assert "exclude was ['drafts'] and is ['drafts', 'old'] now" in again.stderr
    assert "pattern: '**/*.{md,txt}'" in config.read_text("utf-8")


def test_the_reason_why_a_first_reading_finds_nothing(invoke: Invoke, tmp_path: Path) -> None:
    """The rules that exclude its files, and the pattern of the collection."""
    write_notes(tmp_path / "hidden", {".gitignore": "*", "a.md": "# Ferry"})
    assert "matches **/*.md. Excluded: 1 by .gitignore" in invoke("bootstrap", tmp_path / "hidden").stderr
    invoke("collection", "add", tmp_path / "hidden", "--pattern", "*.org")
    assert "matches *.org" in invoke("bootstrap", tmp_path / "hidden").stderr


@pytest.mark.parametrize(
    "command",
    [
        ("bootstrap",),
        ("collection", "add"),
        ("vault", "sync", "x"),
        ("mine",),
        ("import", "mem0"),
        ("focus", "set"),
    ],
)
def test_an_empty_path_is_not_the_current_folder(
    invoke: Invoke, command: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unset variable of a script must not remember the folder that the script runs in."""
    monkeypatch.setenv("CLAWMEM_VAULTS", json.dumps({"x": str(home / "x.sqlite")}))

    for empty in ("", " "):
        refused = invoke(*command, empty)

        assert refused.exit_code == 2
        assert "is empty" in refused.stderr
    assert list(home.iterdir()) == []


def test_the_remedy_for_a_missing_folder(remembered: Invoke, notes: Path, home: Path) -> None:
    """Every command names the same one, with the name of the collection, which then continues in the new folder."""
    moved = notes.rename(home / "moved")
    for command in (
        "update",
        "update --all",
        "status",
        "doctor",
        f"doctor {notes}/decisions/2026-02-11-redis.md",
    ):
        assert "run: clawmem collection add PATH --name notes" in remembered(command).stdout, command
    assert remembered("collection", "add", moved, "--name", "notes").exit_code == 0
    assert "0 added, 0 updated, 0 removed" in remembered("update").stdout


def test_the_remedy_for_a_folder_that_was_never_read(remembered: Invoke, home: Path) -> None:
    """No documents are kept of it; it can be named anew, or removed."""
    (home / "chats.jsonl").touch()
    set_value(
        load_settings().config_file,
        ("collections", "chats"),
        {"path": str(home / "chats.jsonl")},
        is_new=True,
    )

    for command in ("update", "doctor"):
        shown = remembered(command).stdout
        assert "it has no documents. Name its folder: clawmem collection add PATH --name chats" in shown
        assert "or run: clawmem collection remove chats" in shown


def test_a_small_folder_that_is_empty_keeps_its_documents(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few they are; where another file is left, its disk is there. The remedy names the vault."""
    write_notes(tmp_path, {"disk/a.md": "# Ferry\n", "other/b.md": "# Tide\n", "other/c.txt": ""})
    for name in ("disk", "other"):
        invoke("bootstrap", tmp_path / name, "--skip-embed")
    (tmp_path / "disk/a.md").unlink()
    (tmp_path / "other/b.md").unlink()

    monkeypatch.setenv("INDEX_PATH", str(vault := load_settings().vault))
    assert f"clawmem --vault {vault} update -c disk --allow-empty" in invoke("update").stdout
    assert collections(invoke) == {"disk": 1, "other": 0}
    assert "--allow-empty" in invoke("doctor").stdout
    assert "disk: 0 added, 0 updated, 1 removed" in invoke("update", "--allow-empty").stdout


@pytest.mark.parametrize("left", [0, 10, None])
def test_a_folder_without_nearly_all_of_its_files_keeps_its_documents(
    invoke: Invoke, many: Path, tmp_path: Path, left: int | None
) -> None:
    """The mount point of a disk that is not mounted looks like that; ``None`` is a rule that excludes everything. Other collections are updated; an option removes."""
    invoke("bootstrap", many, "--skip-embed")
    write_notes(tmp_path / "other", {"ferry.md": "# Ferry\n\nLeaves at noon.\n"})
    invoke("collection", "add", tmp_path / "other")
    for file in sorted(many.glob("*.md"))[left:] if left is not None else ():
        file.unlink()
    write_notes(many, {".gitignore": "*" if left is None else ""})
    write_notes(tmp_path / "other", {"tide.md": "# Tide\n\nTurns at one.\n"})

    for command in (("update",), ("update --all",), ("bootstrap", many)):
        kept = invoke(*command)

        assert kept.exit_code == 1, command
        assert "0 removed" in kept.stdout and "run: clawmem update -c many --allow-empty" in kept.stdout
        assert collections(invoke) == {"many": 100, "other": 2}
    assert "--allow-empty" in invoke("doctor").stdout
    assert f"{100 - (left or 0)} removed" in invoke("update", "--allow-empty").stdout
    assert collections(invoke) == {"many": left or 0, "other": 2}


@pytest.mark.parametrize("verb", ["update", "update --all", "bootstrap"])
def test_a_file_or_folder_that_cannot_be_read_is_in_the_exit_code(
    remembered: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The rest is read, also of other folders; the next pass without a fault ends with 0."""
    write_notes(notes, {"closed.md": "# Closed\n\nThe ferry.\n", "open.md": "# Open\n\nThe ferry.\n"})
    read = DiskFiles.read

    def refused(self: DiskFiles, root: str, path: str) -> bytes:
        if path == "closed.md":
            raise SourceUnreadable(path, "permission denied")
        return read(self, root, path)

    words = (verb, *[str(notes)] * (verb == "bootstrap"))
    with monkeypatch.context() as patch:
        patch.setattr(DiskFiles, "read", refused)
        done = remembered(*words)
    assert (done.exit_code, "permission denied" in done.stdout, "1 added" in done.stdout) == (1, True, True)
    assert remembered(*words).exit_code == 0

    notes.rename(notes.with_name("away"))
    assert remembered("update").exit_code == 1


def test_a_folder_that_was_not_read_to_its_end(
    remembered: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status says so until an update has read it."""
    write_notes(notes, {"closed.md": "# Closed\n\nThe ferry.\n"})
    read = DiskFiles.read

    def killed(self: DiskFiles, root: str, path: str) -> bytes:
        if path == "closed.md":
            raise KeyboardInterrupt
        return read(self, root, path)

    with monkeypatch.context() as patch:
        patch.setattr(DiskFiles, "read", killed)
        remembered("update")
    assert "notes; run: clawmem update" in remembered("status").stdout
    remembered("update")
    assert json.loads(remembered("status", "--json").stdout)["unfinished"] == []


def test_a_file_name_that_is_not_utf8_is_skipped_with_the_remedy(remembered: Invoke, notes: Path) -> None:
    """Update says so, of a folder as well, not of a file that is no note; it is no difference between files and vault."""
    try:
        for name in (b"bad\xffname.md", b"other\xe9.bin", b"fold\xe9r/a.md"):
            write_file(notes / os.fsdecode(name), "# Never read\n")
    except OSError:
        pytest.skip("this file system takes no such name")

    said = remembered("update").output
    for name in (r"bad\xffname.md", r"fold\xe9r"):
        assert f"{name} was skipped: its name is not UTF-8. Rename it." in said
    assert "other" not in said
    assert remembered("doctor", "--verify").exit_code == 0


def test_the_only_copy_of_a_lost_folder(remembered: Invoke, notes: Path) -> None:
    """Without its folder a collection goes only after a confirmation; with it, its files stay."""
    notes.rename(notes.with_name("lost"))
    for said in ((), ("--preview",)):
        refused = remembered("collection", "remove", "notes", *said)
        assert "the vault has the only copy of the 3 documents of notes" in refused.output
    assert refused.exit_code == 0 and "notes" in remembered("collection", "list").stdout

    assert "Removed notes with " in remembered("collection", "remove", "notes", "--yes").stdout
    assert "notes" not in remembered("collection", "list").stdout


def set_pattern(home: Path, pattern: str) -> None:
    config = home / ".config/clawmem/config.yaml"
    text = config.read_text("utf-8")
    config.write_text(re.sub(r"pattern: .*", lambda _: f"pattern: {json.dumps(pattern)}", text), "utf-8")


def test_a_pattern_that_matches_nothing_any_more(remembered: Invoke, home: Path) -> None:
    """A few notes go, and return with the pattern."""
    set_pattern(home, "**/*.mdx")

    assert "3 removed" in remembered("update").stdout
    set_pattern(home, "**/*.md")
    assert "3 added" in remembered("update").stdout
    set_pattern(home, "decisions/*.md")
    assert "1 removed" in remembered("update").output
    assert collections(remembered) == {"notes": 2}
