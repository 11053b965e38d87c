"""The lanes at the command line, in a server, and of several hosts."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from command_process import start_process
from process_environ import process_environ
from programs import let_go, start_program
from typer.testing import CliRunner
from upkeep_world import OBSERVED, observe

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.interfaces.cli.command_line import cli
from clawmem.app.serve.background import at_work, lane_threads
from clawmem.app.settings.model import load_settings
from clawmem.ports.journal import RunStatus

NOW_MS = 1_700_000_000_000


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAWMEM_NO_LOCAL_MODELS", "true")
    path = tmp_path / "vault.sqlite"
    vault = open_vault(str(path))
    observe(vault, ManualClock(NOW_MS), *OBSERVED)
    vault.close()

    def invoke(*words: str, code: int = 0) -> Any:
        done = CliRunner().invoke(cli, ["--vault", str(path), *words])
        assert done.exit_code == code, done.output
        return json.loads(done.stdout) if "--json" in words else done.stdout

    yield invoke


def test_the_command_merges_shows_and_takes_back(invoke: Callable[..., Any]) -> None:
    """What a person sees: a preview, the merge, the journal, and both notes again."""
    assert invoke("maintain", "--journal", "--json")["runs"] == []
    assert "they say the same words" in invoke("maintain", "light", "--dry-run")
    assert "merge" in invoke("maintain", "light")
    told = invoke("maintain", "--json")
    assert (told["workers"], told["on"]) == ({"light": None, "heavy": None}, [])
    merging = [run for run in told["runs"] if run["phase"] == "consolidate"]
    assert [(run["created"], run["metrics"]["dry_run"]) for run in merging] == [(1, False)]

    [found] = invoke("search", "export Hartmann Fridays", "--json")["results"]
    undone = invoke("undo", "--merge", found["file"], "--json")

    assert undone["count"] == len(undone["restored"]) == 2
    originals = invoke("search", "export Hartmann Fridays", "--json")["results"]
    assert len(originals) == 2
    invoke("undo", "--merge", originals[0]["file"], code=3)  # no lane has made it


def test_a_server_works_in_the_lanes_that_are_on(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    """None unless it is told to; one that is on works, and ends soon when it is told to."""
    environ = {"HOME": str(tmp_path), "CLAWMEM_NO_LOCAL_MODELS": "true"}
    path = tmp_path / "vault.sqlite"
    assert (
        lane_threads(
            load_settings(vault=path, environ=environ), lambda lane, error: pytest.fail(f"{lane}: {error}")
        )
        == []
    )

    settings = load_settings(vault=path, environ={**environ, "CLAWMEM_HEAVY_LANE": "true"})
    threads, until = (
        lane_threads(settings, lambda lane, error: pytest.fail(f"{lane}: {error}")),
        monotonic() + 60,
    )
    with at_work(threads):
        while not (runs := invoke("maintain", "--json")["runs"]) or not runs[0]["finished_at"]:
            assert monotonic() < until

    assert {run["lane"] for run in runs} == {"heavy"}
    assert not any(thread.is_alive() for thread in threads)
    assert invoke("maintain", "--json")["workers"]["heavy"] is None


RACER = """
import sys
from pathlib import Path
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.settings.model import load_settings

with open_services(load_settings(vault=Path(sys.argv[1]))) as services:
    lease = services.work_lease("light-consolidation", lease_ms=600_000)
    print("ready", flush=True)
    sys.stdin.readline()
    print(lease.acquire(), flush=True)
    sys.stdin.readline()
"""


def test_the_journal_says_why(invoke: Callable[..., Any]) -> None:
    """Which notes were taken for the same and why, by their titles, and by their places for programs."""
    invoke("maintain", "light")

    [merged] = [line for line in invoke("maintain", "--journal").splitlines() if line.startswith("merge")]
    assert merged.count("_clawmem/agent/observations/") == 2
    assert "they say the same words" in merged and "_clawmem/agent/consolidated" in merged
    [run] = [
        one for one in invoke("maintain", "--journal", "--json")["runs"] if one["phase"] == "consolidate"
    ]
    assert [len(one["notes"]) for one in run["metrics"]["decisions"]] == [2]
    assert all(
        place.startswith("_clawmem/agent/observations/") for place in run["metrics"]["decisions"][0]["notes"]
    )
    assert invoke("maintain", "--journal", "--lane", "heavy", "--json")["runs"] == []
    assert "trends: " in invoke("maintain")


@pytest.mark.parametrize("host", ["watch", "mcp"])
def test_other_hosts_work_in_the_lanes_too(tmp_path: Path, invoke: Callable[..., Any], host: str) -> None:
    """Their worker ends with its work; where a host ends with a session, one line says that the quiet hours may not come."""
    chosen = {"CLAWMEM_HEAVY_LANE": "true", "CLAWMEM_NO_LOCAL_MODELS": "true"}
    pipe = subprocess.PIPE
    command, pipes = (
        ("--vault", tmp_path / "vault.sqlite", host),
        {"stdin": pipe, "stdout": pipe, "stderr": pipe},
    )
    with start_process(*command, environ=process_environ(tmp_path, **chosen), text=True, **pipes) as process:
        until = monotonic() + 40
        try:
            shown = invoke("maintain", "--json")
            while not any(run["finished_at"] for run in shown["runs"]) or shown["workers"]["heavy"]:
                assert monotonic() < until, process.poll()
                shown = invoke("maintain", "--json")
            process.terminate()
            _, errors = process.communicate(timeout=40)
        finally:
            process.kill()

    assert {run["lane"] for run in shown["runs"]} == {"heavy"} and shown["runs"][0]["finished_at"]
    assert errors.count("quiet hours") == (host == "mcp")


def test_of_two_processes_one_works(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    """Whoever is first; a third one leaves it alone until it was killed, then has it at once and gives it back."""
    path = tmp_path / "vault.sqlite"
    running = [start_program(RACER, path, environ=process_environ(tmp_path)) for _ in range(2)]
    with running[0], running[1]:
        let_go(*running)
        entered = [one.stdout.readline().strip() for one in running if one.stdout]
        assert sorted(entered) == ["False", "True"]

        [skipped] = invoke("maintain", "light", "--json")["runs"]
        assert (skipped["phase"], skipped["reason"]) == ("gate", "lease_unavailable")
        assert invoke("maintain", "--json")["workers"]["light"]
        winner = running[entered.index("True")]
        winner.kill()
        winner.wait()
        assert invoke("maintain", "light", "--json")["runs"][1]["status"] == "completed"

    vault = open_vault(str(path))
    lease = vault.leases.acquire("light-consolidation", "me", now_ms=NOW_MS, ttl_ms=1)
    runs = vault.journal.runs(9, phase="gate") + vault.journal.runs(9, phase="consolidate")
    vault.close()
    assert lease is not None  # given back when it was done
    assert [run.status for run in runs] == [RunStatus.SKIPPED, RunStatus.COMPLETED]


def everything(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table of a vault, the tables of its indexes, its journal and its leases included."""
    with closing(sqlite3.connect(path)) as file:
        names = [name for (name,) in file.execute("select name from sqlite_schema where type = 'table'")]
        shadows = [name for name in names if not _is_virtual(file, name)]
        return {name: file.execute(f'select * from "{name}"').fetchall() for name in shadows}


def _is_virtual(file: sqlite3.Connection, name: str) -> bool:
    (sql,) = file.execute("select sql from sqlite_schema where name = ?", (name,)).fetchone()
    return str(sql).lower().startswith("create virtual")


@pytest.mark.parametrize("lane", ["light", "heavy"])
def test_a_dry_run_writes_nothing(tmp_path: Path, invoke: Callable[..., Any], lane: str) -> None:
    """No table changes, be it the journal, a lease or a note; what would be done is said all the same."""
    before = everything(tmp_path / "vault.sqlite")
    files = {file.name for file in tmp_path.iterdir()} - {"vault.sqlite-shm", "vault.sqlite-wal"}

    said = invoke("maintain", lane, "--dry-run", "--now")
    told = invoke("maintain", lane, "--dry-run", "--now", "--json")

    assert "they say the same words" in said
    assert all(one["metrics"]["dry_run"] for one in told["runs"])
    assert everything(tmp_path / "vault.sqlite") == before
    assert {file.name for file in tmp_path.iterdir()} - {"vault.sqlite-shm", "vault.sqlite-wal"} == files
    assert "merge" in invoke("maintain", lane, "--now")
