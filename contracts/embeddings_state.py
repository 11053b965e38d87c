from __future__ import annotations

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import (
    MODEL,
    VECTOR_A,
    VECTOR_B,
    assert_vectors,
    fetch,
    pending_texts,
    save,
    sha,
    unit_vector,
    vector_of,
)
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.records import EmbedState, InactiveReason
from clawmem.ports.vault import Vault


class EmbeddingStateContract(VaultContract):
    """Failures, states and counts of embeddings. Supply ``vault``: an EMPTY ``Vault``."""

    def test_synced_when_complete(self, vault: Vault) -> None:
        """A document is pending until its last text has a vector, then synced; other documents are unaffected."""
        saved, other = save(vault, "a.md", "One.\nTwo."), save(vault, "b.md", "Three.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})
        assert state(vault, saved) is EmbedState.PENDING

        vault.embeddings.store(MODEL, {sha("Two."): VECTOR_B})

        assert (state(vault, saved), state(vault, other)) == (EmbedState.SYNCED, EmbedState.PENDING)

    def test_documents_without_a_vector_are_counted(self, vault: Vault) -> None:
        """A document counts until its last text has a vector; an inactive one does not count."""
        save(vault, "a.md", "One.\nTwo.")
        gone = save(vault, "b.md", "Three.\nFour.")
        assert vault.embeddings.documents_without() == 2

        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})
        vault.documents.deactivate([gone], InactiveReason.REMOVED)
        assert vault.embeddings.documents_without() == 1
        vault.embeddings.store(MODEL, {sha("Two."): VECTOR_B})
        assert vault.embeddings.documents_without() == 0

    def test_three_failures(self, vault: Vault) -> None:
        """A text leaves the worklist at its third failure, not before, and its documents become failed."""
        both = save(vault, "a.md", "One.\nTwo."), save(vault, "b.md", "One.")
        for _ in range(2):
            vault.embeddings.fail([sha("One.")], "timed out")
        assert pending_texts(vault) == ["One.", "Two."]
        assert {state(vault, saved) for saved in both} == {EmbedState.PENDING}

        vault.embeddings.fail([sha("One.")], "timed out")

        assert pending_texts(vault) == ["Two."]
        assert {state(vault, saved) for saved in both} == {EmbedState.FAILED}

    def test_counts_are_of_texts(self, vault: Vault) -> None:
        """Each text of active documents is counted once by its state; orphaned vectors are counted separately."""
        save(vault, "a.md", "One.\nTwo.\nThree.\nOne.")
        save(vault, "b.md", "One.\nFour.")
        gone = save(vault, "c.md", "Five.\nSix.\nOne.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Five."): VECTOR_B})
        give_up(vault, "Two.")

        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        assert vault.embeddings.counts() == EmbeddingCounts(stored=1, pending=2, failed=1, orphaned=1)

    def test_clean_deletes_orphans_only(self, vault: Vault) -> None:
        """Cleaning deletes exactly the vectors that no active document uses and returns their number."""
        here, gone = save(vault, "a.md", "One."), save(vault, "b.md", "One.\nTwo.\nThree.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Two."): VECTOR_B, sha("Three."): VECTOR_B})
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        assert vault.embeddings.clean() == 2
        assert vault.embeddings.clean() == 0
        assert_vectors(vault.embeddings.of_document(here), [vector_of(here, 0, VECTOR_A)])
        assert vault.embeddings.counts() == EmbeddingCounts(stored=1)

    def test_last_vector_takes_the_model_along(self, vault: Vault) -> None:
        """After cleaning deleted the last vector there is no model, and any other may begin, with any length."""
        vault.embeddings.store(MODEL, {sha("Gone."): VECTOR_A})

        assert vault.embeddings.clean() == 1

        assert vault.embeddings.fingerprint() is None
        vault.embeddings.store("model-b", {sha("One."): unit_vector(1, 2)})
        assert vault.embeddings.fingerprint() == "model-b"

    def test_clear_starts_over(self, vault: Vault) -> None:
        """Clearing deletes vectors, failures and model; every text is pending, and another model may begin."""
        synced, failed = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Gone."): VECTOR_B})
        give_up(vault, "Two.")

        vault.embeddings.clear()

        assert vault.embeddings.fingerprint() is None
        assert vault.embeddings.counts() == EmbeddingCounts(pending=2)
        assert {state(vault, synced), state(vault, failed)} == {EmbedState.PENDING}
        vault.embeddings.store("model-b", {sha("One."): unit_vector(1, 2)})
        assert state(vault, synced) is EmbedState.SYNCED


def give_up(vault: Vault, *texts: str) -> None:
    """Fail texts until they leave the worklist."""
    for _ in range(3):
        vault.embeddings.fail([sha(text) for text in texts], "no answer")


def state(vault: Vault, document_id: int) -> EmbedState:
    """Return the embedding state of a document."""
    return fetch(vault, document_id).embed_state
