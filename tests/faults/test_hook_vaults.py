"""Hooks over a vault that cannot be used, or not now: an answer all the same, and what was said is stored later."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from hook_process import AT_STOP, KNOWN, ONCE, QUESTION, Client

from clawmem.ports.sessions import session_key

WRITER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.pragma("locking_mode", sys.argv[2])
connection.execute("begin exclusive; update documents set access_count = access_count + 1")
print("writing", flush=True)
sys.stdin.read()
connection.execute("commit")
"""
NORMAL, EXCLUSIVE = "normal", "exclusive"  # the latter keeps readers out as well


@contextmanager
def another_writes(vault: Path, locking: str = NORMAL) -> Iterator[None]:
    """Meanwhile another process is in the middle of writing."""
    command = [sys.executable, "-c", WRITER, str(vault), locking]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout and writer.stdin
        assert writer.stdout.readline() == b"writing\n"
        yield
        writer.stdin.close()
    assert writer.returncode == 0


def test_a_vault_that_somebody_is_writing(client: Client) -> None:
    """A prompt is answered at once, a compaction when its time is over; a turn that ends meanwhile is stored after."""
    with another_writes(client.vault):
        prompt = client.start("context-surfacing", prompt=QUESTION)
        greeting = client.start("context-surfacing", prompt="hi")
        compaction = client.start("precompact-extract", trigger="auto")
        assert KNOWN in prompt.answer().context
        assert greeting.answer().context == ""
        stops = [client.start(name) for name in AT_STOP]
        compaction.answer()
        assert client.memories() == {}
    for running in stops:
        assert running.answer().log == ""

    assert client.memories() == ONCE
    assert client.waiting() == []
    assert "And the tests?" in (
        client.conversation.parent / f"memory/precompact-state-{session_key(client.session)}.md"
    ).read_text("utf-8")


@pytest.mark.slow
def test_a_vault_that_somebody_is_writing_for_long(client: Client) -> None:
    """A Stop gives up after ten seconds; its work waits in the spool, and whichever Stop comes next does it."""
    with another_writes(client.vault):
        assert all("is being written by another process" in one.log for one in client.stop())

    assert client.memories() == {}
    assert len(client.waiting()) == len(AT_STOP)
    client.ask("feedback-loop", session_id="another", transcript_path=str(client.home / "none.jsonl"))
    assert client.memories() == ONCE
    assert client.waiting() == []


@pytest.mark.slow
def test_a_vault_that_keeps_readers_out(client: Client) -> None:
    """Silence in time, from whichever hook; when the other one is done everything is there."""
    with another_writes(client.vault, EXCLUSIVE):
        running = [client.start(name, prompt=QUESTION) for name in ("context-surfacing", *AT_STOP)]
        assert {one.answer().context for one in running} == {""}

    assert KNOWN in client.ask("context-surfacing", prompt=QUESTION).context
    client.stop()
    assert client.memories() == ONCE
    assert client.waiting() == []


def newer(vault: Path) -> None:
    connection = apsw.Connection(str(vault))
    connection.pragma("user_version", 999)
    connection.close()


def a_folder(vault: Path) -> None:
    vault.unlink()
    vault.mkdir()


def cut(vault: Path) -> None:
    vault.write_bytes(vault.read_bytes()[: vault.stat().st_size // 2])


def overwritten(vault: Path) -> None:
    """The header is whole, and so is the schema; what lies behind them is not."""
    content = vault.read_bytes()
    vault.write_bytes(content[:16_384] + b"\xa5" * (len(content) - 16_384))


def garbage(vault: Path) -> None:
    vault.write_bytes(b"not a vault" * 500)


@pytest.mark.parametrize(
    "spoil", [newer, a_folder, pytest.param(cut, marks=pytest.mark.slow), overwritten, garbage]
)
def test_a_vault_that_cannot_be_used(client: Client, spoil: Callable[[Path], None]) -> None:
    """Silence, and the file stays as it is; once the vault is back, the turns that ended meanwhile are stored."""
    good = client.vault.read_bytes()
    spoil(client.vault)
    bad = client.vault.read_bytes() if client.vault.is_file() else None

    for name in ("context-surfacing", "decision-extractor"):
        assert client.ask(name, prompt=QUESTION).context == ""

    assert (client.vault.read_bytes() if client.vault.is_file() else None) == bad
    for rest in client.vault.parent.glob(f"{client.vault.name}*"):
        if rest.is_file() or rest == client.vault:
            rest.rmdir() if rest.is_dir() else rest.unlink()
    client.vault.write_bytes(good)
    client.ask("feedback-loop")
    assert client.memories()["decision"] == ONCE["decision"]
    assert client.waiting() == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits on files are set by a shell of Linux")
@pytest.mark.parametrize(
    "kilobytes", [40, *(pytest.param(size, marks=pytest.mark.slow) for size in (0, 1, 100))]
)
def test_a_disk_that_is_full(client: Client, kilobytes: int) -> None:
    """No file may grow beyond a size, so that each write fails somewhere else; with room again, all is stored once."""
    full = ("bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash")

    for prompt in (QUESTION, "hi"):
        client.ask("context-surfacing", prompt=prompt, under=full)
    stopping = [client.start(name, under=full) for name in AT_STOP]
    assert any(running.answer().log for running in stopping)

    assert KNOWN in client.ask("context-surfacing", prompt=QUESTION, session_id="another").context
    client.stop()
    assert client.memories() == ONCE
    assert client.waiting() == []
