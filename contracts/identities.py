from __future__ import annotations

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import fetch, id_of, save, sha
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault


class IdentityContract(VaultContract):
    """
    Moves of documents, lookup by exact body, and fingerprints of forgotten bodies. Supply ``vault``: an EMPTY
    ``Vault``.
    """

    def test_holding(self, vault: Vault) -> None:
        """
        Every document with exactly this body is found, active or not, by collection and path, except forgotten ones.
        """
        served = save(vault, "b.md", "One.")
        removed, archived, forgotten = (save(vault, f"{name}.md", "One.") for name in "acd")
        save(vault, "e.md", "Two.")
        for document_id, reason in (
            (removed, InactiveReason.REMOVED),
            (archived, InactiveReason.ARCHIVED),
            (forgotten, InactiveReason.FORGOTTEN),
        ):
            vault.documents.deactivate([document_id], reason)

        assert [document.id for document in vault.documents.holding(sha("One."))] == [
            removed,
            served,
            archived,
        ]
        assert vault.documents.holding(sha("One.")[:63]) == []
        assert vault.documents.holding(sha("Three.")) == []

    def test_moving(self, vault: Vault) -> None:
        """A moved document keeps its id and all other fields; the former place is empty."""
        moved = save(vault, "a.md", "One.")
        vault.documents.pin(moved, True)
        before = fetch(vault, moved)

        with vault.transactions.writing():
            vault.documents.move(moved, "other", "b/c.md")

        assert fetch(vault, moved) == before._replace(collection="other", path="b/c.md")
        assert vault.documents.at(before.collection, "a.md") is None
        assert vault.documents.body(moved) == "One."

    def test_moving_to_a_known_place(self, vault: Vault) -> None:
        """
        Moving to an occupied place exchanges the two documents; moving to the document's own place changes nothing.
        """
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        vault.documents.deactivate([second], InactiveReason.REMOVED)
        place = fetch(vault, first).collection

        with vault.transactions.writing():
            vault.documents.move(first, place, "b.md")
            vault.documents.move(first, place, "b.md")

        assert id_of(vault.documents.at(place, "b.md")) == first
        assert id_of(vault.documents.at(place, "a.md")) == second
        assert fetch(vault, second).inactive is InactiveReason.REMOVED

    def test_marks_of_forgotten_bodies(self, vault: Vault) -> None:
        """An added body is recognised, even with other white space; any other body is not."""
        assert not vault.forgotten_texts.holds("One text.")
        with vault.transactions.writing():
            vault.forgotten_texts.add(["One text.", "Two."])
            vault.forgotten_texts.add(["One text."])

        assert vault.forgotten_texts.holds("One text.")
        assert vault.forgotten_texts.holds("\n One  text.\n")
        assert vault.forgotten_texts.holds("Two.")
        assert not vault.forgotten_texts.holds("Onetext.")
        assert not vault.forgotten_texts.holds("Three.")
