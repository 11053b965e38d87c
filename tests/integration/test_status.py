from __future__ import annotations

import os
import shutil
from pathlib import Path

from command_line import Invoke, ask_json, write_notes
from wired import status, update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.app.services.indexing.folders import Folder
from clawmem.ports.vault import Vault

DAY_MS = 86_400_000


def index(vault: Vault, root: Path, name: str, sources: dict[str, tuple[str, int]]) -> None:
    for path, (text, days) in sources.items():
        file = root / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(0, (START_MS - days * DAY_MS) * 1_000_000))
    update_collection(vault, DiskFiles(), ManualClock(), parse_front_matter)(Folder(name, str(root / name)))


def test_served_documents_are_counted(vault: Vault, tmp_path: Path) -> None:
    """Per type, sorted by name; a removed file counts no more."""
    decision = "---\ncontent_type: decision\n---\nUse SQLite.\n"
    index(vault, tmp_path, "work", {"a.md": (decision, 3), "b.md": ("Plain text.", 2), "c.md": ("Gone.", 1)})
    index(vault, tmp_path, "notes", {"d.md": ("More text.", 5)})
    (tmp_path / "work" / "c.md").unlink()
    index(vault, tmp_path, "work", {})

    report = status(vault, ManualClock())()

    assert (report.documents, report.unfinished) == (3, [])
    assert list(report.content_types.items()) == [("decision", 1), ("note", 2)]
    assert report.newest == "2023-11-12T22:13:20.000Z"


def test_status_suggests_next_steps(invoke: Invoke, tmp_path: Path) -> None:
    """At most three: a moved folder, missing vectors, and a backup of what is in no file; none when all is done."""
    notes = tmp_path / "notes"
    write_notes(notes, {"lamp.md": "# Lamp\n\nThe lamp is green.\n"})
    assert invoke("bootstrap", notes).exit_code == 0
    assert invoke("diary", "write", "The lamp came today.").exit_code == 0
    write_notes(notes, {"vase.md": "# Vase\n\nThe vase is blue.\n"})
    assert invoke("update", "--no-embed").exit_code == 0
    notes.rename(tmp_path / "elsewhere")
    lost = ask_json(invoke, "status")["next_steps"]
    write_notes(notes, {"readme.txt": "Mount the disk here."})
    assert ask_json(invoke, "status")["next_steps"] == lost

    shutil.rmtree(notes)
    (tmp_path / "elsewhere").rename(notes)
    assert invoke("embed").exit_code == 0
    assert invoke("backup", tmp_path / "copy.sqlite").exit_code == 0

    runs = [step.partition("Run: ")[2] or step.partition("run: ")[2] for step in lost]
    assert [run.partition(";")[0] for run in runs] == [
        "clawmem collection add PATH --name notes",
        "clawmem embed",
        "clawmem backup FILE",
    ]
    assert ask_json(invoke, "status")["next_steps"] == []


def test_status_names_a_folder_that_was_never_read(invoke: Invoke, tmp_path: Path) -> None:
    """Until the first update, also one without a file."""
    for name in ("lamps", "more", "empty"):
        write_notes(tmp_path / name, {} if name == "empty" else {f"{name}.md": "# Lamp\n"})
        (tmp_path / name).mkdir(exist_ok=True)
        invoke("bootstrap" if name == "lamps" else "collection add", tmp_path / name)

    assert "more; run: clawmem update" in " ".join(invoke("status").stdout.split())
    assert ask_json(invoke, "status")["unfinished"] == ["empty", "more"]
    invoke("update")
    assert ask_json(invoke, "status")["unfinished"] == []
