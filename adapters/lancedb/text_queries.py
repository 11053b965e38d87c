"""
What the engine's compiled module reads of a search by words.

It knows the package's classes by their names and attributes, so these can stand for them where the package is not
imported. The names and defaults are the package's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FullTextOperator(StrEnum):
    AND = "AND"
    OR = "OR"


class Occur(StrEnum):
    SHOULD = "SHOULD"
    MUST = "MUST"


@dataclass(frozen=True)
class MatchQuery:
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
    query: str
    column: str
    slop: int = 0
    document_granularity: None = None


@dataclass(frozen=True)
class BooleanQuery:
    queries: list[tuple[Occur, MatchQuery | PhraseQuery | BooleanQuery]]
