from __future__ import annotations

from typing import Any

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, fetch, save
from clawmem.ports.acts import Act, Entry
from clawmem.ports.vault import Vault

EIGHT, NINE = (f"2024-03-04T{hour:02}:00:00.000Z" for hour in (8, 9))
PINNED = Entry(7, Act.PIN, "cli", EIGHT, "asked for it")
SNOOZED = Entry(7, Act.SNOOZE, "memory_snooze", NINE, "", before=EIGHT)


class ActContract(VaultContract):
    """Who did what to which document. Supply ``vault``: an EMPTY ``Vault``."""

    def test_an_empty_journal(self, vault: Vault) -> None:
        """
        Before the first act there is nothing to find and nothing to forget.

        If this fails: an unknown id raises instead of being None.
        """
        assert vault.acts.get(1) is None
        assert vault.acts.latest(5) == []
        assert vault.acts.last(Act.PIN) == {}
        assert vault.acts.forget(7) == 0
        assert vault.acts.add([]) == []

    def test_entries_come_back_whole(self, vault: Vault) -> None:
        """
        An entry comes back as it was, under an id that grows; documents need not exist.

        If this fails: two columns are exchanged, or documents are referenced.
        """
        one, two = vault.acts.add([PINNED, SNOOZED])

        assert 0 < one < two
        assert vault.acts.get(one) == PINNED._replace(id=one)
        assert vault.acts.get(two) == SNOOZED._replace(id=two)

    def test_the_last_ones(self, vault: Vault) -> None:
        """
        The newest entries come first, of all documents or of one, and never more than were asked for.

        If this fails: the order goes by time, which two acts may share, instead of by id.
        """
        one, two = vault.acts.add([PINNED, SNOOZED])
        [three] = vault.acts.add([PINNED._replace(document_id=UNKNOWN)])

        assert [entry.id for entry in vault.acts.latest(9)] == [three, two, one]
        assert [entry.id for entry in vault.acts.latest(9, 7)] == [two, one]
        assert [entry.id for entry in vault.acts.latest(1)] == [three]
        assert vault.acts.latest(0) == vault.acts.latest(-1) == []

    def test_when_it_was_done_last(self, vault: Vault) -> None:
        """
        Of each document the last time that this very act was done to it, though a clock went backwards.

        If this fails: other acts are counted, or the largest time is taken for the last one.
        """
        again = PINNED._replace(at="2024-03-01T00:00:00.000Z")
        vault.acts.add([PINNED, SNOOZED, again, PINNED._replace(document_id=8)])

        assert vault.acts.last(Act.PIN) == {7: again.at, 8: EIGHT}
        assert vault.acts.last(Act.PURGE) == {}

    def test_reasons_are_forgotten(self, vault: Vault) -> None:
        """
        What was said about a document goes; that something was done to it, by whom and when stays.

        If this fails: entries are deleted, or those of other documents lose their reasons.
        """
        one, two, other = vault.acts.add([PINNED, SNOOZED, PINNED._replace(document_id=8)])

        assert vault.acts.forget(7) == 1
        assert vault.acts.get(one) == PINNED._replace(id=one, why="")
        assert vault.acts.get(two) == SNOOZED._replace(id=two)
        assert vault.acts.get(other) == PINNED._replace(id=other, document_id=8)

    def test_part_of_the_transaction(self, vault: Vault) -> None:
        """
        An act that fails is not written down, and its number may be given again.

        If this fails: the journal is written by a connection of its own.
        """
        with pytest.raises(ZeroDivisionError), vault.writing():
            vault.acts.add([PINNED])
            raise ZeroDivisionError

        assert vault.acts.latest(9) == []


class TendingContract(VaultContract):
    """Pins and snoozes, and what is left of what was forgotten. Supply ``vault``: an EMPTY ``Vault``."""

    def test_pins_and_snoozes(self, vault: Vault) -> None:
        """
        Both are kept when the note is written anew, and taken back alone; an unknown document changes nothing.

        If this fails: saving writes them as the note has them, or one takes the other along.
        """
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
        """
        A forgotten document has no title, aliases, text, tags or hashes; its place is known, other documents stay whole.

        If this fails: a column was left, or the body of a document that says the same went along.
        """
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
        assert [one.id for one in vault.documents.by_hash(fetch(vault, twin).hash)] == [twin]

    def test_scrubbing_changes_no_answer(self, vault: Vault) -> None:
        """
        What is left is as it was, in every table; a vault that holds nothing can be scrubbed as well.

        If this fails: what is made anew from the records is not made from all of them.
        """
        vault.scrub()
        kept, gone = save(vault, "kept.md", "Said by one."), save(vault, "gone.md", "Said by another.")
        vault.documents.forget([gone])

        vault.scrub()

        assert vault.documents.body(kept) == "Said by one."
        assert fetch(vault, gone).title == ""
        assert vault.check() == []
