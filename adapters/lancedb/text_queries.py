"""
Stand-ins for LanceDB's classes of full-text queries.

The compiled module recognizes these classes by their names and attributes, so they replace those of the
package where the package is not imported. Names and defaults are those of the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FullTextOperator(StrEnum):
    """Operator between the words of a match."""

    AND = "AND"
    OR = "OR"


class Occur(StrEnum):
    """Role of a part in a boolean query."""

    SHOULD = "SHOULD"
    MUST = "MUST"


@dataclass(frozen=True)
class MatchQuery:
    """A query for words."""

    query: str
    column: str
    boost: float = 1.0
    operator: FullTextOperator = FullTextOperator.OR
    fuzziness: int = 0
    max_expansions: int = 50
    prefix_length: int = 0
    document_granularity: None = None


@dataclass(frozen=True)
class PhraseQuery:
    """A query for consecutive words."""

    query: str
    column: str
    slop: int = 0
    document_granularity: None = None


@dataclass(frozen=True)
class BooleanQuery:
    """A combination of queries."""

    queries: list[tuple[Occur, MatchQuery | PhraseQuery | BooleanQuery]]
