from __future__ import annotations

import math

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.errors import ModelUnavailable
from clawmem.ports.reranker import Reranker

IN_TIME_S = 30.0  # nobody waits for as long unless something is wrong
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
    """Supply ``reranker``: any ``Reranker``, whether its scores mean anything or not."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `reranker` fixture and return a Reranker")

    def test_names_itself(self, reranker: Reranker) -> None:
        """
        The fingerprint is a non-empty text that stays the same, whatever is ranked in between.

        If this fails: something that changes from call to call went into the fingerprint.
        """
        before = reranker.fingerprint
        reranker.rerank(QUERY, [BEES, BOATS], timeout_s=IN_TIME_S)

        assert before
        assert reranker.fingerprint == before

    def test_one_score_each_from_0_to_1(self, reranker: Reranker) -> None:
        """
        Every document has one finite score between 0 and 1, however many there are.

        If this fails: raw logits are passed on, or a last, smaller batch is lost.
        """
        scores = reranker.rerank(QUERY, MANY, timeout_s=IN_TIME_S)

        assert len(scores) == len(MANY)
        assert all(math.isfinite(score) and 0 <= score <= 1 for score in scores)

    def test_scores_are_in_the_order_of_the_documents(self, reranker: Reranker) -> None:
        """
        Turning the documents round turns the scores round.

        If this fails: servers answer best first; put the scores back by their index.
        """
        documents = [BEES, BOATS, *MANY]
        scores = reranker.rerank(QUERY, documents, timeout_s=IN_TIME_S)

        turned = reranker.rerank(QUERY, documents[::-1], timeout_s=IN_TIME_S)

        assert turned[::-1] == pytest.approx(scores, abs=1e-4)
        assert len(set(scores)) > 1

    def test_equal_documents_score_alike(self, reranker: Reranker) -> None:
        """
        A text that comes twice has the same score twice, wherever it stands.

        If this fails: scores are scaled per batch, or the number of equal texts goes into them.
        """
        scores = reranker.rerank(QUERY, [BEES, BOATS, *MANY, BEES], timeout_s=IN_TIME_S)

        assert scores[0] == scores[-1]

    def test_no_documents_no_scores(self, reranker: Reranker) -> None:
        """
        No documents have no scores.

        If this fails: an empty list reaches the model.
        """
        assert reranker.rerank(QUERY, [], timeout_s=IN_TIME_S) == []

    def test_only_the_beginning_is_read(self, reranker: Reranker) -> None:
        """
        What lies beyond `max_document_chars` changes nothing.

        If this fails: cut by characters before sending, and in every batch.
        """
        assert reranker.max_document_chars > 0
        beginning = (BEES + " ") * (reranker.max_document_chars // len(BEES) + 1)
        beginning = beginning[: reranker.max_document_chars]
        longer = beginning + " " + BOATS

        assert reranker.rerank(QUERY, [longer], timeout_s=IN_TIME_S) == reranker.rerank(
            QUERY, [beginning], timeout_s=IN_TIME_S
        )

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    def test_any_text_can_be_ranked(self, reranker: Reranker, text: str) -> None:
        """
        Nothing that a note or a question may hold breaks the ranking.

        If this fails: texts are pasted into a request instead of being encoded, or empty ones are left out.
        """
        assert len(reranker.rerank(text, [text, BEES], timeout_s=IN_TIME_S)) == 2

    @pytest.mark.parametrize("timeout_s", [0.0, -1.0])
    def test_no_time_left(self, reranker: Reranker, timeout_s: float) -> None:
        """
        Without time there is no score, and the model is out of reach rather than refusing.

        If this fails: 0 is taken for no limit.
        """
        with pytest.raises(ModelUnavailable):
            reranker.rerank(QUERY, [BEES], timeout_s=timeout_s)


class RerankerJudgementContract(Contract):
    """Supply ``reranker``: a ``Reranker`` that knows everyday English."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `reranker` fixture and return a Reranker")

    def test_the_answer_is_above_everything_else(self, reranker: Reranker) -> None:
        """
        The document that answers the question has the highest score.

        If this fails: the scale is upside down, or query and document have changed places.
        """
        bees, boats, tax = reranker.rerank(
            QUERY, [BEES, BOATS, "Income tax is due in April."], timeout_s=IN_TIME_S
        )

        assert bees > max(boats, tax)
