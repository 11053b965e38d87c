"""Files that ignore files and settings exclude, and the explanation that why-not gives."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_notes
from hypothesis import given
from hypothesis import strategies as st

from clawmem.adapters.files.disk import DiskFiles
from clawmem.app.services.indexing.folders import Folder, scan_folder

TEXT = "# Beekeeping\n\nThe queen was marked in blue.\n"
PATHS = ["a.md", "b.md", "x/a.md", "x/b.md", "x/y/a.md", "x/y/z/b.md", "y/a.md", "#c.md", "!d.md", "e f.md"]
PARTS = st.sampled_from(
    ["a.md", "b.md", "x", "y", "z", "*", "**", "*.md", "?.md", "[ax]*", "[!a].md", "[^b]*", "*?.*d"]
)
LINES = st.one_of(
    st.builds(
        lambda start, parts, end: f"{start}{'/'.join(parts)}{end}",
        st.sampled_from(["", "", "!", "/", "!/"]),
        st.lists(PARTS, min_size=1, max_size=5),
        st.sampled_from(["", "", "/", "/**", "  ", "\r"]),
    ).filter(lambda line: not line.rstrip().endswith(("**/", "/**"))),  # pathspec reads both as "/"
    st.sampled_from(["", "# a", "\\#c.md", "\\!d.md", "a.md\\ ", "\\a.md", "/", "!", "x/\\*.md"]),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    write_notes(root, dict.fromkeys(PATHS, TEXT))
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def git_ignored(root: Path) -> set[str]:
    asked = subprocess.run(
        ["git", "-C", root, "-c", "core.excludesFile=", "check-ignore", "-z", "--stdin"],
        input="\0".join(PATHS).encode(),
        capture_output=True,
        check=False,
    )
    return set(filter(None, asked.stdout.decode().split("\0")))


@given(st.lists(LINES, max_size=5), st.lists(LINES, max_size=3))
def test_patterns_mean_what_they_mean_to_git(repository: Path, outer: list[str], inner: list[str]) -> None:
    """Negation, folders, anchors, two stars, sets, escapes, comments, and a second file in a folder."""
    (repository / ".gitignore").write_text("\n".join(outer), "utf-8", newline="")
    (repository / "x/.gitignore").write_text("\n".join(inner), "utf-8", newline="")

    found = scan_folder(DiskFiles(), Folder("notes", str(repository)))

    assert {file.path for file in found.files} == set(PATHS) - git_ignored(repository)


def test_long_names_take_no_time(tmp_path: Path) -> None:
    """Whatever stars the rules of a foreign repository have."""
    rules = f"{'*a' * 20}*b\n**/{'a/**/' * 20}b\n"
    write_notes(tmp_path, {f"{'a' * 200}.md": TEXT, f"{'a/' * 60}c.md": TEXT, ".gitignore": rules})

    assert len(scan_folder(DiskFiles(), Folder("notes", str(tmp_path))).files) == 2


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder of notes without ignore files."""
    folder = tmp_path / "vault"
    notes = ["keep.md", "private/diary.md", "private/open.md", "work/plan.md", "work/draft.md"]
    write_notes(folder, {path: f"# {path}\n\nAbout {path}.\n" for path in notes})
    return folder


def served(invoke: Invoke) -> set[str]:
    return {one["file"].partition("/")[2] for one in ask_json(invoke, "list", "-n", 100)["documents"]}


def explained(invoke: Invoke, path: Path | str) -> Any:
    done = invoke("doctor", path, "--json")
    status = json.loads(done.stdout)
    assert done.exit_code == (status["state"] == "unreadable")
    return status


def test_an_ignore_file_withdraws_notes_and_its_end_brings_them_back(invoke: Invoke, vault: Path) -> None:
    """The update names the rule and the counts; a pin returns with its note."""
    invoke("bootstrap", vault)
    invoke("pin", "vault/private/diary.md")
    write_notes(vault, {".gitignore": "private/*\n!open.md\n", "work/.clawmemignore": "# mine\ndraft.md\n"})

    done = invoke("update").stdout

    assert served(invoke) == {"keep.md", "private/open.md", "work/plan.md"}
    assert "2 removed" in done and "1 by .gitignore, 1 by work/.clawmemignore" in done
    assert "Excluded files" not in invoke("update").stdout  # said before
    assert ask_json(invoke, "update")["collections"][0]["excluded"]
    assert invoke("doctor", "--verify").exit_code == 0

    (vault / ".gitignore").unlink()
    invoke("update")

    assert served(invoke) == {"keep.md", "private/diary.md", "private/open.md", "work/plan.md"}
    assert ask_json(invoke, "archive", "--status")["pinned"] == 1


def test_clawmemignore_and_config_outrank_gitignore(invoke: Invoke, vault: Path, home: Path) -> None:
    """A negation in a stronger file includes again; gitignore: false disregards .gitignore."""
    write_notes(vault, {".gitignore": "work/\n*.md\n", ".clawmemignore": "!work\n!/work/plan.md\n"})
    invoke("collection", "add", vault, "--exclude", "keep.md", "--exclude", "private/diary*")
    invoke("update")
    assert served(invoke) == {"work/plan.md"}

    config = home / ".config/clawmem/config.yaml"
    text = config.read_text("utf-8")
    config.write_text(text.replace("    path:", "    gitignore: false\n    path:"), "utf-8")
    invoke("update")

    assert served(invoke) == {"private/open.md", "work/plan.md", "work/draft.md"}
    assert explained(invoke, vault / "keep.md")["rule"]["source"] == "exclude in the config file"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("diary.md\r\nnew.md\r\n".encode("utf-16"), ""),
        ("../rules.txt", ""),
        ("nowhere", "it is gone"),
        ("../../rules.txt", "it lies outside the folder"),
        (None, "it is not a regular file"),
        (b"\xff\x00\x80" * 50, "it is no text"),
    ],
)
def test_an_ignore_file_is_obeyed_or_nothing_below_it_changes(
    invoke: Invoke, vault: Path, content: bytes | str | None, fault: str
) -> None:
    """UTF-16 and a link are read; next to a pipe new notes wait, because it may exclude them, and served ones stay."""
    invoke("bootstrap", vault, "--skip-embed")
    rules = "diary.md\nnew.md\n"
    write_notes(vault, {"private/new.md": TEXT, "rules.txt": rules, "../rules.txt": rules})
    file = vault / "private/.clawmemignore"
    if content is None:
        os.mkfifo(file)
    elif isinstance(content, str):
        file.symlink_to(content)
    else:
        file.write_bytes(content)

    assert fault in invoke("update").output
    assert ("private/new.md" in served(invoke), "private/diary.md" in served(invoke)) == (False, bool(fault))
    assert explained(invoke, vault / "private/new.md")["state"] == ("unreadable" if fault else "excluded")
    assert f"private/.clawmemignore: {fault}" in invoke("doctor").stdout or not fault


def test_why_not_explains_every_state(invoke: Invoke, vault: Path, tmp_path: Path, home: Path) -> None:
    """With the rule, the collection, and a next step that is a command or an edit."""
    write_notes(vault, {" lead.md": "# Ahead\n"})
    invoke("bootstrap", vault)
    assert invoke("pin", " lead.md").exit_code == invoke("get", " lead.md").exit_code == 0
    write_notes(vault, {".gitignore": "private/\n", "late.md": TEXT, "page.org": TEXT, "build/b.md": TEXT})
    (vault / "bad.md").write_bytes(b"\xff\x00\x80" * 50)
    (vault / "link.md").symlink_to(vault / "keep.md")
    (vault / "circle.md").symlink_to("circle.md")
    write_notes(tmp_path / "elsewhere", {"c.md": TEXT})
    invoke("forget", "vault/work/draft.md", "--yes")

    states = {
        path: explained(invoke, vault / path)["state"]
        for path in (
            "keep.md late.md private/diary.md page.org build/b.md bad.md link.md circle.md work/draft.md work ../elsewhere/c.md"
        ).split()
    }

    assert states == {
        "keep.md": "indexed",
        "late.md": "waiting",
        "private/diary.md": "excluded",
        "page.org": "other kind",
        "build/b.md": "excluded",
        "bad.md": "unreadable",
        "link.md": "link",
        "circle.md": "link",
        "work/draft.md": "forgotten",
        "work": "folder",
        "../elsewhere/c.md": "outside",
    }
    private = invoke("doctor", "vault/private/diary.md").stdout
    assert "Its folder private is excluded by .gitignore, line 1 (private/)." in private
    assert "!/private to the end of .clawmemignore" in private
    write_notes(home / "logs", {"c.log": TEXT})
    assert "--pattern '**/*.{md,log}'" in explained(invoke, home / "logs/c.log")["remedy"]
    system = explained(invoke, "/etc/passwd")
    assert ("belongs to the system" in system["reason"], system["remedy"]) == (True, "")
    (vault / "alias").symlink_to(vault / "work")  # a link with a target
    for missing in (vault / "nothing.md", "/nothing.md", vault / "alias/nothing.md"):
        refused = invoke("doctor", missing)
        assert refused.exit_code == 3 and "nothing.md" in refused.output


def test_everything_that_is_not_read_is_counted(invoke: Invoke, vault: Path, home: Path) -> None:
    """Folders left out by their name, other endings, and a pipe; ``include`` reads a folder, and .MD is .md."""
    notes = ["logseq/bak/a.md", "docs/build/b.md", ".hidden/c.md", "d.markdown", "e.canvas", "F.MD"]
    write_notes(vault, dict.fromkeys(notes, TEXT))
    os.mkfifo(vault / "g.md")
    read = invoke("bootstrap", vault, "--name", "notes").stdout
    for text in ("(bak)", "(build)", "(.markdown)", "(.canvas)", "pipes"):
        assert text in read
    assert f"clawmem collection add {vault} --name notes --pattern '**/*.{{md," in read
    assert "hidden" not in read
    assert "F.MD" in served(invoke)
    assert "include:" in invoke("doctor", vault / "docs/build/b.md").stdout

    config = home / ".config/clawmem/config.yaml"
    config.write_text(
        config.read_text("utf-8").replace("pattern:", "include: [docs/build/, ./dist/x/**]\n    pattern:"),
        "utf-8",
    )

    write_notes(vault, dict.fromkeys(["dist/x/h.md", "dist/i.md"], TEXT))
    assert "(bak)" in invoke("update").stdout
    assert {"docs/build/b.md", "dist/x/h.md"} < served(invoke)
    assert "rules (dist)" in invoke("doctor", vault / "dist/i.md").stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tags: bees\n\n# Hive\n", "it has no line --- at its end"),
        ("confidence: 17\n---\n", "confidence: 17 is no number from 0 to 1"),
        ("Pinned: maybe\n---\n", "pinned: maybe is neither true nor false"),
        ("created: 2026-13-45\n---\n", "created: 2026-13-45 is no date"),
        (
            "tags: bees\n" + "a: [\n" * 99 + "---\n",
            "front matter left out in line 3, 4, 5, 6, 7, 8, 9, 10, 11 and 90 more:",
        ),
    ],
)
def test_front_matter_without_effect_is_said(
    invoke: Invoke, tmp_path: Path, text: str, sentence: str
) -> None:
    """The report of a pass and `doctor` name what has no effect; a ruler is no front matter, and a switch no date."""
    others = {"b.md": "---\n\nA ruler: fine.\n", "c.md": "---\ndate_updated: true\n---\n"}
    write_notes(tmp_path / "notes", {"a.md": f"---\n{text}", **others})

    report = invoke("bootstrap", str(tmp_path / "notes")).output

    assert f"notes/a.md: {sentence}" in report.replace("front matter taken as text: ", "")
    assert "notes/b.md" not in report and "notes/c.md" not in report
    assert sentence in invoke("doctor", str(tmp_path / "notes/a.md")).output
