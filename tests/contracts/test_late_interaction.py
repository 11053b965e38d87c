"""Late interaction: the static vectors with a large and a tiny cache of words."""

from __future__ import annotations

import pytest

from clawmem.adapters.models.local import StaticEmbedder, StaticWords
from clawmem.contracts.late_interaction import LateInteractionContract
from clawmem.ports.errors import EmbeddingError


class TestStaticWords(LateInteractionContract):
    @pytest.fixture
    def late(self) -> StaticWords:
        return StaticWords()


class TestStaticWordsThatForget(LateInteractionContract):
    """Almost every word is looked up again in every comparison."""

    @pytest.fixture
    def late(self) -> StaticWords:
        return StaticWords(most_words=2)


def test_what_means_the_same_is_near() -> None:
    """A synonym is nearer than anything else, and less near than the word itself."""
    late = StaticWords()
    for word, synonym, other in (
        ("car", "automobile", "tomato"),
        ("doctor", "physician", "gravel"),
        ("bought", "purchased", "whistle"),
    ):
        ((same,), (near,), (far,)) = late.compare([word], [[word], [synonym], [other]]).nearest
        assert far + 0.3 < near < same


def test_words_that_are_everywhere_weigh_little() -> None:
    """A rare word tells more than a frequent one, without any corpus to count in."""
    (the, kettle) = StaticWords().compare(["the", "kettle"], []).weights

    assert kettle > 2 * the


def test_words_without_a_vector_weigh_alike() -> None:
    """Where nothing is known of any word none weighs more than another, and none is near."""

    class Ignorant(StaticEmbedder):
        def token_sums(self, texts):  # type: ignore[no-untyped-def]
            return super().token_sums(texts) * 0

    matches = StaticWords(Ignorant()).compare(["kettle", "steam"], [["kettle"], []])

    assert matches.weights == (0.5, 0.5)
    assert matches.nearest == ((0.0, 0.0), (0.0, 0.0))


def test_nothing_is_opened_before_the_first_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the vectors it can be made, and says with the first comparison what is missing."""
    monkeypatch.setattr("clawmem.adapters.models.local.find_spec", lambda name: None)
    late = StaticWords()

    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        late.compare(["kettle"], [["steam"]])
    assert late.compare([], [["steam"]]).nearest == ((),)
