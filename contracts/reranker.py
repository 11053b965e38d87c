from __future__ import annotations

import math

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.errors import ModelUnavailable
from clawmem.ports.models import Reranker

IN_TIME_S = 30.0  # far longer than a working reranker needs
QUERY = "When did the bees leave the hive?"
BEES = "The bees left the hive at noon."
BOATS = "Two wooden boats lay in the harbour."
MANY = tuple(f"{BEES} The {n}th day was a day without wind." for n in range(11))
ODD_TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "many scripts": "Übergröße, 蜂蜜, עברית, 🐝🐝",
    "half a surrogate pair": "half \ud83d a bee",
    "control characters": "nul \x00 and bell \x07",
    "json": '"],"documents":["',
}


class RerankerContract(Contract):
    """Reranking. Supply ``reranker``: any ``Reranker``; the quality of its scores does not matter."""

    def test_names_itself(self, reranker: Reranker) -> None:
        """The fingerprint is a non-empty text that does not change between calls."""
        before = reranker.fingerprint
        reranker.rerank(QUERY, [BEES, BOATS], timeout_s=IN_TIME_S)

        assert before
        assert reranker.fingerprint == before

    def test_one_score_each_from_0_to_1(self, reranker: Reranker) -> None:
        """Every document has one finite score between 0 and 1, for any number of documents."""
        scores = reranker.rerank(QUERY, MANY, timeout_s=IN_TIME_S)

        assert len(scores) == len(MANY)
        assert all(math.isfinite(score) and 0 <= score <= 1 for score in scores)

    def test_scores_are_in_the_order_of_the_documents(self, reranker: Reranker) -> None:
        """Reversing the documents reverses the scores."""
        documents = [BEES, BOATS, *MANY]
        scores = reranker.rerank(QUERY, documents, timeout_s=IN_TIME_S)

        turned = reranker.rerank(QUERY, documents[::-1], timeout_s=IN_TIME_S)

        assert turned[::-1] == pytest.approx(scores, abs=1e-4)
        assert len(set(scores)) > 1

    def test_only_the_beginning_is_read(self, reranker: Reranker) -> None:
        """Text beyond `max_document_chars` does not change the score."""
        assert reranker.max_document_chars > 0
        beginning = (BEES + " ") * (reranker.max_document_chars // len(BEES) + 1)
        beginning = beginning[: reranker.max_document_chars]
        longer = beginning + " " + BOATS

        assert reranker.rerank(QUERY, [longer], timeout_s=IN_TIME_S) == reranker.rerank(
            QUERY, [beginning], timeout_s=IN_TIME_S
        )

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    def test_any_text_can_be_ranked(self, reranker: Reranker, text: str) -> None:
        """Any text that a note or a query may contain can be ranked."""
        assert len(reranker.rerank(text, [text, BEES], timeout_s=IN_TIME_S)) == 2

    @pytest.mark.parametrize("timeout_s", [0.0, -1.0])
    def test_no_time_left(self, reranker: Reranker, timeout_s: float) -> None:
        """Without remaining time the error is `ModelUnavailable`, not a refusal."""
        with pytest.raises(ModelUnavailable):
            reranker.rerank(QUERY, [BEES], timeout_s=timeout_s)


class RerankerJudgementContract(Contract):
    """Quality of reranking. Supply ``reranker``: a ``Reranker`` that knows everyday English."""

    def test_the_answer_is_above_everything_else(self, reranker: Reranker) -> None:
        """The document that answers the query has the highest score."""
        bees, boats, tax = reranker.rerank(
            QUERY, [BEES, BOATS, "Income tax is due in April."], timeout_s=IN_TIME_S
        )

        assert bees > max(boats, tax)
