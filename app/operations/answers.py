"""
The results of searches: documents that may answer, with the lines that do.

As in `clawmem.app.operations.questions`, annotations are evaluated here.
"""

from typing import Any

from pydantic import Field

from clawmem.app.operations.operation import Result, SelectedResult
from clawmem.app.services.documents.records import DocumentReference, Successor
from clawmem.ports.sessions import Session


class FoundDocument(SelectedResult, DocumentReference):
    """A document that may answer, and the lines that do. A compact result has only some of the keys."""

    score: float = Field(description="0 to 1, for the order within one answer only.")
    confidence: float | None = Field(default=None, description="Probability that it answers.")
    likelihood: str | None = Field(
        default=None, description="The confidence in a word: likely, possible or unlikely."
    )
    age: str = Field(default="", description="When it was written, such as 3 weeks ago.")
    start_line: int = Field(description="First line of the answer.")
    end_line: int | None = None
    snippet: str
    superseded_by: Successor | None = None
    collection: str | None = None
    path: str | None = None
    heading: str | None = None
    content_type: str | None = None
    authored_at: str | None = None
    modified_at: str | None = None
    context: str | None = Field(
        default=None, description="The descriptions of its folders in the config file."
    )
    snippet_line: int | None = None
    body: str | None = Field(default=None, description="The whole text, on request.")
    relevance: float | None = Field(default=None, description="Of an explained result, as the next three.")
    legs: dict[str, float] | None = None
    terms: dict[str, float] | None = None
    ranks: dict[str, Any] | None = None


class Clause(Result):
    """A part of a question that was split."""

    type: str
    query: str
    priority: int
    result_count: int


class SearchAnswer(SelectedResult):
    """Results of a search, best first. Only some searches have the last keys."""

    query: str
    count: int
    answered: float | None = Field(
        default=None, description="Probability that any result answers; null if it was not computed."
    )
    hidden: int = Field(
        default=0, description="Unlikely results left out below a likely one; show_all shows them."
    )
    results: list[FoundDocument]
    degraded: dict[str, str] = Field(
        default={}, description="Parts of the search that failed, with reasons; empty if none failed."
    )
    mode: str | None = Field(default=None, description="The route that was taken.")
    intent: str | None = Field(default=None, description="Detected intent of the question.")
    confidence: float | None = Field(default=None, description="Probability of the intent.")
    clauses: int | None = Field(default=None, description="Number of parts of the question.")
    plan: list[Clause] | None = Field(default=None, description="These parts.")
    sessions: list[Session] | None = Field(default=None, description="The latest sessions.")
    trace: dict[str, Any] | None = Field(default=None, description="Explanation of the answer.")
    receipt: int | None = Field(default=None, description="The number of the receipt of an explained answer.")
