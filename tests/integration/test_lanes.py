"""Lanes of upkeep: when they work, what they write down, and that of several processes one does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from upkeep_world import OBSERVED, observe
from wired import USUAL, embed_pending, lanes_of, phases, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder, ScriptedGenerator
from clawmem.app.services.leases import WorkLease
from clawmem.app.services.maintenance.consolidation import Consolidation
from clawmem.app.services.maintenance.lanes import Lanes
from clawmem.app.settings.model import LaneSettings
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.schedule import LEASE_MS, LaneName
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.ports.errors import VaultFull, VaultLocked
from clawmem.ports.journal import Run, RunStatus
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall, RecallHit
from clawmem.ports.vault import Vault

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000


class World:
    """A vault with something that was observed twice, and lanes over it."""

    def __init__(self, vault: Vault) -> None:
        self.vault, self.clock = vault, ManualClock(NOW_MS)
        observe(vault, self.clock, *OBSERVED)

    def lane(self, name: str, holder: str = "me", *, lease_ms: int = LEASE_MS) -> WorkLease:
        return WorkLease(name, self.vault.leases, self.clock, holder, lambda who: False, lease_ms=lease_ms)

    def lanes(
        self, plan: LaneSettings = USUAL, *, hour: int = 12, generator: ScriptedGenerator | None = None
    ) -> Lanes:
        work = phases(self.vault, self.clock, plan, generator)
        return lanes_of(self.vault, self.clock, self.lane, work, hour, plan)

    def asked(self, times: int, ago_ms: int) -> None:
        at = iso_utc(self.clock.now_ms() - ago_ms)
        for _ in range(times):
            self.vault.telemetry.record(Recall(at, "search", "abc", 1.0, 10))

    def served(self) -> list[Document]:
        return self.vault.documents.latest()


def rows(runs: list[Run]) -> list[tuple[str, str, str]]:
    return [(run.phase, run.status.value, run.reason) for run in runs]


@pytest.fixture
def world(vault: Vault) -> World:
    return World(vault)


def test_the_light_lane_says_what_it_would_do(world: World) -> None:
    """In a dry run it merges nothing; every phase of both runs is written down, with what was decided."""
    seen = world.lanes(LaneSettings(dry_run=True)).tick(LaneName.LIGHT)
    [merging] = [run for run in seen if run.phase == "consolidate"]
    assert (merging.selected, merging.created, merging.metrics["dry_run"]) == (2, 0, True)
    assert len(world.served()) == 2

    done = world.lanes().tick(LaneName.LIGHT)
    assert [(run.phase, run.status.value, run.reason) for run in done] == [
        ("enrich", "completed", ""),
        ("consolidate", "completed", ""),
        ("deductive", "skipped", "no_generator"),
        ("recall", "completed", ""),
    ]
    assert len(world.served()) == 1
    assert world.vault.journal.runs(9) == [*reversed(done), *reversed(seen)]
    metrics = done[1].metrics
    assert (metrics["selector"], metrics["trends"]) == ("newest-first", {"new": 1})
    assert metrics["decisions"] == [
        {
            "verdict": "merge",
            "documents": [2, 1],
            "why": "they say the same words",
            "score": 1.0,
            "made": world.served()[0].id,
        }
    ]


def test_the_heavy_lane_merges_and_says_that_it_cannot_conclude(world: World) -> None:
    """It applies what it finds, dry run or not; without a model the second phase is skipped, and it enriches nothing."""
    ticked = world.lanes(LaneSettings(dry_run=True)).tick(LaneName.HEAVY)

    assert rows(ticked) == [("consolidate", "completed", ""), ("deductive", "skipped", "no_generator")]
    assert len(world.served()) == 1
    assert ticked[0].metrics["selector"] == "stale-first"


def test_while_somebody_asks_much_the_heavy_lane_rests(world: World) -> None:
    """More than thirty questions within ten minutes are too many; those of eleven minutes ago do not count."""
    world.asked(30, 0)
    world.asked(9, 11 * 60_000)
    assert rows(world.lanes(LaneSettings(window_start=3, window_end=4)).tick(LaneName.HEAVY)) == [
        ("gate", "skipped", "outside_window")
    ]
    world.asked(1, 9 * 60_000)
    assert rows(world.lanes().tick(LaneName.HEAVY)) == [("gate", "skipped", "query_rate_high")]

    world.clock.advance(10 * 60_000)
    assert rows(world.lanes().tick(LaneName.HEAVY))[0] == ("consolidate", "completed", "")


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
    assert (ticked[0].created, ticked[0].metrics["contradictions"]) == (1, 1)


def test_a_lane_that_is_told_to_end_ends(world: World) -> None:
    """Between two effects; what was not begun is not done, and the lane is free for the next."""
    assert rows(world.lanes().tick(LaneName.LIGHT, stops=lambda: True)) == [("enrich", "failed", "stopped")]
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


def test_the_light_lane_enriches_what_is_new(world: World) -> None:
    """Rules enrich all that waits, a model the three that were changed last; its calls are counted in the journal."""
    observe(world.vault, world.clock, "Mira pays the rent", "The boat needs a sail")

    def noting(prompt: str) -> str:
        return json.dumps(
            {"patterns": [], "deductions": [], "keywords": ["boat"], "tags": ["sea"], "context": "A boat."}
        )

    [enriched, *_] = world.lanes(generator=ScriptedGenerator(noting)).tick(LaneName.LIGHT)
    assert (enriched.phase, enriched.status.value) == ("enrich", "completed")
    assert (enriched.metrics["by_rules"], enriched.metrics["by_model"] + enriched.metrics["failed"]) == (4, 3)
    assert enriched.metrics["waiting"] == 4 - enriched.metrics["by_model"]
    assert {cost.purpose for cost in world.vault.ledger.totals()} > {"patterns"}

    [off, *_] = world.lanes(LaneSettings(enrich=False)).tick(LaneName.LIGHT)
    assert (off.phase, off.reason) == ("enrich", "off")


def test_the_light_lane_deletes_old_recalls(world: World) -> None:
    """What was surfaced is counted; what is older than it may get goes, the journal too."""
    hits = (RecallHit(1, 1, 0.9, was_referenced=True),)
    for days in (100, 5, 3):
        world.clock.set(NOW_MS - days * DAY_MS)
        at = iso_utc(world.clock.now_ms())
        world.vault.telemetry.record(Recall(at, CONTEXT_SURFACING, f"q{days}", 1.0, 3, (), hits, "s"))
        world.vault.journal.begin(Run("light", "gate", RunStatus.SKIPPED, at, finished_at=at))
    world.clock.set(NOW_MS)

    tidied = world.lanes().tick(LaneName.LIGHT)[-1]
    assert (tidied.phase, tidied.selected) == ("recall", 1)
    assert (tidied.metrics["recalls_gone"], tidied.metrics["runs_gone"]) == (1, 1)
    assert world.vault.telemetry.count() == 2


class Ticks:
    """A stop that lets a lane tick so often, and moves the clock instead of waiting."""

    def __init__(self, clock: ManualClock, times: int) -> None:
        self._clock, self._left = clock, times
        self.waited: list[float] = []

    def is_set(self) -> bool:
        return self._left == 0

    def wait(self, timeout: float) -> bool:
        self.waited.append(timeout)
        self._clock.advance(round(timeout * 1000))
        self._left -= 1
        return self.is_set()


def test_a_lane_keeps_its_pace(world: World) -> None:
    """Every five minutes, of which every third concludes and every sixth merges; a restart begins nothing anew."""
    generator = ScriptedGenerator(lambda prompt: json.dumps({"patterns": [], "deductions": []}))
    for times in (3, 4):
        world.lanes(generator=generator).serve(LaneName.LIGHT, Ticks(world.clock, times))

    everything = ["enrich", "consolidate", "deductive", "recall"]
    usual = ["enrich", "recall"]
    ticks = [everything, usual, usual, ["enrich", "deductive", "recall"], usual, usual, everything]
    phases_of_ticks = [phase for phases_of_tick in ticks for phase in phases_of_tick]
    assert [run.phase for run in reversed(world.vault.journal.runs(99))] == phases_of_ticks


def test_of_two_hosts_one_has_each_tick(world: World) -> None:
    """Who finds that another was faster waits for the next one, and writes nothing."""
    mine, other = world.lanes(), world.lanes()
    mine.serve(LaneName.LIGHT, Ticks(world.clock, 1))
    world.clock.advance(-200_000)
    before = world.vault.journal.runs(99)

    stop = Ticks(world.clock, 1)
    other.serve(LaneName.LIGHT, stop)
    assert stop.waited == [200.0]
    world.clock.advance(-200_000)
    assert other.tick(LaneName.LIGHT, paced=True) == []
    assert world.vault.journal.runs(99) == before


def test_a_vault_that_is_busy_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever keeps it from taking the lease: it is a row of the journal, and no error."""

    def busy(*_: Any, **__: Any) -> None:
        raise VaultLocked("vault.sqlite")

    monkeypatch.setattr(WorkLease, "acquire", busy)

    assert rows(world.lanes().tick(LaneName.LIGHT)) == [("gate", "skipped", "lease_unavailable")]


def test_what_is_unlike_anything_comes_first_where_that_was_chosen(world: World) -> None:
    """Without vectors it is what is stale, and the journal says so; with them the odd one out is the first."""
    surprised = LaneSettings(surprisal=True, obs_limit=1)
    first = world.lanes(surprised).tick(LaneName.HEAVY)[0]
    assert first.metrics["selector"] == "surprisal-fallback-stale"

    observe(
        world.vault, world.clock, *(f"Mira waters plant {word} at noon" for word in "abcdef"), "Boats sink"
    )
    embed_pending(world.vault, HashingEmbedder())()
    selector, documents = wired(world.vault).observations().surprising(2, lambda: None)

    assert selector == "surprisal"
    assert {one.title for one in documents} == {OBSERVED[1], "Boats sink"}
