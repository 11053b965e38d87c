from __future__ import annotations

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import (
    MODEL,
    VECTOR_A,
    assert_vectors,
    fetch,
    save,
    sha,
    unit_vector,
    vector_of,
)
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.records import EmbedState, FragmentKey, InactiveReason, Role, Vector
from clawmem.ports.vault import Vault

OTHER = "model-b"
SHORT_A, SHORT_B = unit_vector(1, 2), unit_vector(2, 1)  # vectors of OTHER, with another length


class EmbeddingBuildingContract(VaultContract):
    """Second embedding space, built next to the serving one. Supply ``vault``: an EMPTY ``Vault``."""

    def test_nothing_goes_into_a_space_that_was_not_begun(self, vault: Vault) -> None:
        """Vectors are refused if no space is being built, or if it was begun for another model."""
        served(vault, "One.")
        with pytest.raises(ModelMismatch):
            vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, building=True)
        vault.embeddings.begin("model-c")

        with pytest.raises(ModelMismatch):
            vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, building=True)

        assert vault.embeddings.counts(building=True) == EmbeddingCounts(pending=1)

    def test_everything_waits_for_it(self, vault: Vault) -> None:
        """In a new space every text of an active document is pending, in reading order and each once."""
        served(vault, "Two.\nOne.\nTwo.")
        save(vault, "new.md", "Three.")
        gone = save(vault, "gone.md", "Four.")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        vault.embeddings.begin(OTHER)

        assert pending_of_build(vault) == ["Two.", "One.", "Three."]
        assert pending_of_build(vault, 2) == ["Two.", "One."]
        assert pending_of_build(vault, 0) == pending_of_build(vault, -1) == []
        assert vault.embeddings.counts(building=True) == EmbeddingCounts(pending=3)

    def test_a_space_being_built_is_not_searched(self, vault: Vault) -> None:
        """Until it takes over, a space is visible only through its own worklist and counts."""
        number = served(vault, "One.\nTwo.")
        save(vault, "new.md", "Three.")
        before = seen(vault, number)
        vault.embeddings.begin(OTHER)

        vault.embeddings.store(OTHER, {sha("One."): SHORT_A, sha("Three."): SHORT_B}, building=True)

        assert seen(vault, number) == before
        assert pending_of_build(vault) == ["Two."]
        assert vault.embeddings.counts(building=True) == EmbeddingCounts(stored=2, pending=1)

    def test_what_changed_behind_the_last_text_is_not_forgotten(self, vault: Vault) -> None:
        """A document changed after its texts were passed is pending again."""
        served(vault, "One.", path="a.md")
        save(vault, "b.md", "Two.")
        begin_with(vault, {"One.": SHORT_A, "Two.": SHORT_B})

        save(vault, "a.md", "One, edited.")

        assert pending_of_build(vault) == ["One, edited."]
        assert vault.embeddings.take_over() is False

    def test_how_far_it_is(self, vault: Vault) -> None:
        """`building` returns the fingerprint and a share from 0 to 1 that grows as texts are stored in order."""
        for name in "abcd":
            served(vault, f"Text {name}.", path=f"{name}.md")
        vault.embeddings.begin(OTHER)
        shares = [share(vault)]
        for name in "abcd":
            vault.embeddings.store(OTHER, {sha(f"Text {name}."): SHORT_A}, building=True)
            shares.append(share(vault))

        assert shares == pytest.approx([0, 0.25, 0.5, 0.75, 1])

    def test_failures_of_its_own(self, vault: Vault) -> None:
        """
        A text that failed for good in one space leaves that worklist only; the serving space and the documents are
        unchanged.
        """
        number = served(vault, "One.")
        both = save(vault, "new.md", "Two.")
        vault.embeddings.begin(OTHER)

        for _ in range(3):
            assert pending_of_build(vault) == ["One.", "Two."]
            vault.embeddings.fail([sha("One."), sha("Two.")], "unreadable", building=True)

        assert pending_of_build(vault) == []
        assert vault.embeddings.counts(building=True) == EmbeddingCounts(failed=2)
        assert [text for _, text in vault.embeddings.pending(9)] == ["Two."]
        assert state(vault, number) is EmbedState.SYNCED
        assert state(vault, both) is EmbedState.PENDING

    def test_cleaning_looks_at_both(self, vault: Vault) -> None:
        """Cleaning deletes unused vectors and failures from both spaces, but counts only serving ones."""
        gone = served(vault, "One.\nTwo.\nThree.")
        served(vault, "Four.", path="kept.md")
        begin_with(vault, {"One.": SHORT_A})
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        assert vault.embeddings.clean() == 3

        assert vault.embeddings.counts(building=True) == EmbeddingCounts(pending=1)
        assert vault.embeddings.building() is not None


class EmbeddingTakeOverContract(VaultContract):
    """Replacement of the serving embedding space. Supply ``vault``: an EMPTY ``Vault``."""

    @pytest.mark.parametrize("model", [OTHER, MODEL])
    def test_takes_over_as_a_whole(self, vault: Vault, model: str) -> None:
        """Once nothing is pending, the new vectors, of another model or the same one, replace the old ones."""
        number = served(vault, "One.\nTwo.")
        begin_with(vault, {"One.": SHORT_A, "Two.": SHORT_B}, model)

        assert vault.embeddings.take_over() is True

        assert (vault.embeddings.fingerprint(), vault.embeddings.building()) == (model, None)
        expected = [vector_of(number, 0, SHORT_A), vector_of(number, 1, SHORT_B)]
        assert_vectors(vault.embeddings.of_document(number), expected)
        assert vault.embeddings.counts() == EmbeddingCounts(stored=2)
        assert vault.embeddings.counts(building=True) == EmbeddingCounts()
        hits = vault.embeddings.search(SHORT_B, 9)
        assert [hit.key for hit in hits] == [FragmentKey(number, 1), FragmentKey(number, 0)]
        assert vault.embeddings.take_over() is False

    def test_documents_are_in_the_state_of_the_new_space(self, vault: Vault) -> None:
        """
        A document whose text failed with the new model becomes failed; one that failed with the old model only
        becomes synced.
        """
        lost = served(vault, "One.", path="lost.md")
        won = save(vault, "won.md", "Two.")
        for _ in range(3):
            vault.embeddings.fail([sha("Two.")], "unreadable")
        begin_with(vault, {"Two.": SHORT_B})
        for _ in range(3):
            vault.embeddings.fail([sha("One.")], "unreadable", building=True)

        assert vault.embeddings.take_over() is True

        assert (state(vault, lost), state(vault, won)) == (EmbedState.FAILED, EmbedState.SYNCED)
        assert vault.embeddings.counts() == EmbeddingCounts(stored=1, failed=1)

    def test_giving_up(self, vault: Vault) -> None:
        """An abandoned space is deleted with its failures, and the serving one is unchanged."""
        number = served(vault, "One.")
        before = seen(vault, number)
        vault.embeddings.give_up()
        vault.embeddings.begin(OTHER)
        for _ in range(3):
            vault.embeddings.fail([sha("One.")], "unreadable", building=True)

        vault.embeddings.give_up()

        assert vault.embeddings.building() is None
        assert vault.embeddings.take_over() is False
        assert seen(vault, number) == before
        vault.embeddings.begin(OTHER)
        assert pending_of_build(vault) == ["One."]

    def test_discarding_in_parts(self, vault: Vault) -> None:
        """Replaced or abandoned vectors are deleted in limited batches until none remain."""
        number = served(vault, "One.\nTwo.\nThree.")
        vault.embeddings.begin("model-c")
        vault.embeddings.store("model-c", {sha("One."): SHORT_A}, building=True)
        vault.embeddings.begin(OTHER)
        made = {sha(text): SHORT_A for text in ("One.", "Two.", "Three.")}
        vault.embeddings.store(OTHER, made, building=True)
        vault.embeddings.take_over()
        before = seen(vault, number)

        assert [vault.embeddings.discard(limit) for limit in (0, 3, 3, 3)] == [0, 3, 1, 0]

        assert seen(vault, number) == before

    def test_indexes_of_the_old_vectors_are_outdated(self, vault: Vault) -> None:
        """Taking over outdates every vector index, serving or building, but no lexical index."""
        served(vault, "One.")
        records = [vault.outbox.register(role, "tantivy") for role in (Role.LEXICAL, *[Role.VECTORS] * 2)]
        vault.outbox.serve(records[1], Role.VECTORS)
        begin_with(vault, {"One.": SHORT_A})
        assert outdated(vault) == set()

        vault.embeddings.take_over()
        newer = vault.outbox.register(Role.VECTORS, "tantivy")

        assert outdated(vault) == {record.generation for record in records[1:]}
        assert newer.generation not in outdated(vault)


def served(vault: Vault, body: str, *, path: str = "note.md") -> int:
    """Save a document with serving vectors for all of its texts and return its id."""
    number = save(vault, path, body)
    vault.embeddings.store(MODEL, {sha(text): VECTOR_A for text in body.split("\n")})
    return number


def begin_with(vault: Vault, vectors: dict[str, Vector], model: str = OTHER) -> None:
    """Begin the second space, with the vectors of these texts."""
    vault.embeddings.begin(model)
    vault.embeddings.store(model, {sha(text): vector for text, vector in vectors.items()}, building=True)


def seen(vault: Vault, document_id: int) -> list[object]:
    """Return everything that is visible of the serving vectors."""
    embeddings = vault.embeddings
    hits = embeddings.search(VECTOR_A, 9) if embeddings.fingerprint() == MODEL else None
    return [
        embeddings.fingerprint(),
        embeddings.counts(),
        embeddings.of_document(document_id),
        [text for _, text in embeddings.pending(9)],
        hits,
        state(vault, document_id),
    ]


def pending_of_build(vault: Vault, limit: int = 100) -> list[str]:
    """Return the texts of the worklist of the space being built."""
    return [text for _, text in vault.embeddings.pending(limit, building=True)]


def share(vault: Vault) -> float:
    """Return the progress of the space being built."""
    building = vault.embeddings.building()
    assert building is not None
    assert building.fingerprint == OTHER
    return building.share


def outdated(vault: Vault) -> set[int]:
    """Return the generations of outdated indexes."""
    return {record.generation for record in vault.outbox.indexes() if record.outdated}


def state(vault: Vault, document_id: int) -> EmbedState:
    """Return the embedding state of a document."""
    return fetch(vault, document_id).embed_state
