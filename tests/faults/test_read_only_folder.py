"""A vault in a folder without write permission: questions are answered, and everything else says what is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from command_line import Invoke
from command_process import Run, run_process

OVERRIDES = "-dac_override,-dac_read_search"  # by which a superuser ignores permissions


@cache
def under_permissions() -> list[str]:
    """A command that takes the rights from a superuser to ignore permissions; nothing for other users."""
    if os.geteuid():
        return []
    command = ["setpriv", f"--bounding-set={OVERRIDES}", f"--inh-caps={OVERRIDES}"]
    if not shutil.which("setpriv") or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("this superuser cannot step down")
    return command


@pytest.fixture
def closed(tmp_path: Path, invoke: Invoke) -> Iterator[Path]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/lamp.md").write_text("# Lamp\n\nThe lamp is green.\n", "utf-8")
    assert invoke("update").exit_code == 0
    folder = tmp_path / "closed"
    folder.mkdir()
    shutil.copy(tmp_path / "vault.sqlite", folder)
    folder.chmod(0o500)
    yield folder / "vault.sqlite"
    folder.chmod(0o700)


@pytest.fixture
def run(closed: Path, environ: dict[str, str]) -> Run:
    def call(*arguments: str, vault: Path = closed) -> subprocess.CompletedProcess[str]:
        return run_process("--vault", vault, *arguments, environ=environ, under=under_permissions())

    return call


def test_it_answers_and_refuses_to_write(run: Run, closed: Path) -> None:
    """With the exit code of a vault that cannot serve, and the remedy; nothing changes."""
    before = closed.read_bytes()

    answered, refused = run("query", "lamp"), run("diary", "write", "lamp")

    assert answered.returncode == 0, answered.stderr
    assert "The lamp is green" in answered.stdout
    assert (refused.returncode, refused.stdout) == (5, "")
    assert f"{closed} cannot be written. Check its permissions and its folder's" in refused.stderr
    assert closed.read_bytes() == before
    assert list(closed.parent.iterdir()) == [closed]


def test_a_log_that_cannot_be_read(run: Run, closed: Path) -> None:
    """The message names the log and both ways to read it."""
    closed.parent.chmod(0o700)
    closed.with_name(f"{closed.name}-wal").write_bytes(b"frames")
    closed.parent.chmod(0o500)

    done = run("search", "lamp")

    assert done.returncode == 5
    assert f"its last changes are in {closed}-wal" in done.stderr
    assert f"Let its owner run: clawmem --vault {closed} status" in done.stderr


@pytest.mark.parametrize("command", ["search lamp", "diary write lamp"])
def test_a_folder_that_cannot_be_opened(
    run: Run, closed: Path, environ: dict[str, str], command: str
) -> None:
    """It is named, and no file in it that may not exist; nor is a vault in it called missing."""
    closed.parent.chmod(0)
    done = run(*command.split())
    environ = {**environ, "INDEX_PATH": "", "XDG_CACHE_HOME": str(closed.parent)}
    usual = run_process(*command.split(), environ=environ, under=under_permissions())
    closed.parent.chmod(0o700)

    assert (done.returncode, done.stdout) == (4, "")
    assert f"{closed.parent} cannot be read: Permission denied. Check its permissions" in done.stderr
    assert (usual.returncode, "index.sqlite cannot be reached: Permission denied" in usual.stderr) == (
        5,
        True,
    )


def test_doctor_names_what_cannot_be_written(run: Run, closed: Path) -> None:
    """The folder of the vault, or that of an external index next to it; the other checks go on."""
    (closed.parents[1] / "home/.claude").mkdir(mode=0)
    folder = run("doctor")
    closed.parent.chmod(0o700)
    indexes = closed.with_name(f"{closed.name}.indexes")
    indexes.mkdir(mode=0o500)
    index = run("doctor")
    indexes.rmdir()
    closed.chmod(0)
    assert "cannot be read. Check its permissions" in run("doctor", "--repair", "--yes").stderr

    for done, place in ((folder, closed.parent), (index, indexes)):
        assert done.returncode == 1
        assert f"FAIL  disk: {place} cannot be written" in done.stdout
        assert "FAIL  Claude Code: whether it is connected is unknown" in done.stdout


def test_doctor_names_a_folder_in_which_nothing_is_remembered(run: Run, tmp_path: Path) -> None:
    """Its notes are read all the same, so that it is no fault."""
    (tmp_path / "notes").chmod(0o500)

    done = run("doctor", vault=tmp_path / "vault.sqlite")

    assert f"ok    folder notes: {tmp_path}/notes; it cannot be written" in done.stdout


def test_notes_that_cannot_be_read_are_not_taken_for_missing(run: Run, closed: Path, tmp_path: Path) -> None:
    """Neither a file nor a folder, by any command."""
    vault, notes = tmp_path / "vault.sqlite", tmp_path / "notes"
    (notes / "deep").mkdir()
    assert run("collection", "add", str(notes / "deep"), vault=vault).returncode == 0
    (notes / "lamp.md").chmod(0)
    seen = [run(*command.split(), vault=vault) for command in (f"doctor {notes}/lamp.md", "doctor", "update")]
    notes.chmod(0)
    seen += [run(*verb.split(), vault=vault) for verb in ("doctor", "update")]
    readers = ("bootstrap", "import basic-memory", "mine")
    seen += [run(*verb.split(), str(notes), vault=vault) for verb in readers]
    assert run("status", vault=vault).returncode == 0
    assert "the check failed" not in seen[3].stdout
    notes.chmod(0o700)

    for done in seen:
        assert done.returncode in (1, 2) and "permission" in done.stdout + done.stderr, done
