from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term

# BM25 (Robertson and Zaragoza 2009) with the constants that every engine has built in, so that all rank alike.
K1 = 1.2
B = 0.75
TITLE_WEIGHT = 2  # a word of the title counts like two of the text


class LexicalIndex(DerivedIndex, Protocol):
    """
    Words to fragments, at every grain of the same text, ranked by BM25.

    Texts are split at everything that is neither letter nor digit; case and diacritics do not matter;
    English words meet by their stem. Statistics are kept per grain.
    """

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        """Add entries. A key that is there already at the same grain is replaced."""
        ...

    def remove(self, document_id: int) -> None:
        """Take every entry of a document out, at every grain. One that is not there changes nothing."""
        ...

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        The best *limit* entries of one grain.

        Scores are positive, larger is better, and the sum over the terms that an entry holds of
        ``rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average length))``, with ``rarity`` as
        in `clawmem.domain.retrieval.bm25`; a word of the title counts `TITLE_WEIGHT` times. An engine may round
        lengths. Ordered by score descending, then key. The scope is applied before the cut: a
        small collection in a large vault never comes back short. No terms, a limit below 1, or words
        without a letter or digit give an empty list.
        """
        ...

    def count(self, grain: Grain) -> int:
        """How many entries a grain holds."""
        ...

    def holding(self, term: Term, grain: Grain) -> int:
        """How many entries of a grain hold a term; 0 for a term without a letter or digit."""
        ...


class LexicalTail(LexicalIndex, Protocol):
    """An index that can hold what another one has not seen yet, and score it as if it were part of the other."""

    def search_among(
        self,
        documents: Collection[int],
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        scope: Scope,
        rarities: Mapping[Term, float],
    ) -> list[Hit]:
        """As `search`, seeing these documents only, each term with the rarity that it has in the whole."""
        ...
