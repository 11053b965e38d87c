"""Lanes of upkeep: when they work, what they write down, and that of several processes one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from typer.testing import CliRunner

import clawmem
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.cli.command_line import cli
from clawmem.app.serve.lanes import lane_threads
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.maintenance.consolidation import Consolidation
from clawmem.app.services.maintenance.lane import Lane
from clawmem.app.services.maintenance.lane_plan import USUAL, Plan, read_plan
from clawmem.app.services.maintenance.lanes import Lanes, Ticked
from clawmem.app.services.maintenance.synthesis import Synthesis
from clawmem.app.settings import load_settings
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.domain.maintenance.schedule import LEASE_MS, LaneName, Window
from clawmem.ports.errors import ConfigError, VaultFull
from clawmem.ports.journal import RunStatus
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall

NOW_MS = 1_700_000_000_000
TWICE = ("The export of Hartmann fails on Fridays", "The export of Hartmann fails on Fridays!")


class World:
    """A vault with something that was observed twice, and lanes over it."""

    def __init__(self, vault: SqliteVault) -> None:
        self.vault, self.clock = vault, ManualClock(NOW_MS)
        observe(vault, self.clock, *TWICE)

    def lane(self, name: str, holder: str = "me", *, lease_ms: int = LEASE_MS) -> Lane:
        return Lane(name, self.vault.leases, self.clock, holder, lambda who: False, lease_ms=lease_ms)

    def lanes(
        self, plan: Plan = USUAL, *, hour: int = 12, generator: ScriptedGenerator | None = None
    ) -> Lanes:
        return Lanes(
            self.vault,
            self.clock,
            self.lane,
            Consolidation(self.vault, self.clock, generator),
            Synthesis(self.vault, self.clock, generator) if generator else None,
            lambda at_ms: hour,
            plan,
        )

    def asked(self, times: int, ago_ms: int) -> None:
        at = iso_utc(self.clock.now_ms() - ago_ms)
        for _ in range(times):
            self.vault.telemetry.record(Recall(at, "search", "abc", 1.0, 10))

    def served(self) -> list[Document]:
        return self.vault.documents.latest()


def observe(vault: SqliteVault, clock: ManualClock, *texts: str) -> None:
    with vault.writing():
        for number, text in enumerate(texts, start=len(vault.documents.latest())):
            path = f"agent/observations/2023-11-1{number}-one-observation-{number}.md"
            Memories(vault, clock).write(path, text, f"# {text}\n\n> {text}\n", "observation", 0.8)


def rows(ticked: Ticked) -> list[tuple[str, str, str]]:
    return [(run.phase, run.status.value, run.reason) for run in ticked.runs]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    vault = SqliteVault(str(tmp_path / "vault.sqlite"))
    yield World(vault)
    vault.close()


def test_the_light_lane_says_what_it_would_do(world: World) -> None:
    """Unless it was told to apply it, it merges nothing; both runs are written down."""
    seen = world.lanes().tick(LaneName.LIGHT)
    assert seen.summary == "light: consolidate: 2 looked at, 0 made, 0 refused (dry run)"
    assert len(world.served()) == 2

    done = world.lanes(Plan(light_applies=True)).tick(LaneName.LIGHT)
    assert done.summary == "light: consolidate: 2 looked at, 1 made, 0 refused"
    assert len(world.served()) == 1
    assert world.vault.journal.runs(9) == [*done.runs, *seen.runs]
    assert done.runs[0].metrics["selector"] == "newest-first"


def test_the_heavy_lane_merges_and_says_that_it_cannot_conclude(world: World) -> None:
    """It applies what it finds; without a model the second phase is skipped, and that is written down."""
    ticked = world.lanes().tick(LaneName.HEAVY)

    assert rows(ticked) == [("consolidate", "completed", ""), ("deductive", "skipped", "no_generator")]
    assert len(world.served()) == 1
    assert ticked.runs[0].metrics["selector"] == "stale-first"


def test_outside_of_its_hours_the_heavy_lane_rests(world: World) -> None:
    """One row says why; with ``now`` it works all the same."""
    lanes = world.lanes(Plan(Window(22, 6)), hour=12)

    assert rows(lanes.tick(LaneName.HEAVY)) == [("gate", "skipped", "outside_window")]
    assert rows(lanes.tick(LaneName.HEAVY, now=True))[0] == ("consolidate", "completed", "")
    assert [run.phase for run in world.vault.journal.runs(9)] == ["deductive", "consolidate", "gate"]


def test_while_somebody_asks_much_the_heavy_lane_rests(world: World) -> None:
    """More than thirty questions within ten minutes are too many; those of eleven minutes ago do not count."""
    world.asked(30, 0)
    world.asked(9, 11 * 60_000)
    assert rows(world.lanes(Plan(Window(3, 3))).tick(LaneName.HEAVY)) == [
        ("gate", "skipped", "outside_window")
    ]
    world.asked(1, 9 * 60_000)
    assert rows(world.lanes().tick(LaneName.HEAVY)) == [("gate", "skipped", "query_rate_high")]

    world.clock.advance(10 * 60_000)
    assert rows(world.lanes().tick(LaneName.HEAVY))[0] == ("consolidate", "completed", "")


def test_a_lane_that_another_has_is_left_to_it(world: World) -> None:
    """A row says so, nothing is changed; the other lane is free."""
    assert world.lane(LaneName.LIGHT.lease, "another").enter()

    assert rows(world.lanes().tick(LaneName.LIGHT)) == [("gate", "skipped", "lease_unavailable")]
    assert rows(world.lanes().tick(LaneName.HEAVY))[0] == ("consolidate", "completed", "")


def test_who_lost_the_lane_writes_nothing(world: World) -> None:
    """Its lease runs out while a model thinks, another one takes over: the merge is not made, and no phase follows."""
    other = world.lane(LaneName.HEAVY.lease, "another")

    def slow(prompt: str) -> str:
        world.clock.advance(LEASE_MS)
        assert other.enter()
        return json.dumps({"patterns": []})

    ticked = world.lanes(generator=ScriptedGenerator(slow)).tick(LaneName.HEAVY)

    assert rows(ticked) == [("consolidate", "failed", "lease_lost")]
    assert len(world.served()) == 2
    other.check()


def test_work_that_outlasts_the_lease_keeps_it(world: World) -> None:
    """Each effect renews the right to the next: three slow answers take longer than one lease."""
    observe(world.vault, world.clock, "The export job takes 30 minutes", "The export job takes 45 minutes")

    def slow(prompt: str) -> str:
        world.clock.advance(LEASE_MS - 60_000)
        if "Can both" in prompt:
            return json.dumps({"contradictory": True, "confidence": 0.9, "reason": "as told"})
        return json.dumps({"patterns": [], "deductions": []})

    ticked = world.lanes(generator=ScriptedGenerator(slow)).tick(LaneName.HEAVY)

    assert [row[1:] for row in rows(ticked)] == [("completed", "")] * 2
    assert (ticked.runs[0].created, ticked.runs[0].metrics["contradictions"]) == (1, 1)


def test_a_lane_that_is_told_to_end_ends(world: World) -> None:
    """Between two effects; what was not begun is not done, and the lane is free for the next."""
    ticked = world.lanes(Plan(light_applies=True)).tick(LaneName.LIGHT, told=lambda: True)

    assert rows(ticked) == [("consolidate", "failed", "stopped")]
    assert len(world.served()) == 2
    assert world.vault.leases.current(LaneName.LIGHT.lease, now_ms=world.clock.now_ms()) is None


def test_the_second_phase_runs_though_the_first_failed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row has the reason, and the lane is given back."""

    def full(*_: Any, **__: Any) -> None:
        raise VaultFull("vault.sqlite")

    monkeypatch.setattr(Consolidation, "__call__", full)
    generator = ScriptedGenerator(lambda prompt: json.dumps({"deductions": []}))

    ticked = world.lanes(generator=generator).tick(LaneName.HEAVY)

    assert rows(ticked) == [("consolidate", "failed", "phase2_exception"), ("deductive", "completed", "")]
    assert world.vault.leases.current(LaneName.HEAVY.lease, now_ms=world.clock.now_ms()) is None


def test_a_killed_run_stays_unfinished(world: World) -> None:
    """A row that was begun and never ended says so."""

    def killed(prompt: str) -> str:
        raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        world.lanes(generator=ScriptedGenerator(killed)).tick(LaneName.HEAVY)

    [run] = world.vault.journal.runs(9)
    assert (run.status, run.finished_at) == (RunStatus.STARTED, "")


@pytest.mark.parametrize(
    ("section", "plan"),
    [
        ({}, Plan()),
        ({"window_start": 22, "window_end": "6", "max_usages": 5}, Plan(Window(22, 6), 5)),
        ({"obs_limit": 7, "ded_limit": 8, "light_applies": True}, Plan(heavy_limit=7, deduction_limit=8, light_applies=True)),
        ({"contradictions": "supersede"}, Plan(contradictions=Policy.SUPERSEDE)),
        ({"light": "off", "heavy": "TRUE"}, Plan(hosted=(LaneName.HEAVY,))),
    ],
)  # fmt: skip
def test_the_plan_is_what_the_owner_chose(section: dict[str, Any], plan: Plan) -> None:
    """What is not said is as usual; the environment says numbers as text."""
    assert read_plan(section) == plan


@pytest.mark.parametrize(
    "section",
    [{"window_start": 24}, {"window_end": -1}, {"obs_limit": "many"}, {"max_usages": True}, {"hours": 3},
     {"contradictions": "both"}, {"light_applies": "maybe"}],
)  # fmt: skip
def test_a_plan_that_makes_no_sense_is_refused(section: dict[str, Any]) -> None:
    """Rather than guessed at."""
    with pytest.raises(ConfigError):
        read_plan(section)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAWMEM_NO_LOCAL_MODELS", "true")
    path = tmp_path / "vault.sqlite"
    vault = SqliteVault(str(path))
    observe(vault, ManualClock(NOW_MS), *TWICE)
    vault.close()

    def invoke(*words: str, code: int = 0) -> Any:
        done = CliRunner().invoke(cli, ["--vault", str(path), *words])
        assert done.exit_code == code, done.output
        return json.loads(done.stdout) if "--json" in words else done.stdout

    yield invoke


def test_the_command_merges_shows_and_takes_back(invoke: Callable[..., Any]) -> None:
    """What a person sees: a preview, the merge, the journal, and both notes again."""
    assert "2 notes, they say the same words" in invoke("lanes", "run", "--lane", "light")
    assert "1 made" in invoke("lanes", "run", "--lane", "light", "--apply")
    told = invoke("lanes", "status", "--json")
    assert told["workers"] == {"light": None, "heavy": None}
    assert [(run["created"], run["metrics"]["dry_run"]) for run in told["runs"]] == [(1, False), (0, True)]

    [found] = invoke("search", "export Hartmann Fridays", "--json")["results"]
    undone = invoke("lanes", "undo", found["file"], "--json")

    assert undone["undone"] == found["file"]
    assert len(undone["restored"]) == 2
    assert len(invoke("search", "export Hartmann Fridays", "--json")["results"]) == 2


def test_a_server_works_in_the_lanes_that_are_on(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    """None unless it is told to; one that is on works, and ends soon when it is told to."""
    assert lane_threads(None, pytest.fail) == []
    environ = {"HOME": str(tmp_path), "CLAWMEM_NO_LOCAL_MODELS": "true"}
    path = tmp_path / "vault.sqlite"
    assert lane_threads(load_settings(vault=path, environ=environ), pytest.fail) == []

    settings = load_settings(vault=path, environ={**environ, "CLAWMEM_HEAVY_LANE": "true"})
    [thread] = lane_threads(settings, pytest.fail)
    thread.start()
    until = monotonic() + 20
    while not (runs := invoke("lanes", "status", "--json")["runs"]) or not runs[0]["finished_at"]:
        assert monotonic() < until
    thread.close()

    assert {run["lane"] for run in runs} == {"heavy"}
    assert monotonic() < until
    assert invoke("lanes", "status", "--json")["workers"]["heavy"] is None


def test_lanes_that_make_no_sense_keep_no_server_from_serving(tmp_path: Path) -> None:
    """What is wrong is told, and no lane works."""
    told: list[BaseException] = []
    environ = {"HOME": str(tmp_path), "CLAWMEM_HEAVY_LANE": "perhaps"}

    assert lane_threads(load_settings(vault=tmp_path / "v.sqlite", environ=environ), told.append) == []
    assert [str(error) for error in told] == ["lanes: heavy must be true or false, not 'perhaps'."]


RACER = """
import sys
from pathlib import Path
from clawmem.app.opened import open_services
from clawmem.app.settings import load_settings

with open_services(load_settings(vault=Path(sys.argv[1]))) as services:
    lane = services.parts.lane("light-consolidation", lease_ms=600_000)
    print("ready", flush=True)
    sys.stdin.readline()
    print(lane.enter(), flush=True)
    sys.stdin.readline()
"""


@contextmanager
def racers(vault: Path, home: Path, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    packages = [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH", "")]
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(packages)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", "-c", RACER, str(vault)]
    running = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environ) for _ in range(count)
    ]
    try:
        yield running
    finally:
        for one in running:
            one.kill()
            one.communicate()


def test_of_two_processes_one_works(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    """Whoever is first; a third one leaves it alone until it was killed, and then has a newer token."""
    path = tmp_path / "vault.sqlite"
    with racers(path, tmp_path, 2) as running:
        assert [one.stdout.readline() for one in running if one.stdout] == ["ready\n"] * 2
        for one in running:
            assert one.stdin
            one.stdin.write("go\n")
            one.stdin.flush()
        entered = [one.stdout.readline().strip() for one in running if one.stdout]
        assert sorted(entered) == ["False", "True"]

        [skipped] = invoke("lanes", "run", "--lane", "light", "--json")["runs"]
        assert (skipped["phase"], skipped["reason"]) == ("gate", "lease_unavailable")
        assert invoke("lanes", "status", "--json")["workers"]["light"]
        winner = running[entered.index("True")]
        winner.kill()
        winner.wait()
        [done] = invoke("lanes", "run", "--lane", "light", "--json")["runs"]
        assert done["status"] == "completed"

    vault = SqliteVault(str(path))
    lease = vault.leases.acquire("light-consolidation", "me", now_ms=NOW_MS, ttl_ms=1)
    runs = vault.journal.runs(9)
    vault.close()
    assert lease is not None and lease.token == 3
    assert [run.status for run in runs] == [RunStatus.COMPLETED, RunStatus.SKIPPED]
