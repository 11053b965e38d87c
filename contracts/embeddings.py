from __future__ import annotations

import math

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import (
    MODEL,
    ROUNDING,
    VECTOR_A,
    VECTOR_B,
    assert_vectors,
    document,
    fragments,
    pending_texts,
    raw_vector,
    save,
    sha,
    unit_vector,
    vector_of,
)
from clawmem.ports.errors import BadVector, ModelMismatch
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.records import NEVER_EMBEDDED, Fragment, FragmentKey, FragmentKind, InactiveReason, Vector
from clawmem.ports.vault import Vault

REFUSED = {
    "empty": b"",
    "cut off": VECTOR_A[:-1],
    "not a number": raw_vector(math.nan, 0, 0),
    "infinite": raw_vector(math.inf, 0, 0),
    "all zeros": raw_vector(0, 0, 0),
    "too short a length": raw_vector(0.9, 0, 0),
    "too great a length": raw_vector(1.1, 0, 0),
    "fewer numbers": unit_vector(1, 2),
    "more numbers": unit_vector(1, 2, 3, 4),
}


class EmbeddingWorklistContract(VaultContract):
    """Worklist of texts to be embedded. Supply ``vault``: an EMPTY ``Vault``."""

    def test_pending_texts_in_reading_order(self, vault: Vault) -> None:
        """The worklist is ordered by document, then fragment, each text under its SHA-256."""
        save(vault, "z.md", "Zeta.\nAlpha.")
        save(vault, "a.md", "Mu.")

        expected = [(sha(text), text) for text in ("Zeta.", "Alpha.", "Mu.")]
        assert vault.embeddings.pending(10) == expected

    def test_each_text_once(self, vault: Vault) -> None:
        """A text that occurs in several fragments and documents is listed once, at its first occurrence."""
        save(vault, "a.md", "Same.\nOther.\nSame.")
        save(vault, "b.md", "Same.")

        assert pending_texts(vault) == ["Same.", "Other."]

    def test_context_goes_before_the_text(self, vault: Vault) -> None:
        """The embedded text is the context, a line end and the text; without a context it is the text alone."""
        body = "One."
        vault.documents.save(document("a.md", body), body, fragments(body, context="Title › 2024"))
        save(vault, "b.md", "One.")

        assert pending_texts(vault) == ["Title › 2024\nOne.", "One."]

    def test_ends_are_stripped(self, vault: Vault) -> None:
        """White space at both ends is not embedded, so it does not make a different text."""
        save(vault, "a.md", "  One. \t\nOne.")

        assert vault.embeddings.pending(10) == [(sha("One."), "One.")]

    def test_blank_texts_are_never_embedded(self, vault: Vault) -> None:
        """A fragment that contains only white space has no text to embed."""
        body = " \n\t\nOne."
        blank = Fragment(0, FragmentKind.PASSAGE, 1, 2, 0, 3, body[:3])
        vault.documents.save(document("a.md", body), body, [blank])

        assert vault.embeddings.pending(10) == []

    @pytest.mark.parametrize("kind", FragmentKind)
    def test_lines_are_never_embedded(self, vault: Vault, kind: FragmentKind) -> None:
        """Fragments are embedded, except those of the kinds in `NEVER_EMBEDDED`."""
        vault.documents.save(document("a.md", "One."), "One.", fragments("One.", kind=kind))

        assert pending_texts(vault) == ([] if kind in NEVER_EMBEDDED else ["One."])

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_inactive_documents_leave_the_worklist(self, vault: Vault, reason: InactiveReason) -> None:
        """The texts of an inactive document are not pending, unless an active one contains them too."""
        gone = save(vault, "a.md", "One.\nTwo.")
        save(vault, "b.md", "Two.")

        vault.documents.deactivate([gone], reason)

        assert pending_texts(vault) == ["Two."]
        assert vault.embeddings.counts() == EmbeddingCounts(pending=1)

    def test_stored_texts_leave_the_worklist(self, vault: Vault) -> None:
        """A text with a vector is not pending, and is not embedded again when it reappears."""
        save(vault, "a.md", "One.\nTwo.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})
        assert pending_texts(vault) == ["Two."]

        save(vault, "a.md", "Two.")
        save(vault, "b.md", "One.")

        assert pending_texts(vault) == ["Two."]


class EmbeddingStorageContract(VaultContract):
    """Storage of vectors by text. Supply ``vault``: an EMPTY ``Vault``."""

    def test_every_fragment_with_the_text_has_the_vector(self, vault: Vault) -> None:
        """Each active fragment whose text a vector embeds has this vector, in any document."""
        first, second = save(vault, "a.md", "One.\nTwo.\nOne."), save(vault, "b.md", "Two.")
        gone = save(vault, "c.md", "One.")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Two."): VECTOR_B})

        expected = [
            vector_of(first, 0, VECTOR_A),
            vector_of(first, 1, VECTOR_B),
            vector_of(first, 2, VECTOR_A),
        ]
        assert_vectors(vault.embeddings.of_document(first), expected)
        assert_vectors(vault.embeddings.of_document(second), [vector_of(second, 0, VECTOR_B)])
        assert vault.embeddings.of_document(gone) == []

    def test_a_vector_replaces_another(self, vault: Vault) -> None:
        """A text that is stored again has the later vector, and counts once."""
        saved = save(vault, "a.md", "One.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})

        vault.embeddings.store(MODEL, {sha("One."): VECTOR_B})

        assert_vectors(vault.embeddings.of_document(saved), [vector_of(saved, 0, VECTOR_B)])
        (hit,) = vault.embeddings.search(VECTOR_B, 9)
        assert hit.score == pytest.approx(1, abs=ROUNDING)
        assert vault.embeddings.count() == 1

    def test_other_model_is_refused(self, vault: Vault) -> None:
        """
        While vectors are stored, those of another model are refused; the error names both models and nothing is
        stored.
        """
        saved = save(vault, "a.md", "One.\nTwo.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})

        with pytest.raises(ModelMismatch) as refused:
            vault.embeddings.store("model-b", {sha("Two."): VECTOR_B})

        assert f"{MODEL!r}, but the embedder is 'model-b'" in str(refused.value)
        assert vault.embeddings.fingerprint() == MODEL
        assert_vectors(vault.embeddings.of_document(saved), [vector_of(saved, 0, VECTOR_A)])
        assert pending_texts(vault) == ["Two."]

    @pytest.mark.parametrize("bad", REFUSED.values(), ids=REFUSED)
    def test_bad_vector_refuses_the_batch(self, vault: Vault, bad: Vector) -> None:
        """One bad vector in a batch prevents the whole batch from being stored."""
        saved = save(vault, "a.md", "One.\nTwo.\nThree.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})

        with pytest.raises(BadVector):
            vault.embeddings.store(MODEL, {sha("Two."): VECTOR_B, sha("Three."): bad})

        assert_vectors(vault.embeddings.of_document(saved), [vector_of(saved, 0, VECTOR_A)])
        assert pending_texts(vault) == ["Two.", "Three."]

    @pytest.mark.parametrize(
        "bad", [b"", raw_vector(0, 0, 0), unit_vector(1, 2)], ids=["empty", "zeros", "length"]
    )
    def test_bad_first_batch_leaves_no_model(self, vault: Vault, bad: Vector) -> None:
        """A refused first batch, for example with mixed lengths, leaves no vector and no fingerprint."""
        with pytest.raises(BadVector):
            vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Two."): bad})

        assert vault.embeddings.fingerprint() is None
        assert vault.embeddings.counts() == EmbeddingCounts()

    def test_of_document_in_fragment_order(self, vault: Vault) -> None:
        """A document's vectors are returned in fragment order; fragments without a vector are omitted."""
        saved = save(vault, "a.md", "\n".join(f"Text {n}." for n in range(12)))
        vectors = {sha(f"Text {n}."): unit_vector(n, 1) for n in range(11, 0, -1)}
        vault.embeddings.store(MODEL, vectors)

        expected = [unit_vector(n, 1) for n in range(1, 12)]
        assert_vectors(
            vault.embeddings.of_document(saved),
            [vector_of(saved, seq, vector) for seq, vector in enumerate(expected, start=1)],
        )

    def test_inactive_documents_are_not_found(self, vault: Vault) -> None:
        """Fragments of inactive documents are not found, and take no place of those that are found."""
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        gone = [save(vault, f"{n}.md", f"Gone {n}.") for n in range(30)]
        vectors = {sha(f"Gone {n}."): VECTOR_B for n in range(30)}
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Two."): VECTOR_B, **vectors})
        vault.documents.deactivate(gone, InactiveReason.REMOVED)

        hits = vault.embeddings.search(VECTOR_B, 2)

        assert [hit.key for hit in hits] == [FragmentKey(second, 0), FragmentKey(first, 0)]
        assert [hit.score for hit in hits] == pytest.approx([1, 10 / 14], abs=ROUNDING)
        assert vault.embeddings.search(VECTOR_B, 1) == hits[:1]

    def test_rebuilding_keeps_every_vector(self, vault: Vault) -> None:
        """Sound vectors have no faults, and rebuilding loses none of them."""
        saved = save(vault, "a.md", "One.\nTwo.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Two."): VECTOR_B})
        before = vault.embeddings.of_document(saved), vault.embeddings.search(VECTOR_A, 9)

        assert vault.embeddings.faults() == []
        assert vault.embeddings.rebuild() == 0

        assert (vault.embeddings.of_document(saved), vault.embeddings.search(VECTOR_A, 9)) == before
        assert vault.embeddings.faults() == []
