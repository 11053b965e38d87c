from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term

# BM25 (Robertson and Zaragoza 2009) with the constants built into every engine, so that all engines rank alike.
K1 = 1.2
B = 0.75
TITLE_WEIGHT = 2  # one occurrence in the title counts like two in the text


class LexicalIndex(DerivedIndex, Protocol):
    """
    Full-text index of fragments at every granularity, ranked by BM25.

    Texts are split at every character that is neither letter nor digit; case and diacritics are ignored;
    English words match by their stem. BM25 statistics are separate for each granularity.
    """

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        """Add entries. An entry replaces an existing one with the same key and granularity."""

    def remove(self, document_id: int) -> None:
        """Delete all entries of a document, at every granularity. An unknown document changes nothing."""

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        Return the best *limit* entries of one granularity.

        Scores are positive, larger is better: rare words count more than common ones, titles more than texts,
        short entries more than long ones, several of the terms more than one. With `Capability.BM25` a score is the sum, over the terms that an entry contains, of
        ``rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average length))``, with ``rarity`` as in
        `clawmem.domain.retrieval.bm25`; an occurrence in the title counts `TITLE_WEIGHT` times. An engine may
        round lengths. Ordered by score, highest first, then by key. The scope is applied before the limit, so
        that a search in a small collection of a large vault returns all of its matches up to the limit. No
        terms, a limit below 1, or terms without a letter or digit return an empty list.
        """

    def count(self, grain: Grain) -> int:
        """Return the number of entries of a granularity."""

    def holding(self, term: Term, grain: Grain) -> int:
        """Return the number of entries of a granularity that contain a term; 0 for a term without a letter or digit."""


class LexicalTail(LexicalIndex, Protocol):
    """
    Lexical index that can hold the documents another index has not seen yet, with scores comparable to that index's.
    """

    def search_among(
        self,
        documents: Collection[int],
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        scope: Scope,
        rarities: Mapping[Term, float],
    ) -> list[Hit]:
        """Search like `search`, restricted to *documents*, with each term's rarity in the complete corpus."""


class UnknownWord(NamedTuple):
    """
    A word that no entry contains.

    ``stem`` is the form in which the index would store it. ``alike`` maps the stored words with the same first letter
    to the number of documents that contain them.
    """

    stem: str
    alike: Mapping[str, int]


@runtime_checkable
class SpellingIndex(Protocol):
    """Lexical index that can list its words."""

    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        """Return the terms that no document contains, by their text; an empty mapping if all are known."""


def unknown_words(index: object, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
    """Return the unknown words among *terms*; none if *index* cannot list its words."""
    return index.unknown_words(terms) if terms and isinstance(index, SpellingIndex) else {}


Item = TypeVar("Item", bound=Hashable)

# Scoring takes about a microsecond per match, and the most frequent terms are the least selective: once the terms
# have this many matches, the remaining ones are omitted.
MOST_MATCHES = 8_000


def selective_terms(terms: Sequence[Item], held: Mapping[Item, int]) -> list[Item]:
    """
    Return the rarest of *terms* that together have at most `MOST_MATCHES` matches, and at least the rarest one.

    *held* is the number of matches of each term.
    """
    kept: list[Item] = []
    matches = 0
    for term in sorted(terms, key=lambda term: held[term]):
        matches += held[term]
        if kept and matches > MOST_MATCHES:
            break
        kept.append(term)
    return kept
