from dataclasses import replace

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import DAYS, UNKNOWN, fetch, save
from clawmem.ports.errors import InvalidInput
from clawmem.ports.knowledge import ATTEMPTS, Note, NoteCounts
from clawmem.ports.models import Cost
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault

MODEL = "model-a"


def note(document_id: int, context: str = "", *, cause: int | None = None) -> Note:
    """Return a note with one pair of keywords, written by a model if it has a context."""
    return Note(
        document_id, ("hive", "蜂蜜"), ("bees",), context, MODEL if context else "rules", DAYS[0], cause
    )


def settle(vault: Vault, document_id: int, *, by_model: bool = False) -> None:
    """Mark a document as settled for its present source."""
    vault.notes.settle(document_id, fetch(vault, document_id).source_hash, by_model=by_model)


def fail(vault: Vault, document_id: int, times: int) -> list[int]:
    """Record *times* failures of a model on a document and return the count after each."""
    source = fetch(vault, document_id).source_hash
    return [vault.notes.fail(document_id, source) for _ in range(times)]


class NoteContract(VaultContract):
    """Notes about documents, and the worklist of documents without one. Supply ``vault``: an EMPTY ``Vault``."""

    def test_every_version_is_kept(self, vault: Vault) -> None:
        """The latest note is returned and earlier versions remain; an equal note does not create a new version."""
        one, other = save(vault, "a.md"), save(vault, "b.md", "Other.")
        first = note(one)
        second = replace(note(one, "About bees.", cause=other), reason="The other is of bees.")

        assert [vault.notes.put(first), vault.notes.put(first)] == [1, 1]
        assert vault.notes.put(replace(second, written_at=DAYS[1])) == 2
        assert vault.notes.put(replace(second, written_at=DAYS[2])) == 2

        assert vault.notes.get(one) == replace(second, written_at=DAYS[1], version=2)
        assert vault.notes.history(one) == [replace(first, version=1), vault.notes.get(one)]
        assert vault.notes.counts() == NoteCounts(notes=1, by_model=1, waiting=2)
        with pytest.raises(InvalidInput):
            vault.notes.put(note(UNKNOWN))

    def test_who_waits(self, vault: Vault) -> None:
        """A document waits until its present source is settled; one settled by rules still waits for a model."""
        first, second, third = (save(vault, f"{name}.md", name) for name in "abc")
        settle(vault, first)
        settle(vault, second, by_model=True)
        settle(vault, second)

        assert vault.notes.waiting(by_model=False) == [third]
        assert vault.notes.waiting(by_model=True) == [first, third]

        save(vault, "b.md", "changed", source_hash="of another file")

        assert vault.notes.waiting(by_model=False) == [second, third]
        settle(vault, second)
        assert vault.notes.waiting(by_model=True) == [first, second, third]

    def test_a_model_that_fails_is_not_asked_for_ever(self, vault: Vault) -> None:
        """After `ATTEMPTS` failures a document is given up until it changes."""
        (first,) = [save(vault, "a.md")]
        settle(vault, first)

        assert fail(vault, first, ATTEMPTS - 1) == [1, 2]
        settle(vault, first)  # by rules, which must not reset the failures of the model
        assert vault.notes.waiting(by_model=True) == [first]
        assert fail(vault, first, 1) == [ATTEMPTS]
        assert vault.notes.waiting(by_model=True) == []
        assert vault.notes.counts() == NoteCounts(given_up=1)

        save(vault, "a.md", "changed", source_hash="of another file")
        assert vault.notes.counts() == NoteCounts(waiting=1)
        assert fail(vault, first, 1) == [1]

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_only_what_is_served(self, vault: Vault, reason: InactiveReason) -> None:
        """An inactive document has no note and does not wait; a reactivated one has its note again."""
        first, second = save(vault, "a.md"), save(vault, "b.md", "Other.")
        vault.notes.put(note(first))
        settle(vault, first)
        vault.documents.deactivate([first, second], reason)

        assert vault.notes.get(first) is None
        assert vault.notes.history(first) == []
        assert vault.notes.waiting(by_model=True) == []
        assert vault.notes.counts() == NoteCounts()

        if reason is not InactiveReason.FORGOTTEN:  # cannot be reactivated
            save(vault, "a.md")
            assert vault.notes.get(first) == replace(note(first), version=1)
            assert vault.notes.waiting(by_model=False) == []

    @pytest.mark.parametrize("reason", [None, InactiveReason.FORGOTTEN])
    def test_what_a_forgotten_document_caused_goes_with_it(
        self, vault: Vault, reason: InactiveReason | None
    ) -> None:
        """Forgetting deletes a document's notes and those that it caused about others, which wait again."""
        gone, other, third = (save(vault, f"{name}.md", name) for name in "abc")
        vault.notes.put(note(gone, "The secret."))
        vault.notes.put(note(other, "Before."))
        vault.notes.put(note(other, "Since the secret.", cause=gone))
        vault.notes.put(note(other, "Later, of both.", cause=third))
        vault.notes.put(note(third, "Apart."))
        for document in (gone, other, third):
            settle(vault, document, by_model=True)
        if reason:
            vault.documents.deactivate([gone], reason)

        vault.documents.forget([gone])

        assert vault.notes.history(gone) == []
        assert [version.context for version in vault.notes.history(other)] == ["Before."]
        assert [version.context for version in vault.notes.history(third)] == ["Apart."]
        assert set(vault.notes.waiting(by_model=False)) - {gone} == {other}


class LedgerContract(VaultContract):
    """Cost of model calls. Supply ``vault``: an EMPTY ``Vault``."""

    def test_costs_add_up(self, vault: Vault) -> None:
        """Calls are counted per day; the totals cover all days, by model and purpose."""
        assert vault.ledger.totals() == []

        for day in ("2026-01-01", "2026-01-01", "2026-01-02"):
            vault.ledger.charge(Cost(day, MODEL, "note", 1, 0, 100, 10, 7))
        vault.ledger.charge(Cost("2026-01-01", MODEL, "links", failed=1, took_ms=3))

        assert vault.ledger.totals("2026-01-02") == [Cost("2026-01-02", MODEL, "note", 1, 0, 100, 10, 7)]
        assert vault.ledger.totals() == [
            Cost("", MODEL, "links", 1, 1, 0, 0, 3),
            Cost("", MODEL, "note", 3, 0, 300, 30, 21),
        ]
