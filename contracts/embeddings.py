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
    fetch,
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
from clawmem.ports.records import (
    LINES,
    EmbedState,
    Fragment,
    FragmentKey,
    FragmentKind,
    InactiveReason,
    Role,
    Vector,
)
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


def give_up(vault: Vault, *texts: str) -> None:
    """Fail texts until they leave the worklist."""
    for _ in range(3):
        vault.embeddings.fail([sha(text) for text in texts])


def state(vault: Vault, document_id: int) -> EmbedState:
    """Return the embedding state of a document."""
    return fetch(vault, document_id).embed_state


OTHER = "model-b"
SHORT_A, SHORT_B = unit_vector(1, 2), unit_vector(2, 1)  # vectors of OTHER, with another length


class EmbeddingContract(VaultContract):
    """Vectors by text, the worklist, and a second space next to the serving one. Supply ``vault``: an EMPTY ``Vault``."""

    def test_pending_texts_in_reading_order(self, vault: Vault) -> None:
        """The worklist is ordered by document, then fragment, each text once, under its SHA-256."""
        save(vault, "z.md", "Zeta.\nAlpha.\nZeta.")
        save(vault, "a.md", "Alpha.\nMu.")

        expected = [(sha(text), text) for text in ("Zeta.", "Alpha.", "Mu.")]
        assert vault.embeddings.pending(10) == expected

    def test_context_goes_before_the_text(self, vault: Vault) -> None:
        """The embedded text is the context, a line end and the text; without a context it is the text alone."""
        body = "One."
        vault.documents.save(document("a.md", body), body, fragments(body, context="Title › 2024"))
        save(vault, "b.md", "One.")

        assert pending_texts(vault) == ["Title › 2024\nOne.", "One."]

    def test_ends_are_stripped(self, vault: Vault) -> None:
        """White space at both ends is not embedded, so it makes no other text; nor is white space alone."""
        body = " \n\t\nOne."
        blank = Fragment(0, FragmentKind.PASSAGE, 1, 2, 0, 3, body[:3])
        vault.documents.save(document("a.md", body), body, [blank])
        assert vault.embeddings.pending(10) == []

        save(vault, "a.md", "  One. \t\nOne.")

        assert vault.embeddings.pending(10) == [(sha("One."), "One.")]

    @pytest.mark.parametrize("kind", FragmentKind)
    def test_lines_are_never_embedded(self, vault: Vault, kind: FragmentKind) -> None:
        """Fragments are embedded, except those of the kinds in `LINES`."""
        vault.documents.save(document("a.md", "One."), "One.", fragments("One.", kind=kind))

        assert pending_texts(vault) == ([] if kind in LINES else ["One."])

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
        """While vectors are stored, those of another model are refused; the error names both models."""
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

    def test_synced_when_complete(self, vault: Vault) -> None:
        """
        A document is pending until its last text has a vector, then synced; other documents are unaffected.

        So long it counts as one without a vector; an inactive one does not count.
        """
        saved, other = save(vault, "a.md", "One.\nTwo."), save(vault, "b.md", "Three.")
        gone = save(vault, "c.md", "Four.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A})
        assert (state(vault, saved), vault.embeddings.documents_without()) == (EmbedState.PENDING, 3)
        vault.documents.deactivate([gone], InactiveReason.REMOVED)
        assert vault.embeddings.documents_without() == 2

        vault.embeddings.store(MODEL, {sha("Two."): VECTOR_B})

        assert (state(vault, saved), state(vault, other)) == (EmbedState.SYNCED, EmbedState.PENDING)
        assert vault.embeddings.documents_without() == 1

    def test_three_failures(self, vault: Vault) -> None:
        """A text leaves the worklist at its third failure, not before, and its documents become failed."""
        both = save(vault, "a.md", "One.\nTwo."), save(vault, "b.md", "One.")
        for _ in range(2):
            vault.embeddings.fail([sha("One.")])
        assert pending_texts(vault) == ["One.", "Two."]
        assert {state(vault, saved) for saved in both} == {EmbedState.PENDING}

        vault.embeddings.fail([sha("One.")])

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
        """
        Cleaning deletes exactly the vectors that no active document uses and returns their number.

        After the last one there is no model, and any other may begin, with any length.
        """
        here, gone = save(vault, "a.md", "One."), save(vault, "b.md", "One.\nTwo.\nThree.")
        vault.embeddings.store(MODEL, {sha("One."): VECTOR_A, sha("Two."): VECTOR_B, sha("Three."): VECTOR_B})
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        assert vault.embeddings.clean() == 2
        assert vault.embeddings.clean() == 0
        assert_vectors(vault.embeddings.of_document(here), [vector_of(here, 0, VECTOR_A)])
        assert vault.embeddings.counts() == EmbeddingCounts(stored=1)
        vault.documents.deactivate([here], InactiveReason.REMOVED)
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
        """A text that failed for good in one space leaves that worklist only; nothing else changes."""
        number = served(vault, "One.")
        both = save(vault, "new.md", "Two.")
        vault.embeddings.begin(OTHER)

        for _ in range(3):
            assert pending_of_build(vault) == ["One.", "Two."]
            vault.embeddings.fail([sha("One."), sha("Two.")], building=True)

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
        """A document whose text failed with the new model is failed; one that the old model failed on is synced."""
        lost = served(vault, "One.", path="lost.md")
        won = save(vault, "won.md", "Two.")
        for _ in range(3):
            vault.embeddings.fail([sha("Two.")])
        begin_with(vault, {"Two.": SHORT_B})
        for _ in range(3):
            vault.embeddings.fail([sha("One.")], building=True)

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
            vault.embeddings.fail([sha("One.")], building=True)

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
