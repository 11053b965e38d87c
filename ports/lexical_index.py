from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Protocol

from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope

# BM25 as every engine that lets its constants be set shall use it (b = .75 throughout). Short units want
# early saturation, long ones late: measured on two conversational and one document collection.
K1 = MappingProxyType({Grain.LINE: 0.6, Grain.PASSAGE: 2.0, Grain.SECTION: 2.0, Grain.DOCUMENT: 2.0})
B = 0.75
TITLE_WEIGHT = 2.0  # a word of the title counts like two of the text


class LexicalIndex(Protocol):
    """
    Words to fragments, at every grain of the same text, ranked by BM25.

    Texts are split at everything that is neither letter nor digit; case and diacritics do not matter;
    English words meet by their stem (Porter 1980). Statistics are kept per grain.
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

        Scores are positive, larger is better; they depend on the words only: rarer words count more, words
        of the title `TITLE_WEIGHT` times. Ordered by score descending, then key. The scope is applied
        before the cut: a small collection in a large vault never comes back short. No terms, a limit
        below 1, or words without a letter or digit give an empty list.
        """
        ...

    def count(self, grain: Grain) -> int:
        """How many entries a grain holds."""
        ...

    def clear(self) -> None:
        """Empty the index; it can be filled again from the records."""
        ...
