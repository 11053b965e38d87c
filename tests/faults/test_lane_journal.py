"""What the journal tells of runs that were killed, robbed of their lease or undone: what they did, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import upkeep_world as world
from upkeep_world import OBSERVED, observe
from wired import consolidation, lanes_of, phases

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.maintenance.consolidation import Consolidation
from clawmem.app.services.maintenance.phase_run import PhaseRun, with_notes
from clawmem.domain.maintenance.merge_gate import Group
from clawmem.domain.maintenance.schedule import LEASE_MS, LaneName
from clawmem.ports.errors import LeaseLost, VaultFull
from clawmem.ports.journal import RunStatus

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("phase", "told"),
    [
        ("enrich", {("enrich", 1), ("fail", 1)}),
        ("consolidate", {("merge", 2)}),
        ("deductive", {("conclude", 2)}),
        ("recall", set()),
    ],
)
def test_killed_before_it_could_say_that_it_is_done(
    vault_file: Path, phase: str, told: set[tuple[str, int]]
) -> None:
    """What it did is in the journal all the same, with which notes and why: it was told together with the effect."""
    world.killed_in(vault_file, phase, "after")

    with world.upkeep(vault_file) as services:
        [killed] = services.vault.journal.runs(1)
        assert (killed.phase, killed.status) == (phase, RunStatus.STARTED)
        assert killed.selected > 0 and (killed.processed > 0 or phase == "recall")
        decisions = killed.metrics.get("decisions", [])
        assert {(one["verdict"], len(one["documents"])) for one in decisions} == told
        assert all(one["why"] for one in decisions)
        made = [one["made"] for one in decisions if "made" in one]
        assert len(services.vault.documents.many(made)) == killed.created or phase in ("enrich", "recall")
        if phase == "consolidate":
            [held] = services.vault.journal.replacements()
            assert ([held.document_id], sorted(held.replaced)) == (made, sorted(decisions[0]["documents"]))
        assert len(with_notes(services.vault.documents, [killed])[0].metrics["decisions"]) == len(decisions)


@pytest.mark.parametrize("why", ["lease_lost", "phase2_exception"])
def test_what_was_undone_is_not_told(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    """The second of two merges is robbed of its lease, or undone when it was told: the journal tells of the first alone."""
    vault, clock = open_vault(":memory:"), ManualClock(NOW_MS)
    observe(vault, clock, *OBSERVED, "The heating of Leeds is off", "The heating of Leeds is off!")
    mine, other = world.two_leases(vault, clock, "heavy")

    merge = Consolidation._merge

    def merge_unluckily(self: Consolidation, group: Group, run: PhaseRun) -> None:
        if vault.journal.replacements():
            if why == "lease_lost":
                clock.advance(LEASE_MS)
                assert other.acquire()
            save = run.save

            def save_and_fail(run: PhaseRun) -> None:
                save(run)
                raise VaultFull("vault.sqlite")

            run.save = save_and_fail
        merge(self, group, run)

    monkeypatch.setattr(Consolidation, "_merge", merge_unluckily)
    work = phases(vault, clock)
    [run, *_] = lanes_of(vault, clock, lambda *_, **__: mine, work, 12).tick(LaneName.HEAVY)

    assert (run.status, run.reason, run.created) == (RunStatus.FAILED, why, 1)
    [held] = vault.journal.replacements()
    merged = [one["made"] for one in run.metrics["decisions"] if one["verdict"] == "merge"]
    assert merged == [held.document_id]
    assert vault.journal.run(run.id) == run
    vault.close()


def test_who_was_overtaken_writes_nothing_though_the_other_one_is_done() -> None:
    """The lease was lost, taken, given back and is free again: that does not make it the first one's again."""
    vault, clock = open_vault(":memory:"), ManualClock(NOW_MS)
    observe(vault, clock, *OBSERVED)
    mine, other = world.two_leases(vault, clock, "light")
    assert mine.acquire()
    clock.advance(LEASE_MS)
    assert other.acquire()
    other.release()

    def fence() -> None:
        mine.renew()
        mine.storage.check()

    with pytest.raises(LeaseLost):
        consolidation(vault, clock)(vault.documents.latest(), PhaseRun(fence))
    assert vault.journal.replacements() == []
    vault.close()
