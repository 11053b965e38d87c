"""Issues of Beads projects become documents, with properties and relations by dependency."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from command_line import Invoke, ask_json, write_file

OLD = "2026-02-03T04:05:06Z"
Project = Callable[..., Path]


def issue(number: str, title: str, *dependencies: tuple[str, str], **more: Any) -> dict[str, Any]:
    """An issue as `bd` writes it into .beads/issues.jsonl."""
    needs = [{"issue_id": number, "depends_on_id": target, "type": kind} for target, kind in dependencies]
    return {
        "id": number, "title": title, "description": f"About {title}.", "status": "open", "priority": 1,
        "issue_type": "task", "created_at": OLD, "updated_at": OLD, "dependencies": needs, **more,
    }  # fmt: skip


KILN = issue(
    "bd-1", "Raise the kiln to a thousand degrees", ("bd-2", "blocks"), labels=["heat"], assignee="Ann"
)
CLAY = issue("bd-2", "Order clay from Delft", status="closed", closed_at=OLD, design="Blue clay.")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    def write(*issues: dict[str, Any], more: str = "") -> Path:
        file = tmp_path / "pottery" / ".beads" / "issues.jsonl"
        write_file(file, "".join(f"{json.dumps(one)}\n" for one in issues) + more)
        return file.parent.parent

    return write


@pytest.fixture
def sync(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Any]:
    """Synchronize on a machine without `bd`."""
    monkeypatch.setenv("PATH", "/nowhere")
    return lambda folder: ask_json(invoke, "--json", "beads", folder)


def relations(vault_file: Path) -> set[tuple[str, str, str, str]]:
    sql = """select one.path, kind, other.path, json_extract(metadata, '$.dep_type') from relations
               join documents as one on one.id = source join documents as other on other.id = target
              where relations.origin = 'beads' and one.inactive is null and other.inactive is null"""
    with closing(apsw.Connection(str(vault_file), flags=apsw.SQLITE_OPEN_READONLY)) as read:
        rows = list(read.execute(sql))
    return {(Path(one).stem, kind, Path(other).stem, said) for one, kind, other, said in rows}


def test_issues_are_found_by_text_and_property(
    invoke: Invoke, project: Project, sync: Callable[[Path], Any], vault_file: Path
) -> None:
    """Also from a folder below the project; a second run changes nothing."""
    below = project(KILN, CLAY) / "src"
    below.mkdir()
    first, again = sync(below), sync(below)

    assert [first[name] for name in ("synced", "created", "updated", "relations")] == [2, 2, 0, 1]
    assert [again[name] for name in ("synced", "created", "updated", "relations")] == [2, 0, 0, 0]
    assert len(first["new_doc_ids"]) == 2
    found = ask_json(invoke, "--json", "search", "kiln degrees", "-c", "beads")["results"][0]
    assert (found["file"], found["trusted"]) == ("beads/_clawmem/beads/bd-1.md", False)
    assert "Status: open" in invoke("get", "beads/_clawmem/beads/bd-1.md").output
    closed = ask_json(invoke, "--json", "search", "clay kiln", "--where", "status=closed")["results"]
    assert [one["file"][-7:] for one in closed] == ["bd-2.md"]
    assert relations(vault_file) == {("bd-2", "causal", "bd-1", "blocks")}
    assert "bd-2" in invoke("links", "--causes", "beads/_clawmem/beads/bd-1.md").output
    assert "Nothing to do" in invoke("maintain", "enrich", "--no-model").output


def test_changed_and_deleted_issues(
    invoke: Invoke, project: Project, sync: Callable[[Path], Any], vault_file: Path
) -> None:
    """A change is taken over, a deleted issue is withdrawn, a forgotten one never returns."""
    sync(project(KILN, CLAY))
    made = sync(project({**KILN, "status": "closed", "dependencies": []}, {**CLAY, "status": "tombstone"}))

    assert [made[name] for name in ("synced", "created", "updated", "removed")] == [1, 0, 1, 1]
    assert relations(vault_file) == set()
    assert "removed" in invoke("get", "beads/_clawmem/beads/bd-2.md").output

    docid = ask_json(invoke, "--json", "get", "beads/_clawmem/beads/bd-1.md")["docid"]
    assert invoke("forget", docid, "--yes").exit_code == 0
    back = sync(project(KILN, CLAY))
    assert (back["synced"], back["created"]) == (1, 1)
    assert "forgotten" in invoke("get", "beads/_clawmem/beads/bd-1.md").output


def test_broken_lines_withdraw_nothing(project: Project, sync: Callable[[Path], Any], invoke: Invoke) -> None:
    """The rest is taken over, and an issue that may be in a broken line stays."""
    sync(project(KILN, CLAY))
    folder = project(KILN, more='{"id": "bd-2", "tit\n[1]\n{"title": "no id"}\n\xff\n')
    done = invoke("beads", folder, "--json")
    made = json.loads(done.stdout)

    assert (done.exit_code, made["synced"], made["removed"], len(made["problems"])) == (1, 1, 0, 4)
    assert "line 2" in made["problems"][0]
    assert "Blue clay" in invoke("get", "beads/_clawmem/beads/bd-2.md").output


def test_an_emptied_list_keeps_the_issues(
    project: Project, sync: Callable[[Path], Any], invoke: Invoke
) -> None:
    """The file may have been lost: the answer says how to remove the issues, and --allow-empty does."""
    sync(project(KILN, CLAY))
    folder = project()
    done = invoke("beads", folder, "--json")
    made = json.loads(done.stdout)
    assert (done.exit_code, made["removed"], len(made["problems"])) == (1, 0, 1)
    assert f"clawmem beads {folder} --allow-empty" in made["problems"][0]
    assert "Blue clay" in invoke("get", "beads/_clawmem/beads/bd-2.md").output

    assert ask_json(invoke, "beads", folder, "--allow-empty")["removed"] == 2
    (folder / ".beads/issues.jsonl").unlink()
    done = invoke("beads", folder)
    assert (done.exit_code, "bd gave no list" in done.stderr) == (1, True)


def test_names_secrets_and_times(project: Project, sync: Callable[[Path], Any], vault_file: Path) -> None:
    """A path cannot leave its folder, a key is replaced, and a time in the future becomes the present."""
    key = "sk-ant-" + "api03-" + "Zx8Kq2Lm9Pw4Rt7Yv1Bn6Cd3Fg5Hj0" * 3
    sync(
        project(issue("../../etc/x", "Key", notes=f"The API key is {key}", updated_at="2999-01-01T00:00:00Z"))
    )

    with closing(apsw.Connection(str(vault_file))) as vault:
        rows = list(
            vault.execute("select path, authored_at, body, origin from documents join content using (hash)")
        )
    ((path, written, body, origin),) = rows
    assert (path.rpartition("/")[0], written < "2999", key in body) == ("_clawmem/beads", True, False)
    assert origin == "tool_inside"


@pytest.mark.parametrize(
    ("script", "source"),
    [
        ("cat issues.json", "bd list"),
        ("exit 3", ".beads/issues.jsonl"),
        ("echo no JSON", ".beads/issues.jsonl"),
        ("echo '{}'", ".beads/issues.jsonl"),
    ],
)
def test_the_command(
    invoke: Invoke, project: Project, home: Path, monkeypatch: pytest.MonkeyPatch, script: str, source: str
) -> None:
    """`bd` from a known place below the home folder; without a usable answer the files are read."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    program = home / ".local" / "bin" / "bd"
    write_file(program, f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    folder = project(KILN, CLAY)
    listed = {name: value for name, value in KILN.items() if name != "dependencies"}
    (folder / "issues.json").write_text(json.dumps([{**listed, "title": "As bd lists it"}, CLAY]))

    made = ask_json(invoke, "--json", "beads", folder)

    assert (made["source"], made["synced"], made["relations"]) == (source, 2, 1)
    assert ("As bd" in invoke("get", "beads/_clawmem/beads/bd-1.md").output) is (source == "bd list")
