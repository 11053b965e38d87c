from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """A model that reads a question together with a document and says how well the two belong together."""

    @property
    def fingerprint(self) -> str:
        """
        Names the model and the scale of its scores; scores of different fingerprints are not comparable.

        Asks the model's server, if there is one, now and then.

        Raises:
            ModelUnavailable: it has to be asked and cannot be.
        """
        ...

    @property
    def max_document_chars(self) -> int:
        """How much of a document is read, > 0; what is beyond it has no influence."""
        ...

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        """
        How well each of *documents* answers *query*: one score each, in their order; none for none.

        Scores are finite, from 0 to 1, higher is better. They say which document is better, not how likely
        it is to be right: thresholds are fitted for each fingerprint. A document's score depends on the query
        and its own text alone, so that equal texts score alike.

        Args:
            timeout_s: Seconds from now, by which the call returns or raises, retries included.

        Raises:
            ModelUnavailable: out of reach, busy, or not done in time; at once when *timeout_s* is not positive.
            ModelRefused: it says no for good; `InputTooLong` when the query alone is too long for it.
            ModelAnswerInvalid: what came back is no score for each document.
        """
        ...
