from __future__ import annotations

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import MODEL, VECTOR_A, VECTOR_B, fetch, save, sha, unit_vector, vector_of
from clawmem.ports.embeddings import EmbeddingCounts
from clawmem.ports.errors import BadVector, ModelMismatch
from clawmem.ports.records import EmbedState, FragmentKey, InactiveReason, Role
from clawmem.ports.vault import Vault

OTHER = "model-b"
SHORT_A, SHORT_B = unit_vector(1, 2), unit_vector(2, 1)  # the other model's, of another length


class EmbeddingBesideContract(VaultContract):
    """A second space, made beside the one that serves. Supply ``vault``: an EMPTY ``Vault``."""

    def test_at_first_there_is_none(self, vault: Vault) -> None:
        """
        Without a space beside nothing waits for one, nothing is counted in it, and nothing can take over.

        If this fails: a space is made with the vault, or the serving one is looked at instead.
        """
        served(vault, "One.")

        assert vault.embeddings.building() is None
        assert waiting_beside(vault) == []
        assert vault.embeddings.take_over() is False
        assert vault.embeddings.discard(10) == 0
        assert vault.embeddings.fingerprint() == MODEL

    def test_nothing_goes_into_a_space_that_was_not_begun(self, vault: Vault) -> None:
        """
        Vectors beside are refused without a space, and of another model than the one it was begun with.

        If this fails: a space is made by storing, so that a run that was overtaken brings it back.
        """
        served(vault, "One.")
        with pytest.raises(ModelMismatch):
            vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)
        vault.embeddings.begin("model-c")

        with pytest.raises(ModelMismatch):
            vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)

        assert vault.embeddings.counts(beside=True) == EmbeddingCounts(pending=1)

    def test_everything_waits_for_it(self, vault: Vault) -> None:
        """
        At first every text of an active document is pending beside, in reading order and each once.

        If this fails: the worklist beside is that of the documents that are not complete.
        """
        served(vault, "Two.\nOne.\nTwo.")
        save(vault, "new.md", "Three.")
        gone = save(vault, "gone.md", "Four.")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        vault.embeddings.begin(OTHER)

        assert waiting_beside(vault) == ["Two.", "One.", "Three."]
        assert waiting_beside(vault, 2) == ["Two.", "One."]
        assert waiting_beside(vault, 0) == waiting_beside(vault, -1) == []
        assert vault.embeddings.counts(beside=True) == EmbeddingCounts(pending=3)

    def test_what_is_made_beside_is_not_seen(self, vault: Vault) -> None:
        """
        Until it takes over, nothing but its own worklist and counts shows a space beside.

        If this fails: some question about vectors does not say of which space.
        """
        number = served(vault, "One.\nTwo.")
        save(vault, "new.md", "Three.")
        before = seen(vault, number)
        vault.embeddings.begin(OTHER)

        entries = vault.embeddings.store(OTHER, {sha("One."): SHORT_A, sha("Three."): SHORT_B}, beside=True)

        assert entries == []
        assert seen(vault, number) == before
        assert waiting_beside(vault) == ["Two."]
        assert vault.embeddings.counts(beside=True) == EmbeddingCounts(stored=2, pending=1)

    def test_both_take_in_what_is_new(self, vault: Vault) -> None:
        """
        Each space has a worklist of its own: a text embedded for one still waits for the other.

        If this fails: a vector of any space takes its text off both lists.
        """
        served(vault, "One.")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)

        number = save(vault, "new.md", "Two.")
        assert waiting_beside(vault) == ["Two."]
        vault.embeddings.store(MODEL, {sha("Two."): VECTOR_B})

        assert waiting_beside(vault) == ["Two."]
        assert vault.embeddings.of_document(number) == [vector_of(number, 0, VECTOR_B)]

    def test_what_changed_behind_the_last_text_is_not_forgotten(self, vault: Vault) -> None:
        """
        A document that comes before everything embedded so far, and changed, is on the list at the end.

        If this fails: the place that was reached is taken for proof of what lies before it.
        """
        served(vault, "One.", path="a.md")
        save(vault, "b.md", "Two.")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A, sha("Two."): SHORT_B}, beside=True)

        save(vault, "a.md", "One, edited.")

        assert waiting_beside(vault) == ["One, edited."]
        assert vault.embeddings.take_over() is False

    def test_bad_vectors_are_refused(self, vault: Vault) -> None:
        """
        Lengths are compared with the vectors of the same space, and nothing of a bad batch is kept.

        If this fails: a space beside is held to the length of the one that serves, or to none.
        """
        served(vault, "One.\nTwo.")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)

        with pytest.raises(BadVector):
            vault.embeddings.store(OTHER, {sha("Two."): VECTOR_B}, beside=True)

        assert waiting_beside(vault) == ["Two."]

    def test_how_far_it_is(self, vault: Vault) -> None:
        """
        Its name is told, and a share of 0 to 1 that grows with what is stored in order.

        If this fails: the share is of the vectors that serve.
        """
        for name in "abcd":
            served(vault, f"Text {name}.", path=f"{name}.md")
        vault.embeddings.begin(OTHER)
        shares = [share(vault)]
        for name in "abcd":
            vault.embeddings.store(OTHER, {sha(f"Text {name}."): SHORT_A}, beside=True)
            shares.append(share(vault))

        assert shares == pytest.approx([0, 0.25, 0.5, 0.75, 1])

    def test_failures_of_its_own(self, vault: Vault) -> None:
        """
        A text given up beside leaves that worklist, the serving one and the documents stay as they are.

        If this fails: failures are counted by text, whichever model could not read it.
        """
        number = served(vault, "One.")
        both = save(vault, "new.md", "Two.")
        vault.embeddings.begin(OTHER)

        for _ in range(3):
            assert waiting_beside(vault) == ["One.", "Two."]
            vault.embeddings.fail([sha("One."), sha("Two.")], "unreadable", beside=True)

        assert waiting_beside(vault) == []
        assert vault.embeddings.counts(beside=True) == EmbeddingCounts(failed=2)
        assert [waiting.text for waiting in vault.embeddings.pending(9)] == ["Two."]
        assert state(vault, number) is EmbedState.SYNCED
        assert state(vault, both) is EmbedState.PENDING

    def test_cleaning_looks_at_both(self, vault: Vault) -> None:
        """
        Vectors and failures of texts that nobody has go from both spaces; only serving ones are counted.

        If this fails: what nobody uses takes over, or cleaning ends the space that is being made.
        """
        gone = served(vault, "One.\nTwo.\nThree.")
        served(vault, "Four.", path="kept.md")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        assert vault.embeddings.clean() == 3

        assert vault.embeddings.counts(beside=True) == EmbeddingCounts(pending=1)
        assert vault.embeddings.building() is not None


class EmbeddingTakeOverContract(VaultContract):
    """How a space comes to serve, or does not. Supply ``vault``: an EMPTY ``Vault``."""

    def test_takes_over_as_a_whole(self, vault: Vault) -> None:
        """
        Once nothing waits beside, its model, vectors and counts are the vault's, of another length even.

        If this fails: some of the old vectors are still handed out.
        """
        number = served(vault, "One.\nTwo.")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A, sha("Two."): SHORT_B}, beside=True)

        assert vault.embeddings.take_over() is True

        assert (vault.embeddings.fingerprint(), vault.embeddings.building()) == (OTHER, None)
        expected = [vector_of(number, 0, SHORT_A), vector_of(number, 1, SHORT_B)]
        assert vault.embeddings.of_document(number) == expected
        assert vault.embeddings.counts() == EmbeddingCounts(stored=2)
        assert vault.embeddings.counts(beside=True) == EmbeddingCounts()
        hits = vault.embeddings.nearest(SHORT_B, 9)
        assert [hit.key for hit in hits] == [FragmentKey(number, 1), FragmentKey(number, 0)]
        assert vault.embeddings.take_over() is False

    def test_not_before_it_is_complete(self, vault: Vault) -> None:
        """
        As long as one text waits beside, taking over is refused and changes nothing.

        If this fails: a text that had a vector has none afterwards.
        """
        number = served(vault, "One.\nTwo.")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)
        before = seen(vault, number)

        assert vault.embeddings.take_over() is False

        assert seen(vault, number) == before
        assert waiting_beside(vault) == ["Two."]

    def test_of_the_same_model_anew(self, vault: Vault) -> None:
        """
        Vectors made anew by the same model take the place of the old ones just like another's.

        If this fails: spaces are told apart by their fingerprint.
        """
        number = served(vault, "One.")
        vault.embeddings.begin(MODEL)
        vault.embeddings.store(MODEL, {sha("One."): SHORT_A}, beside=True)
        assert vault.embeddings.of_document(number) != [vector_of(number, 0, SHORT_A)]

        assert vault.embeddings.take_over() is True

        assert vault.embeddings.of_document(number) == [vector_of(number, 0, SHORT_A)]
        assert vault.embeddings.fingerprint() == MODEL

    def test_documents_are_in_the_state_of_the_new_space(self, vault: Vault) -> None:
        """
        What the new model gave up is failed afterwards, what only the old one had given up is synced.

        If this fails: states and failures are still those of the old model.
        """
        lost = served(vault, "One.", path="lost.md")
        won = save(vault, "won.md", "Two.")
        for _ in range(3):
            vault.embeddings.fail([sha("Two.")], "unreadable")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("Two."): SHORT_B}, beside=True)
        for _ in range(3):
            vault.embeddings.fail([sha("One.")], "unreadable", beside=True)

        assert vault.embeddings.take_over() is True

        assert (state(vault, lost), state(vault, won)) == (EmbedState.FAILED, EmbedState.SYNCED)
        assert vault.embeddings.counts() == EmbeddingCounts(stored=1, failed=1)

    def test_beginning_again_begins_empty(self, vault: Vault) -> None:
        """
        A space that is begun takes the place of one that was, of the same model too, without its vectors.

        If this fails: two spaces are made at once, or what was given up is mixed into the next.
        """
        served(vault, "One.")
        for fingerprint in (OTHER, OTHER, "model-c"):
            vault.embeddings.begin(fingerprint)
            assert waiting_beside(vault) == ["One."]
            vault.embeddings.store(fingerprint, {sha("One."): SHORT_A}, beside=True)

        assert vault.embeddings.take_over() is True
        assert vault.embeddings.fingerprint() == "model-c"

    def test_giving_up(self, vault: Vault) -> None:
        """
        A space that was given up is gone, with its failures, and the one that serves is as before.

        If this fails: failures of a model that was given up count for the next.
        """
        number = served(vault, "One.")
        before = seen(vault, number)
        vault.embeddings.give_up()
        vault.embeddings.begin(OTHER)
        for _ in range(3):
            vault.embeddings.fail([sha("One.")], "unreadable", beside=True)

        vault.embeddings.give_up()

        assert vault.embeddings.building() is None
        assert vault.embeddings.take_over() is False
        assert seen(vault, number) == before
        vault.embeddings.begin(OTHER)
        assert waiting_beside(vault) == ["One."]

    def test_discarding_in_parts(self, vault: Vault) -> None:
        """
        What was replaced or given up is deleted some vectors at a time, until there are none.

        If this fails: deleting takes the vectors that serve along, or everything in one transaction.
        """
        number = served(vault, "One.\nTwo.\nThree.")
        vault.embeddings.begin("model-c")
        vault.embeddings.store("model-c", {sha("One."): SHORT_A}, beside=True)
        vault.embeddings.begin(OTHER)
        made = {sha(text): SHORT_A for text in ("One.", "Two.", "Three.")}
        vault.embeddings.store(OTHER, made, beside=True)
        vault.embeddings.take_over()
        before = seen(vault, number)

        assert [vault.embeddings.discard(limit) for limit in (0, 3, 3, 3)] == [0, 3, 1, 0]

        assert seen(vault, number) == before

    def test_indexes_of_the_old_vectors_are_outdated(self, vault: Vault) -> None:
        """
        Every index of vectors is outdated by another space, serving or building, and no index of words.

        If this fails: an index outside answers questions of one model with vectors of another.
        """
        served(vault, "One.")
        records = [vault.outbox.register(role, "tantivy") for role in (Role.LEXICAL, *[Role.VECTORS] * 2)]
        vault.outbox.serve(records[1], Role.VECTORS)
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)
        assert outdated(vault) == set()

        vault.embeddings.take_over()
        newer = vault.outbox.register(Role.VECTORS, "tantivy")

        assert outdated(vault) == {record.generation for record in records[1:]}
        assert newer.generation not in outdated(vault)

    def test_no_change_for_indexes_before(self, vault: Vault) -> None:
        """
        What happens beside is no change that an index has to see.

        If this fails: an index is filled with vectors of both models.
        """
        served(vault, "One.")
        vault.outbox.register(Role.VECTORS, "lancedb")
        before = vault.outbox.head()

        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_B}, beside=True)
        vault.embeddings.give_up()
        vault.embeddings.discard(9)

        assert vault.outbox.after(before, Role.VECTORS).document_ids == ()

    def test_a_transaction_that_fails_takes_it_back(self, vault: Vault) -> None:
        """
        Taking over is part of the transaction around it.

        If this fails: the new model serves with an index of the old one.
        """
        number = served(vault, "One.")
        vault.embeddings.begin(OTHER)
        vault.embeddings.store(OTHER, {sha("One."): SHORT_A}, beside=True)
        before = seen(vault, number)

        with pytest.raises(KeyboardInterrupt), vault.writing():
            vault.embeddings.take_over()
            raise KeyboardInterrupt

        assert seen(vault, number) == before
        assert vault.embeddings.take_over() is True


def served(vault: Vault, body: str, *, path: str = "note.md") -> int:
    """A document whose texts have vectors of the model that serves; its id."""
    number = save(vault, path, body)
    vault.embeddings.store(MODEL, {sha(text): VECTOR_A for text in body.split("\n")})
    return number


def seen(vault: Vault, document_id: int) -> list[object]:
    """All that there is to see of the vectors that serve."""
    embeddings = vault.embeddings
    hits = embeddings.nearest(VECTOR_A, 9) if embeddings.fingerprint() == MODEL else None
    return [
        embeddings.fingerprint(),
        embeddings.counts(),
        embeddings.of_document(document_id),
        [waiting.text for waiting in embeddings.pending(9)],
        hits,
        state(vault, document_id),
    ]


def waiting_beside(vault: Vault, limit: int = 100) -> list[str]:
    """The texts of the worklist beside."""
    return [waiting.text for waiting in vault.embeddings.pending(limit, beside=True)]


def share(vault: Vault) -> float:
    """How far the space beside is."""
    building = vault.embeddings.building()
    assert building is not None
    assert building.fingerprint == OTHER
    return building.share


def outdated(vault: Vault) -> set[int]:
    """The generations of outdated indexes."""
    return {record.generation for record in vault.outbox.indexes() if record.outdated}


def state(vault: Vault, document_id: int) -> EmbedState:
    """Where a document stands."""
    return fetch(vault, document_id).embed_state
