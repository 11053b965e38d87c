from __future__ import annotations

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import fetch, id_of, save, sha
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault


class IdentityContract(VaultContract):
    """Documents that move, documents by exact body, and marks of forgotten bodies. Supply ``vault``: an EMPTY ``Vault``."""

    def test_holding(self, vault: Vault) -> None:
        """
        Every document with exactly this body is found, by collection and path, active or not; no forgotten one.

        If this fails: inactive documents are left out, or a prefix of the hash is enough.
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

        assert [one.id for one in vault.documents.holding(sha("One."))] == [removed, served, archived]
        assert vault.documents.holding(sha("One.")[:63]) == []
        assert vault.documents.holding(sha("Three.")) == []

    def test_moving(self, vault: Vault) -> None:
        """
        A document keeps its id and all else at another place; nothing is left at the former one.

        If this fails: the place is the identity of the row, or the pin is lost.
        """
        moved = save(vault, "a.md", "One.")
        vault.documents.pin(moved, True)
        before = fetch(vault, moved)

        with vault.writing():
            vault.documents.move(moved, "other", "b/c.md")

        assert fetch(vault, moved) == before._replace(collection="other", path="b/c.md")
        assert vault.documents.at(before.collection, "a.md") is None
        assert vault.documents.body(moved) == "One."

    def test_moving_to_a_known_place(self, vault: Vault) -> None:
        """
        The document of that place takes the place of the moved one, and a move to one's own place changes nothing.

        If this fails: two documents have one place, or one of them is lost.
        """
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        vault.documents.deactivate([second], InactiveReason.REMOVED)
        place = fetch(vault, first).collection

        with vault.writing():
            vault.documents.move(first, place, "b.md")
            vault.documents.move(first, place, "b.md")

        assert id_of(vault.documents.at(place, "b.md")) == first
        assert id_of(vault.documents.at(place, "a.md")) == second
        assert fetch(vault, second).inactive is InactiveReason.REMOVED

    def test_marks_of_forgotten_bodies(self, vault: Vault) -> None:
        """
        A body is recognised by its hash after it was added, however often; any other body is not.

        If this fails: the salt differs between adding and asking, or the second mark of a body is refused.
        """
        assert not vault.forgotten_texts.holds(sha("One."))
        with vault.writing():
            vault.forgotten_texts.add([sha("One."), sha("Two.")])
            vault.forgotten_texts.add([sha("One.")])

        assert vault.forgotten_texts.holds(sha("One."))
        assert vault.forgotten_texts.holds(sha("Two."))
        assert not vault.forgotten_texts.holds(sha("Three."))

    def test_a_mark_is_part_of_its_transaction(self, vault: Vault) -> None:
        """
        What is rolled back is not recognised.

        If this fails: a note that could not be forgotten hides its copies.
        """
        try:
            with vault.writing():
                vault.forgotten_texts.add([sha("One.")])
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass

        assert not vault.forgotten_texts.holds(sha("One."))
