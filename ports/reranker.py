from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Model that reads a query together with a document and scores their relevance to each other."""

    @property
    def fingerprint(self) -> str:
        """
        Return the identifier of the model and of its score scale; scores with different fingerprints are not
        comparable.

        If the model runs on a server, this occasionally sends the server a request.

        Raises:
            ModelUnavailable: a request to the server is necessary and fails.
        """

    @property
    def max_document_chars(self) -> int:
        """Return the number of characters of a document that are read, > 0; the rest has no influence."""

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        """
        Return one relevance score for each of *documents*, in order; an empty list for no documents.

        Scores are finite, from 0 to 1, higher is better. They rank documents but are not calibrated
        probabilities: thresholds are fitted for each fingerprint. A document's score depends on the query and
        its own text alone, so that equal texts have equal scores.

        Args:
            timeout_s: Seconds from now within which the call returns or raises, retries included.

        Raises:
            ModelUnavailable: unreachable, busy, or not finished in time; raised at once if *timeout_s* is not
                positive.
            ModelRefused: the model rejects the request permanently; `InputTooLong` if the query alone is too
                long.
            ModelAnswerInvalid: the response does not contain one score for each document.
        """
