from __future__ import annotations

import math

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import cosine, floats
from clawmem.ports.embedder import Embedder

BEES = "The bees left the hive at noon."
BOATS = "Two wooden boats lay in the harbour."
TEXTS = (BEES, BOATS, "Why does the build fail on Mondays?", "Übergröße, naïve café")


class EmbedderContract(Contract):
    """Supply ``embedder``: any ``Embedder`` that knows everyday English words."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `embedder` fixture and return an Embedder")

    def test_names_its_space(self, embedder: Embedder) -> None:
        """
        The fingerprint is a non-empty text that stays the same, whatever is embedded in between.

        If this fails: something that changes from call to call went into the fingerprint.
        """
        before = embedder.fingerprint
        embedder.embed_documents(TEXTS)

        assert before
        assert embedder.fingerprint == before

    def test_every_vector_has_the_declared_length(self, embedder: Embedder) -> None:
        """
        Vectors hold `dimensions` float32 numbers, four bytes each, questions and documents alike.

        If this fails: float64 leaks out, or a vector is truncated in one of the two methods only.
        """
        vectors = [embedder.embed_query(BEES), *embedder.embed_documents(TEXTS)]

        assert embedder.dimensions > 0
        assert {len(vector) for vector in vectors} == {4 * embedder.dimensions}

    @pytest.mark.parametrize("text", TEXTS)
    def test_unit_length(self, embedder: Embedder, text: str) -> None:
        """
        A vector of a text with known words has length one and only finite numbers.

        If this fails: normalise after truncating, not before, and in float32.
        """
        for vector in (embedder.embed_query(text), *embedder.embed_documents([text])):
            assert math.hypot(*floats(vector)) == pytest.approx(1.0, abs=1e-4)

    def test_text_without_a_token_is_zero(self, embedder: Embedder) -> None:
        """
        The empty text gives all zeros, not NaN and no error, alone and among others.

        If this fails: a length of zero is divided by.
        """
        zeros = (0.0,) * embedder.dimensions

        assert floats(embedder.embed_query("")) == zeros
        assert floats(embedder.embed_documents([BEES, "", BOATS])[1]) == zeros

    def test_one_vector_each_in_order(self, embedder: Embedder) -> None:
        """
        Every text gets its own vector, in the order of the texts, repeated ones too.

        If this fails: texts are sorted by length for the batch and not put back, or made unique.
        """
        bees, boats, again = embedder.embed_documents([BEES, BOATS, BEES])

        assert bees == again != boats

    def test_no_texts_no_vectors(self, embedder: Embedder) -> None:
        """
        No texts give no vectors.

        If this fails: an empty batch reaches the model.
        """
        assert embedder.embed_documents([]) == []

    def test_same_bytes_every_time(self, embedder: Embedder) -> None:
        """
        The same text gives the same bytes, whatever stands beside it in the batch.

        If this fails: padding leaks into the average, or a hash that differs between processes is used.
        """
        together = embedder.embed_documents(TEXTS)
        alone = [embedder.embed_documents([text])[0] for text in TEXTS]

        assert together == alone
        assert embedder.embed_query(BEES) == embedder.embed_query(BEES)

    def test_a_question_is_nearest_to_its_own_words(self, embedder: Embedder) -> None:
        """
        A question is nearer to the text it repeats than to one about something else.

        If this fails: questions and documents are embedded in two different spaces.
        """
        bees, boats = embedder.embed_documents([BEES, BOATS])
        question = embedder.embed_query("bees hive")

        assert cosine(question, bees) > cosine(question, boats)
