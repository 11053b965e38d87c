from __future__ import annotations

import math

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import cosine, floats
from clawmem.ports.models import Embedder

BEES = "The bees left the hive at noon."
BOATS = "Two wooden boats lay in the harbour."
TEXTS = (BEES, BOATS, "Why does the build fail on Mondays?", "Übergröße, naïve café")


class EmbedderContract(Contract):
    """Embedding of texts. Supply ``embedder``: any ``Embedder`` that knows everyday English words."""

    def test_names_its_space(self, embedder: Embedder) -> None:
        """The fingerprint is a non-empty text that does not change between calls."""
        before = embedder.fingerprint
        embedder.embed_documents(TEXTS)

        assert before
        assert embedder.fingerprint == before

    def test_every_vector_has_the_declared_length(self, embedder: Embedder) -> None:
        """Vectors of queries and documents hold `dimensions` float32 numbers, four bytes each."""
        vectors = [embedder.embed_query(BEES), *embedder.embed_documents(TEXTS)]

        assert embedder.dimensions > 0
        assert {len(vector) for vector in vectors} == {4 * embedder.dimensions}

    @pytest.mark.parametrize("text", TEXTS)
    def test_unit_length(self, embedder: Embedder, text: str) -> None:
        """The vector of a text with known words has length one and only finite components."""
        for vector in (embedder.embed_query(text), *embedder.embed_documents([text])):
            assert math.hypot(*floats(vector)) == pytest.approx(1.0, abs=1e-4)

    def test_text_without_a_token_is_zero(self, embedder: Embedder) -> None:
        """The empty text gives all zeros, not NaN or an error, alone and in a batch."""
        zeros = (0.0,) * embedder.dimensions

        assert floats(embedder.embed_query("")) == zeros
        assert floats(embedder.embed_documents([BEES, "", BOATS])[1]) == zeros

    def test_one_vector_each_in_order(self, embedder: Embedder) -> None:
        """Every text has its own vector, in the order of the texts, repeated texts included."""
        bees, boats, again = embedder.embed_documents([BEES, BOATS, BEES])

        assert bees == again != boats

    def test_same_bytes_every_time(self, embedder: Embedder) -> None:
        """The same text gives the same bytes, regardless of the other texts in the batch."""
        together = embedder.embed_documents(TEXTS)
        alone = [embedder.embed_documents([text])[0] for text in TEXTS]

        assert together == alone
        assert embedder.embed_query(BEES) == embedder.embed_query(BEES)

    def test_a_question_is_nearest_to_its_own_words(self, embedder: Embedder) -> None:
        """A query is more similar to the text that contains its words than to a text on another topic."""
        bees, boats = embedder.embed_documents([BEES, BOATS])
        question = embedder.embed_query("bees hive")

        assert cosine(question, bees) > cosine(question, boats)
