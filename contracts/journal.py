from __future__ import annotations

from dataclasses import replace

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN
from clawmem.ports.journal import Replacement, Run, RunStatus
from clawmem.ports.vault import Vault

EIGHT, NINE = (f"2024-03-04T{hour:02}:00:00.000Z" for hour in (8, 9))
HEAVY = Run("heavy", "consolidate", RunStatus.STARTED, EIGHT)
LIGHT = Run("light", "gate", RunStatus.SKIPPED, NINE, "lease_unavailable", finished_at=NINE)
MERGED = Replacement(7, (3, 5), "they say the same", EIGHT)


class JournalContract(VaultContract):
    """Log of automatic maintenance, and undoing of replacements. Supply ``vault``: an EMPTY ``Vault``."""

    def test_runs_come_back_whole(self, vault: Vault) -> None:
        """A run is returned as begun, then as last updated; other runs are unchanged."""
        first, second = vault.journal.begin(HEAVY), vault.journal.begin(LIGHT)
        done = replace(
            HEAVY,
            id=first,
            status=RunStatus.FAILED,
            reason="phase2_exception",
            selected=9,
            processed=8,
            created=7,
            rejected=6,
            null_calls=5,
            metrics={"selector": "stale-first", "rejected": {"они": 2}, "share": 0.5},
            finished_at=NINE,
        )
        assert 0 < first < second
        assert vault.journal.runs(9) == [replace(LIGHT, id=second), replace(HEAVY, id=first)]

        vault.journal.update(done)
        assert vault.journal.runs(9) == [replace(LIGHT, id=second), done]
        assert (vault.journal.run(first), vault.journal.run(second)) == (done, replace(LIGHT, id=second))

    def test_the_last_runs(self, vault: Vault) -> None:
        """The newest runs are returned first, of all lanes or of one, up to the limit."""
        first, second, third = (vault.journal.begin(run) for run in (HEAVY, LIGHT, LIGHT))

        assert [run.id for run in vault.journal.runs(2)] == [third, second]
        assert [run.id for run in vault.journal.runs(1, "heavy")] == [first]
        assert [run.id for run in vault.journal.runs(9, phase="gate")] == [third, second]
        assert vault.journal.runs(9, "heavy", "gate") == []
        assert vault.journal.runs(0) == vault.journal.runs(-1) == vault.journal.runs(9, "none") == []

    def test_old_runs_go(self, vault: Vault) -> None:
        """Runs that began before a time are deleted, oldest first; their ids are never reused."""
        first, second, third = (vault.journal.begin(run) for run in (HEAVY, HEAVY, LIGHT))

        assert vault.journal.trim(EIGHT) == 0
        assert vault.journal.trim(NINE, at_most=1) == 1
        assert [run.id for run in vault.journal.runs(9)] == [third, second]
        assert vault.journal.trim(NINE) == 1
        assert vault.journal.begin(LIGHT) > third > first

    def test_replacements_until_they_are_undone(self, vault: Vault) -> None:
        """
        A replacement is found by either document while in effect; undoing it works once and removes it from the
        results.
        """
        first = vault.journal.replace(MERGED)
        second = vault.journal.replace(replace(MERGED, document_id=9, replaced=(7, 2, 7)))

        assert vault.journal.replacements(3) == [replace(MERGED, id=first)]
        assert [found.id for found in vault.journal.replacements(7)] == [first, second]
        assert [found.replaced for found in vault.journal.replacements(9)] == [(2, 7)]
        assert vault.journal.replacements(UNKNOWN) == []

        assert vault.journal.undo(second, NINE) is True
        assert vault.journal.undo(second, NINE) is False
        assert [found.id for found in vault.journal.replacements()] == [first]
        assert [(found.id, found.undone_at) for found in vault.journal.replacements(undone=True)] == [
            (second, NINE)
        ]
        assert vault.journal.replacements(3, undone=True) == []
