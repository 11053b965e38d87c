"""A full disk, and one that cannot be written: questions are answered, everything else says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from command_line import Invoke
from command_process import run_process

NOTE = "# Harbour\n\nThe Harbour ferry leaves at nine.\n"
READING = (("search", "ferry"), ("query", "ferry"), ("list",), ("status",), ("get", "notes/harbour.md"))
WRITING = (("update",), ("pin", "notes/harbour.md"), ("diary", "write", "Walked."))
FULL = "The disk is full"


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of eight megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    done = None
    if sys.platform == "linux" and os.geteuid() == 0:
        with suppress(OSError):
            done = subprocess.run(mount, capture_output=True, check=False)
    if done is None or done.returncode:
        pytest.skip("only a superuser of Linux mounts a small disk")
    monkeypatch.setenv("CLAWMEM_FOCUS_ROOT", str(place / "focus"))
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)  # a file may still be open


@pytest.fixture
def vault(small_disk: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INDEX_PATH", str(small_disk / "vault.sqlite"))
    monkeypatch.setenv("CLAWMEM_FOCUS_ROOT", str(small_disk / "focus"))
    (tmp_path / "notes").mkdir(exist_ok=True)
    (tmp_path / "notes/harbour.md").write_text(NOTE, "utf-8")
    assert invoke("vault", "init").exit_code == 0
    assert invoke("update", "--embed").exit_code == 0
    return small_disk / "vault.sqlite"


def fill(disk: Path) -> None:
    with suppress(OSError), (disk / "filling").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_full_disk(vault: Path, tmp_path: Path, invoke: Invoke) -> None:
    """What reads answers as before; what writes says that the disk is full, and works when there is room."""
    before = {verb: invoke(*verb).stdout for verb in READING[:2]}
    (tmp_path / "notes/new.md").write_text("# New\n\nA new pier.\n", "utf-8")
    fill(vault.parent)

    for verb in READING:
        done = invoke(*verb)
        assert done.exit_code == 0, (verb, done.output)
        assert done.stdout == before.get(verb, done.stdout)
    for verb in (*WRITING, ("focus", "set", "--session-id", "s", "boats")):
        fill(vault.parent)  # what failed gave back what it had
        done = invoke(*verb)
        assert done.exit_code in (1, 5), (verb, done.output)
        assert done.stderr.startswith(f"clawmem: {FULL}"), (verb, done.stderr)
        assert "Free some space and repeat." in done.stderr
    examined = invoke("doctor")
    assert (examined.exit_code, f"FAIL  disk: {FULL}" in examined.stdout) == (1, True)
    assert "Free some space, or" in examined.stdout

    (vault.parent / "filling").unlink()
    for verb in (*WRITING, ("focus", "set", "--session-id", "s", "boats")):
        assert invoke(*verb).exit_code == 0, verb
    assert invoke("doctor", "--verify").exit_code == 0


@pytest.mark.parametrize("kilobytes", [800, 1100, 1500])
def test_too_little_room_for_a_new_vault(vault: Path, invoke: Invoke, tmp_path: Path, kilobytes: int) -> None:
    """However much is missing: the disk is named, nothing is left, and with more room the same command works."""
    vault.unlink()
    remount = ["mount", str(vault.parent), "-o"]
    subprocess.run([*remount, f"remount,size={kilobytes}k"], check=True)

    done = invoke("bootstrap", tmp_path / "notes")

    assert (done.exit_code, done.stderr.startswith(f"clawmem: {FULL}")) == (5, True), done.output
    assert not [*vault.parent.rglob("*vault*")]
    subprocess.run([*remount, "remount,size=8m"], check=True)
    assert invoke("bootstrap", tmp_path / "notes").exit_code == 0


@pytest.mark.parametrize("verb", [READING[1], WRITING[1]])
def test_no_room_for_a_byte(
    invoke: Invoke, tmp_path: Path, environ: dict[str, str], verb: tuple[str, ...]
) -> None:
    """A process that may make no file longer reads a vault all the same; what it cannot write, it names with a remedy."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/harbour.md").write_text(NOTE, "utf-8")
    assert invoke("vault", "init").exit_code == 0
    assert invoke("update", "--embed").exit_code == 0
    assert not Path(environ["INDEX_PATH"] + "-wal").exists()
    done = limited(0, *verb, environ=environ, cwd=tmp_path / "home")

    if verb in READING:
        assert done.returncode == 0, done.stderr
        assert "notes" in done.stdout
    else:
        assert done.returncode == 5
        assert "cannot be written" in done.stderr
        assert "then repeat." in done.stderr or "and repeat." in done.stderr


def test_no_room_for_a_new_vault(tmp_path: Path, environ: dict[str, str]) -> None:
    """The reason is the limit, and nothing is left that the next command would stumble over."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/harbour.md").write_text(NOTE, "utf-8")

    done = limited(300_000, "bootstrap", str(tmp_path / "notes"), environ=environ, cwd=tmp_path)

    assert (done.returncode, "ulimit -f" in done.stderr) == (5, True), done.stderr
    assert not Path(environ["INDEX_PATH"]).exists()


def limited(size: int, *verb: str, environ: dict[str, str], cwd: Path) -> CompletedProcess[str]:
    """Run a command that may make no file longer than *size*."""
    program = (
        f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
        "sys.argv = ['clawmem', *sys.argv[1:]]; runpy.run_module('clawmem', run_name='__main__')"
    )
    return run_process("-c", program, *verb, environ={**environ, "CLAWMEM_NO_LOCAL_MODELS": "true"}, cwd=cwd)
