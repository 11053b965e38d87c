from dataclasses import replace
from typing import Any

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, fetch, save
from clawmem.ports.journal import Act, ActEntry, Replacement, Run, RunStatus
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
        """
        The newest runs are returned first, of all lanes or of one, up to the limit.

        Runs that began before a time are deleted, oldest first; their ids are never reused.
        """
        first, second, third = (vault.journal.begin(run) for run in (HEAVY, LIGHT, LIGHT))

        assert [run.id for run in vault.journal.runs(2)] == [third, second]
        assert [run.id for run in vault.journal.runs(1, "heavy")] == [first]
        assert [run.id for run in vault.journal.runs(9, phase="gate")] == [third, second]
        assert vault.journal.runs(9, "heavy", "gate") == []
        assert vault.journal.runs(0) == vault.journal.runs(-1) == vault.journal.runs(9, "none") == []

        assert [vault.journal.trim(EIGHT), vault.journal.trim(NINE)] == [0, 1]
        assert vault.journal.trim("9999", at_most=1) == 1
        assert [run.id for run in vault.journal.runs(9)] == [third]
        assert vault.journal.trim("9999") == 1
        assert vault.journal.begin(LIGHT) > third

    def test_replacements_until_they_are_undone(self, vault: Vault) -> None:
        """A replacement in effect is found by either document; undoing it works once and removes it."""
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


PINNED = ActEntry(7, Act.PIN, "cli", EIGHT, "asked for it")
SNOOZED = ActEntry(7, Act.SNOOZE, "memory_snooze", NINE, "", before=EIGHT)


class ActContract(VaultContract):
    """Journal of actions on documents. Supply ``vault``: an EMPTY ``Vault``."""

    def test_entries_come_back_whole(self, vault: Vault) -> None:
        """
        An entry is returned unchanged under an increasing id; its document need not exist.

        Forgetting clears the reasons of a document's entries; their action, actor and time stay.
        """
        gone = save(vault)
        entry = PINNED._replace(document_id=gone)
        first, second, other = vault.acts.add([entry, SNOOZED, PINNED._replace(document_id=8)])

        assert 0 < first < second < other
        assert vault.acts.get(first) == entry._replace(id=first)
        vault.documents.forget([gone])
        assert vault.acts.get(first) == entry._replace(id=first, why="")
        assert vault.acts.get(second) == SNOOZED._replace(id=second)
        assert vault.acts.get(other) == PINNED._replace(id=other, document_id=8)

    def test_when_it_was_done_last(self, vault: Vault) -> None:
        """`last` returns by document the time of the latest entry of an action, even if the clock went backwards."""
        again = PINNED._replace(at="2024-03-01T00:00:00.000Z")
        vault.acts.add([PINNED, SNOOZED, again, PINNED._replace(document_id=8)])

        assert vault.acts.last(Act.PIN) == {7: again.at, 8: EIGHT}
        assert vault.acts.last(Act.PURGE) == {}


class TendingContract(VaultContract):
    """Pins, snoozes and the remains of forgotten documents. Supply ``vault``: an EMPTY ``Vault``."""

    def test_pins_and_snoozes(self, vault: Vault) -> None:
        """Pin and snooze survive a new save and are removed independently; an unknown document changes nothing."""
        tended = save(vault)
        vault.documents.pin(tended, True)
        vault.documents.snooze(tended, NINE)
        vault.documents.pin(UNKNOWN, True)
        vault.documents.snooze(UNKNOWN, NINE)

        save(vault, body="Another body.")
        found = fetch(vault, tended)
        assert (found.pinned, found.snoozed_until) == (True, NINE)
        assert found.is_snoozed(EIGHT) and not found.is_snoozed(NINE)

        vault.documents.pin(tended, False)
        assert (fetch(vault, tended).pinned, fetch(vault, tended).snoozed_until) == (False, NINE)
        vault.documents.snooze(tended, None)
        assert fetch(vault, tended).snoozed_until is None
        assert vault.documents.get(UNKNOWN) is None

    def test_nothing_is_left_but_the_place(self, vault: Vault) -> None:
        """A forgotten document loses title, aliases, text, tags and hashes, not its place; others are unchanged."""
        fields: dict[str, Any] = {
            "tags": ("one",),
            "aliases": ("known as",),
            "domain": "d",
            "workstream": "w",
            "pinned": True,
            "pinned_in_note": True,
        }
        gone = save(vault, "gone.md", "Said by both.", **fields)
        alone = save(vault, "alone.md", "Said by one.")
        twin = save(vault, "twin.md", "Said by both.")
        vault.documents.snooze(gone, NINE)

        assert vault.documents.forget([gone, alone, UNKNOWN]) == 2
        assert vault.documents.forget([gone]) == 0

        left = fetch(vault, gone)
        assert (left.inactive, left.display_path) == ("forgotten", "notes/gone.md")
        assert (left.title, left.source_hash, left.tags, left.aliases, left.domain, left.workstream) == (
            "",
            "",
            (),
            (),
            None,
            None,
        )
        assert (left.is_pinned, left.snoozed_until, left.stamp, left.body_length) == (False, None, None, 0)
        assert vault.documents.body(gone) == vault.documents.body(alone) == ""
        assert vault.documents.fragments(gone) == []
        assert vault.documents.body(twin) == "Said by both."
        assert [entry.id for entry in vault.documents.by_docid(fetch(vault, twin).hash)] == [twin]

    def test_scrubbing_changes_no_answer(self, vault: Vault) -> None:
        """Scrubbing changes no remaining record in any table; an empty vault can be scrubbed as well."""
        vault.storage.scrub()
        kept, gone = save(vault, "kept.md", "Said by one."), save(vault, "gone.md", "Said by another.")
        vault.documents.forget([gone])

        vault.storage.scrub()

        assert vault.documents.body(kept) == "Said by one."
        assert fetch(vault, gone).title == ""
        assert vault.storage.check() == []
