"""Hooks when things go wrong: whatever happens they answer in time, lose nothing and keep nothing twice."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hook_process import Answered, answered, ask, command, transcript

import clawmem
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.hooks import runner
from clawmem.app.hooks.protocol import HookEvent
from clawmem.app.hooks.registry import HOOKS
from clawmem.app.hooks.state import state_folder

TURNS = (
    ("Where should the queue live?", "We could use Redis or Postgres."),
    ("Postgres, please.", "We decided to use Postgres for the queue because one database is enough."),
    ("And the tests?", "I will run them against a real server."),
)
DECISIONS = 2  # the one of the conversation, and the digest that names it
AT_STOP = ("decision-extractor", "handoff-generator", "feedback-loop")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    places = [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH", "")]
    return {
        **kept,
        "HOME": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(places),
    }


@pytest.fixture
def vault_file(tmp_path: Path, environ: dict[str, str]) -> Path:
    """A vault with a note, where hooks look for it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "queue.md").write_text("# The queue\n\nThe queue lives in Postgres since May.\n")
    subprocess.run(
        [sys.executable, "-P", "-m", "clawmem", "bootstrap", "notes", "--skip-embed"],
        check=True, capture_output=True, cwd=tmp_path, env=environ,
    )  # fmt: skip
    return tmp_path / ".cache" / "clawmem" / "index.sqlite"


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    """A transcript in which something was decided."""
    return transcript(tmp_path / "projects" / "5f0c.jsonl", *TURNS)


def event(name: str, conversation: Path, **fields: Any) -> dict[str, Any]:
    happening = HOOKS[name].event
    return {
        "session_id": "5f0c",
        "hook_event_name": happening,
        "transcript_path": str(conversation),
        **fields,
    }


def memories(vault_file: Path) -> Counter[str]:
    """How many documents of each type machines have stored."""
    vault = SqliteVault(str(vault_file), read_only=True)
    try:
        return Counter(one.content_type for one in vault.documents.latest() if one.collection == "_clawmem")
    finally:
        vault.close()


def started(environ: dict[str, str], home: Path, name: str, told: dict[str, Any]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command(name),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=home,
        env=environ,
    )
    assert process.stdin
    process.stdin.write(json.dumps(told).encode())
    process.stdin.close()
    process.stdin = None
    return process


def finished(process: subprocess.Popen[bytes]) -> Answered:
    output, log = process.communicate(timeout=60)
    return answered(process.returncode, output, log)


def test_eight_hooks_at_once(
    tmp_path: Path, environ: dict[str, str], vault_file: Path, conversation: Path
) -> None:
    """Each answers; what the turn decided is stored once, and one more Stop stores nothing more."""
    names = (*AT_STOP, *AT_STOP, "context-surfacing", "session-bootstrap")

    running = [
        started(
            environ, tmp_path, name, event(name, conversation, prompt="where does the queue live, and why?")
        )
        for name in names
    ]
    done = [finished(process) for process in running]

    assert {one.code for one in done} == {0}
    ask(environ, tmp_path, "handoff-generator", event("handoff-generator", conversation))  # whatever is left
    once = memories(vault_file)
    assert once["decision"] >= 1
    assert once["handoff"] == 1
    for name in AT_STOP:
        ask(environ, tmp_path, name, event(name, conversation))
    assert memories(vault_file) == once
    assert not list((state_folder(vault_file) / "spool").iterdir())


def test_killed_in_the_middle(
    tmp_path: Path, environ: dict[str, str], vault_file: Path, conversation: Path
) -> None:
    """At whichever moment a Stop is killed, the next one finishes it, and nothing is there twice."""
    told = event("decision-extractor", conversation)
    for after_s in (0.1, 0.25, 0.4, 0.55):
        process = started(environ, tmp_path, "decision-extractor", told)
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)
        process.communicate()

    assert ask(environ, tmp_path, "decision-extractor", told).code == 0
    ask(environ, tmp_path, "decision-extractor", told)

    assert memories(vault_file)["decision"] == DECISIONS
    assert not list((state_folder(vault_file) / "spool").iterdir())


def test_a_vault_that_somebody_is_writing(
    tmp_path: Path, environ: dict[str, str], vault_file: Path, conversation: Path
) -> None:
    """Readers do not wait; what a Stop cannot store waits in the spool, and is stored by the next one."""
    writer = apsw.Connection(str(vault_file))
    writer.execute("begin immediate")
    try:
        began = time.monotonic()
        prompt = ask(
            environ, tmp_path, "context-surfacing", event("context-surfacing", conversation, prompt="hi")
        )
        assert time.monotonic() - began < 4
        stop = ask(environ, tmp_path, "decision-extractor", event("decision-extractor", conversation))
    finally:
        writer.execute("rollback")
        writer.close()

    assert (prompt.code, stop.code) == (0, 0)
    assert len(list((state_folder(vault_file) / "spool").iterdir())) == 1
    ask(environ, tmp_path, "feedback-loop", event("feedback-loop", conversation))
    assert memories(vault_file)["decision"] == DECISIONS


@pytest.mark.parametrize("state", ["newer", "no vault", "a folder", "empty"])
@pytest.mark.parametrize("name", ["context-surfacing", "session-bootstrap", "decision-extractor"])
def test_a_vault_that_cannot_be_used(
    tmp_path: Path, environ: dict[str, str], conversation: Path, state: str, name: str
) -> None:
    """Silence, and the file stays what it is."""
    file = tmp_path / ".cache" / "clawmem" / "index.sqlite"
    file.parent.mkdir(parents=True)
    if state == "newer":
        SqliteVault(str(file)).close()
        connection = apsw.Connection(str(file))
        connection.pragma("user_version", 999)
        connection.close()
    elif state == "a folder":
        file.mkdir()
    else:
        file.write_bytes(b"" if state == "empty" else b"not a vault" * 500)
    before = file.read_bytes() if file.is_file() else b""

    done = ask(
        environ, tmp_path, name, event(name, conversation, prompt="where does the queue live, and why?")
    )

    assert (done.code, done.context) == (0, "")
    if state != "empty" or name != "decision-extractor":
        assert (file.read_bytes() if file.is_file() else b"") == before


@pytest.mark.parametrize("path", ["/no/such/file.jsonl", "/etc/passwd", "\0.jsonl"])
def test_a_transcript_that_is_none(
    tmp_path: Path, environ: dict[str, str], vault_file: Path, path: str
) -> None:
    """Nothing is stored, nothing waits for ever."""
    for name in AT_STOP:
        done = ask(
            environ, tmp_path, name, {"hook_event_name": "Stop", "session_id": "x", "transcript_path": path}
        )
        assert done.code == 0

    assert not memories(vault_file)
    spool = state_folder(vault_file) / "spool"
    assert not spool.exists() or not list(spool.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="limits on files are set by a shell of Linux")
def test_a_disk_that_is_full(
    tmp_path: Path, environ: dict[str, str], vault_file: Path, conversation: Path
) -> None:
    """No file may grow any more: every hook answers, and once there is room the same Stop stores everything."""
    limited = f"ulimit -f 0; exec {shlex.join(command('decision-extractor'))} 2>/dev/null | cat"
    told = json.dumps(event("decision-extractor", conversation)).encode()

    done = subprocess.run(
        ["bash", "-c", limited],
        check=False,
        input=told,
        capture_output=True,
        cwd=tmp_path,
        env=environ,
        timeout=60,
    )

    assert json.loads(done.stdout) == {"continue": True, "suppressOutput": False}
    assert not memories(vault_file)
    ask(environ, tmp_path, "decision-extractor", event("decision-extractor", conversation))
    assert memories(vault_file)["decision"] == DECISIONS


def test_a_client_that_goes_away(tmp_path: Path, environ: dict[str, str], vault_file: Path) -> None:
    """A pipe that nobody reads any more is no error worth telling."""
    with subprocess.Popen(
        command("session-bootstrap"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=tmp_path, env=environ,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.close()

        assert process.stderr.read() == b""
        assert process.wait() == 0


# -- growth -------------------------------------------------------------------------------------------


@pytest.fixture
def here(environ: dict[str, str], vault_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same surroundings for this process."""
    for name in [*os.environ]:
        if name.startswith(("CLAWMEM_", "XDG_", "CLAUDE")) or name == "INDEX_PATH":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", environ["HOME"])
    yield vault_file


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted there")
def test_two_thousand_calls_in_a_row(here: Path, conversation: Path) -> None:
    """No descriptor, thread or file more than after the first hundred; the log beside the vault stays short."""
    calls = [
        *[("context-surfacing", HookEvent("UserPromptSubmit", "s", prompt="hi"))] * 17,
        ("pretool-inject", HookEvent("PreToolUse", "s", tool_input={"file_path": "/app/queue.md"})),
        ("curator-nudge", HookEvent("SessionStart", "s", source="startup")),
        ("staleness-check", HookEvent("SessionStart", "s", source="startup")),
    ]

    def call(times: int) -> None:
        for number in range(times):
            name, told = calls[number % len(calls)]
            runner.call(name, told, lambda output: None)

    call(100)
    before = (descriptors(), threading.active_count(), sorted(here.parent.iterdir()))
    call(1_900)

    assert (descriptors(), threading.active_count(), sorted(here.parent.iterdir())) == before
    log = here.with_name(f"{here.name}-wal")
    assert not log.exists() or log.stat().st_size < 5_000_000


def test_fifty_processes_leave_nothing_behind(
    tmp_path: Path, environ: dict[str, str], vault_file: Path, conversation: Path
) -> None:
    """The same files beside the vault as after the first, and no process."""
    told = event("context-surfacing", conversation, prompt="ok")

    def files() -> list[str]:
        return sorted(path.name for path in vault_file.parent.rglob("*"))

    assert ask(environ, tmp_path, "context-surfacing", told).code == 0
    before = files()
    for _ in range(49):
        assert ask(environ, tmp_path, "context-surfacing", told).code == 0

    assert files() == before
