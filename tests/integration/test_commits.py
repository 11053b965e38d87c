"""Commit messages as notes, what a file came to be by, and the memories that clients wrote themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Invoke, ask_json, assert_refused, write_notes

Git = Callable[..., str]
LEASE = "Renew the lease earlier\n\nBecause the clock of the worker may jump."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


@pytest.fixture
def git(invoke: Invoke, repository: Path) -> Git:
    """Run Git in the repository as Ann, whose address its configuration has."""

    def run(*arguments: str | bytes) -> str:
        command = ["git", "-C", repository, "-c", "commit.gpgSign=false", *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout.decode().strip()

    run("init", "-q", "-b", "main")
    run("config", "user.name", "Ann")
    run("config", "user.email", "ann@example.org")
    return run


def commit(
    git: Git, repository: Path, message: str, *files: str, author: str = "Ann <ann@example.org>"
) -> str:
    """Commit a change of *files*, by default none; return the path of the note."""
    for name in files:
        (file := repository / name).parent.mkdir(exist_ok=True)
        file.write_text(message, "utf-8")
    git("add", "-A")
    git(
        "commit",
        "-q",
        "--allow-empty",
        f"--author={author}",
        "--date=2026-03-01T10:00:00+01:00",
        "-m",
        message,
    )
    return f"shop-commits/{git('rev-parse', 'HEAD')[:16]}.md"


def notes(invoke: Invoke) -> dict[str, str]:
    return {note["file"]: note["title"] for note in ask_json(invoke, "list", "-n", "50")["documents"]}


def test_a_commit_with_a_reason_is_a_note(invoke: Invoke, git: Git, repository: Path) -> None:
    """It has author, date and files, also with names that are no text; merges and commits of programs are none."""
    lease = commit(git, repository, LEASE, "src/lease.py", "a b.txt")
    git("checkout", "-q", "-b", "side")
    other = commit(git, repository, 'Say: "why"\n\nReason: others ask.', author="Bob <bob@example.org>")
    commit(git, repository, "No reason")
    commit(git, repository, "Signed\n\nSigned-off-by: Ann <ann@example.org>\nChange-Id: I12")
    commit(
        git, repository, "Bump\n\nIt is newer.", author="dependabot[bot] <1+dependabot[bot]@users.example>"
    )
    git("checkout", "-q", "main")
    Path(os.fsdecode(bytes(repository) + b"/\xff.bin")).write_bytes(b"\0")
    binary = commit(git, repository, "Add a sample\n\nThe decoder needs one.")
    git("merge", "-q", "--no-ff", "-m", "Merge side\n\nAll of it.", "side")

    invoke("collection", "add", repository, "--kind", "git")
    assert invoke("update").exit_code == 0
    titles = {lease: "Renew the lease earlier", other: 'Say: "why"', binary: "Add a sample"}
    assert notes(invoke) == titles
    [found] = ask_json(invoke, "search", "clock jump worker")["results"]
    assert (found["file"], found["authored_at"][:16]) == (lease, "2026-03-01T09:00")
    text = invoke("get", lease, "--json").stdout
    assert "src/lease.py" in text and "a b.txt" in text and "Ann" in text
    assert "not verified" in invoke("search", "others ask").stdout
    assert "not verified" not in invoke("search", "clock jump").stdout


def test_a_memory_is_no_commit(invoke: Invoke, git: Git, repository: Path, tmp_path: Path) -> None:
    """The folder of notes is chosen without a question."""
    write_notes(tmp_path / "own", {"a.md": "# A\n\nText."})
    invoke("collection", "add", tmp_path / "own", "--name", "own")
    invoke("collection", "add", repository, "--kind", "git")

    invoke("update")
    done = invoke("remember", "Ann waters the plants on Mondays.")
    assert "own/" in done.stdout, done.stderr
    assert_refused(invoke("remember", "Ann rides.", "--in", "shop-commits"), "Did you mean: own?", 3)


def test_only_new_commits_are_read_and_gone_ones_leave(invoke: Invoke, git: Git, repository: Path) -> None:
    """A commit that was rewritten stays the same note while its reason is the same."""
    commit(git, repository, "Begin\n\nSomebody has to.")
    invoke("collection", "add", repository, "--kind", "git")
    assert ": 1 added" in invoke("update").stdout
    commit(git, repository, LEASE, "lease.py")
    assert ": 1 added, 0 updated, 0 removed, 1 unchanged" in invoke("update").stdout
    [docid] = [note["docid"] for note in ask_json(invoke, "search", "clock jump")["results"]]

    git("commit", "-q", "--amend", "-m", LEASE.replace("earlier", "sooner"))
    invoke("update")
    [found] = ask_json(invoke, "search", "clock jump")["results"]
    assert (found["docid"], found["title"]) == (docid, "Renew the lease sooner")
    git("reset", "-q", "--hard", "HEAD~1")
    assert ": 0 added, 0 updated, 1 removed, 1 unchanged" in invoke("update").stdout


def test_what_is_no_repository(
    invoke: Invoke, git: Git, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder without a repository is refused, an empty repository has no note, and without Git all notes stay."""
    (repository / "docs").mkdir()
    for folder in (tmp_path, repository / "docs"):
        done = invoke("collection", "add", folder, "--kind", "git")
        assert_refused(done, "Name the top folder of a repository", code=2)
    assert invoke("collection", "add", repository, "--kind", "git").exit_code == 0
    assert ": 0 added, 0 updated" in invoke("update").stdout
    commit(git, repository, LEASE)
    invoke("update")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))  # as in a hook of another repository
    assert ": 0 added, 0 updated, 0 removed, 1 unchanged" in invoke("update").stdout
    monkeypatch.setenv("PATH", str(tmp_path))
    done = invoke("update")
    assert done.exit_code == 1 and "Install Git" in done.stdout
    assert len(notes(invoke)) == 1
    assert "Install Git" in invoke("doctor").stdout


def test_why_a_file_is_as_it_is(
    invoke: Invoke, git: Git, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits of its project, decisions and notes are listed with the sentence about it, newest first."""
    lease = commit(git, repository, LEASE, "src/lease.py", "README.md")
    commit(git, repository, "Clean\n\nNobody reads it.", "src/other.py", "docs/README.md")
    notes = {
        "clock.md": "---\ndate: 2026-04-01\ntype: decision\n---\nAnn left. We decided: `src/lease.py` asks the server for the time.",
        "files.md": "---\ndate: 2025-01-01\n---\n# Files\n\n## lease.py\n\nIt has no lock since one writer renews it.",
        "elsewhere.md": "blog/lease.py was removed because nobody used it.",
    }
    write_notes(tmp_path / "notes", notes)
    shutil.copytree(repository, tmp_path / "blog/shop")
    invoke("collection", "add", tmp_path / "notes")
    for name, folder in {"shop-commits": repository, "blog-commits": tmp_path / "blog/shop"}.items():
        invoke("collection", "add", folder, "--kind", "git", "--name", name)
    invoke("update")

    monkeypatch.chdir(repository / "src")
    reasons = ask_json(invoke, "why", "lease.py")["reasons"]
    assert {about["file"]: about["reason"] for about in reasons} == {
        "notes/clock.md": "We decided: `src/lease.py` asks the server for the time.",
        lease: "Because the clock of the worker may jump.",
        "notes/files.md": "It has no lock since one writer renews it.",
    }
    assert [about["authored_at"][:4] for about in reasons] == ["2026", "2026", "2025"]
    assert f"{lease}  {reasons[1]['docid']}  commit  2026-03-01" in invoke("why", "../src/lease.py").stdout
    [readme] = ask_json(invoke, "why", repository / "README.md")["reasons"]
    assert readme["file"] == lease
    monkeypatch.chdir(tmp_path)
    assert len(ask_json(invoke, "why", "src/lease.py", "-n", "9")["reasons"]) == 4  # of both projects
    assert invoke("why", "gone.py").exit_code == 3
    (repository / "new.py").touch()
    assert "--kind git" in invoke("why", repository / "new.py").stdout


def test_memories_of_agents_are_found_beyond_what_the_agent_reads(
    invoke: Invoke, home: Path, tmp_path: Path
) -> None:
    """They are suggested until they are a collection, as what an assistant noted; states of clawmem are none of them."""
    write_notes(tmp_path / "notes", {"a.md": "Stone soup."})
    assert "--client" not in invoke("bootstrap", tmp_path / "notes").stderr
    missing = f"{home}/.claude/projects does not exist."
    assert_refused(invoke("collection", "add", "--client", "claude"), missing, code=2)
    lines = [f"- Fact {number} is noted." for number in range(300)] + [
        "- The importer needs a Latin-1 reader."
    ]
    memory = {
        "MEMORY.md": "\n".join(lines),
        "topics/deploy.md": "Deploy from the blue host.",
        "precompact-state-1.md": "State.",
    }
    write_notes(home / ".claude/projects/-home-ann-shop/memory", memory)
    write_notes(home / ".claude/projects/-home-ann-shop", {"other.md": "No memory."})
    write_notes(home / ".codex/memories", {"MEMORY.md": "Prefer pnpm.", ".git/x.md": "No memory."})

    assert_refused(
        invoke("collection", "add", "--client", "gemini"), "Did you mean: claude-code, codex?", code=3
    )
    assert_refused(invoke("collection", "add", home, "--client", "codex"), "either a folder", code=2)
    suggested = "clawmem collection add --client claude-code"
    assert suggested in invoke("bootstrap", tmp_path / "notes").stderr
    assert suggested in invoke("doctor").stdout
    assert suggested in invoke("setup", "claude-code").stdout
    for agent in ("claude", "codex"):
        assert invoke("collection", "add", "--client", agent).exit_code == 0
    invoke("update")

    assert suggested not in invoke("bootstrap", tmp_path / "notes").stderr
    assert {file for file in notes(invoke) if not file.startswith("notes/")} == {
        "claude-code-memory/-home-ann-shop/memory/MEMORY.md",
        "claude-code-memory/-home-ann-shop/memory/topics/deploy.md",
        "codex-memory/MEMORY.md",
    }
    [found, *_] = ask_json(invoke, "search", "latin reader importer")["results"]
    assert (found["start_line"], found["origin"], found["trusted"]) == (301, "assistant", True)
