import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.models import LateInteraction

NEARLY = 1e-6  # tolerance for values of 1 in single precision
QUESTION = ("kettle", "whistle", "steam")
TEXTS = (
    ("the", "kettle", "has", "a", "whistle"),
    ("steam", "drives", "the", "engine"),
    ("tomatoes", "want", "sun"),
)
ODD_WORDS = {
    "empty": "",
    "blank": " ",
    "nul": "\x00",
    "half a surrogate pair": "\ud83d",
    "emoji": "🐝",
    "long": "a" * 5000,
}
UNSPACED = {"Chinese": ("会议", "议改", "项目"), "Japanese": ("会議", "議室"), "Thai": ("ภา", "าษ", "ษา")}


class LateInteractionContract(Contract):
    """Late interaction. Supply ``late``: any ``LateInteraction``, based on words or on characters only."""

    def test_a_row_for_each_text_and_a_column_for_each_word(self, late: LateInteraction) -> None:
        """There is one row per text, and one column and one weight per word; a text without words is near to none."""
        matches = late.compare((*QUESTION, "kettle"), (*TEXTS, (), TEXTS[0]))

        assert len(matches.weights) == 4
        assert [len(row) for row in matches.nearest] == [4] * 5
        assert matches.nearest[3] == (0.0,) * 4

    def test_a_word_is_nearest_to_itself(self, late: LateInteraction) -> None:
        """A word that the text contains has similarity 1, at any position; one that it does not contain has less."""
        for word in QUESTION:
            ((near,), (far,)) = late.compare((word,), (("bees", word, "honey"), ("tomatoes", "sun"))).nearest
            assert near == pytest.approx(1.0, abs=NEARLY)
            assert far < 0.9

    def test_other_texts_do_not_matter(self, late: LateInteraction) -> None:
        """A text has exactly the same numbers alone and among others."""
        alone = [late.compare(QUESTION, [text]) for text in TEXTS]

        together = late.compare(QUESTION, [*TEXTS, ("so", "many", "other", "words"), ()])

        assert together.nearest[: len(TEXTS)] == tuple(matches.nearest[0] for matches in alone)
        assert {together.weights} == {matches.weights for matches in alone}

    @pytest.mark.parametrize("word", ODD_WORDS.values(), ids=ODD_WORDS)
    def test_any_word_can_be_compared(self, late: LateInteraction, word: str) -> None:
        """No word raises an error, and weights and similarities stay in their bounds."""
        for words in ([word], [word, "kettle"]):
            matches = late.compare(words, [[word], ["kettle"], []])
            assert math.isclose(math.fsum(matches.weights), 1.0, abs_tol=NEARLY)
            assert all(0.0 <= near <= 1.0 for row in matches.nearest for near in row)

    @pytest.mark.parametrize("words", UNSPACED.values(), ids=UNSPACED)
    def test_scripts_without_spaces(self, late: LateInteraction, words: Sequence[str]) -> None:
        """Pairs of characters are words like any others: similar to themselves and distinct from each other."""
        matches = late.compare(words, [words, words[:1], ["kettle"]])

        assert matches.nearest[0] == pytest.approx([1.0] * len(words), abs=NEARLY)
        assert matches.nearest[1][0] == pytest.approx(1.0, abs=NEARLY)
        assert min(matches.nearest[1]) < 1.0 - NEARLY
        assert max(matches.nearest[2]) < 0.5

    def test_several_at_once(self, late: LateInteraction) -> None:
        """Concurrent queries with words not seen before give the same results as sequential ones."""
        asked = [[f"word{n}", f"thing{n % 7}", "kettle"] for n in range(40)]
        texts = [(f"word{n}", f"thing{n}") for n in range(20)]

        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda words: late.compare(words, texts), asked))

        assert found == [late.compare(words, texts) for words in asked]
