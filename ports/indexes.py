"""Ports for indexes, the vectors that they are made from, and the log of changes that they follow."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from clawmem.ports.records import (
    EVERYTHING,
    Grain,
    Hit,
    IndexRecord,
    LexicalEntry,
    LexicalQuery,
    Marker,
    Role,
    Scope,
    Term,
    Vector,
    VectorEntry,
)

# BM25 (Robertson and Zaragoza 2009) with the constants built into every engine, so that all engines rank alike.
K1 = 1.2
B = 0.75
TITLE_WEIGHT = 2  # one occurrence in the title counts like two in the text

_LATIN_MARKS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")  # diacritics, in the decomposed form of a text
_WORD = re.compile(r"[^\W_]+")
_SHORTEST, _LONGEST = 2, 64  # letters; FTS5 stems only words between
# Of the words of entries, as `clawmem.domain.text.words` writes them; indexes of another are rebuilt.
WORD_FORM = "4"


def surfaces(text: str) -> list[str]:
    """Return the words of *text*: runs of letters and digits in lower case, without Latin diacritics, not stemmed."""
    plain = _LATIN_MARKS.sub("", unicodedata.normalize("NFD", text))
    return _WORD.findall(unicodedata.normalize("NFC", plain).casefold())


def stems(text: str) -> list[str]:
    """Return the `surfaces` of *text* as stems of English words, by the algorithm of FTS5 (Porter 1980)."""
    return [_stem(word) if _SHORTEST < len(word) <= _LONGEST else word for word in surfaces(text)]


@cache
def _stem(word: str) -> str:
    from snowballstemmer import stemmer  # of the extras; it loads all languages

    return str(stemmer("porter").stemWord(word))


class SearchIndex(Protocol):
    """Common interface of the indexes inside and outside of the vault; one that nothing refers to has no resources."""

    @property
    def method(self) -> str:
        """Return the name of the search method, for `status` and `doctor`: for example ``"tantivy"``."""

    def faults(self) -> list[str]:
        """Return the defects inside the index as sentences without a full stop; an empty list if it is sound."""


class DerivedIndex(SearchIndex, Protocol):
    """
    Index that can be rebuilt from the records, and knows how current it is.

    One inside the records' own store changes in their transaction. An external one is updated afterwards by a single
    indexer, and its marker tells which changes it has seen. Methods raise IndexUnavailable or IndexDamaged.
    """

    def marker(self) -> Marker | None:
        """Return the marker of the last commit by any process, or ``None`` for a new or cleared index."""

    def committing(self, marker: Marker | None = None) -> AbstractContextManager[None]:
        """
        Return a context manager for one commit, which becomes durable and visible to all processes at its end.

        The marker is part of the commit; with ``None`` it stays unchanged. When the block raises, its changes are
        rolled back. Nesting raises RuntimeError, and a commit of another process that does not finish in time
        IndexBusy. A single change outside a block is a commit of its own.
        """

    def clear(self) -> None:
        """Delete all entries and the marker; the index can then be refilled, with vectors of any length."""

    def optimize(self) -> None:
        """Make reading fast again after many commits, without changing results; may do nothing."""


class LexicalIndex(DerivedIndex, Protocol):
    """Full-text index ranked by BM25 at each granularity; words are `surfaces`, and the stems of English words."""

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        """Add entries, replacing those with the same key and granularity."""

    def remove(self, document_id: int) -> None:
        """Delete all entries of a document, at every granularity."""

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        Return the best *limit* entries of one granularity, highest score first, then by key.

        Scores are positive: the sum of ``rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average length))``
        over the terms, with ``rarity`` as in `clawmem.domain.retrieval.fusion`; an occurrence in the title counts
        `TITLE_WEIGHT` times. An engine without the capability BM25 only ranks alike. The scope is applied before the
        limit. Terms without a letter or digit match nothing.
        """

    def count(self, grain: Grain) -> int:
        """Return the number of entries of a granularity."""

    def holding(self, term: Term, grain: Grain) -> int:
        """Return the number of entries of a granularity that contain a term."""


class UnknownWord(NamedTuple):
    """A word in no entry: its stem, and the stored words with its first letter by number of documents."""

    stem: str
    alike: Mapping[str, int]


@runtime_checkable
class SpellingIndex(Protocol):
    """Lexical index that can list its words."""

    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        """Return the terms that no document contains, by their text."""


@runtime_checkable
class FormedIndex(Protocol):
    """Lexical index that records the form of its words."""

    def is_outdated(self) -> bool:
        """Whether the words have another form than `WORD_FORM`."""


class VectorSearch(SearchIndex, Protocol):
    """Search of fragments by the cosine similarity of their vectors."""

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        Return the *limit* nearest fragments with their cosine as score in [-1, 1], descending, then by key.

        A store may keep vectors with less precision: a score may then be off by .02, and a fragment may be missing for
        one whose score is as close as that. None is missing otherwise, except from a backend without the capability
        EXACT. The scope is applied before the limit. An all-zero vector has no neighbours; another length raises
        BadVector.
        """

    def count(self) -> int:
        """Return the number of fragments that have a vector."""


class VectorIndex(VectorSearch, DerivedIndex, Protocol):
    """Index outside of the vault, filled from its embeddings."""

    def put(self, entries: Iterable[VectorEntry]) -> None:
        """Add vectors of an `EmbeddingStore`, which has checked them, replacing those with the same keys."""

    def remove(self, document_id: int) -> None:
        """Delete every vector of a document."""


class IndexPlace(NamedTuple):
    """
    Storage location of one generation of one index.

    ``folder`` is next to the vault file; it may not exist yet. ``name`` is unique among all vaults and generations, for
    engines that store their data elsewhere. ``options`` come from the config file, as text.
    """

    folder: str
    name: str
    read_only: bool = False
    options: Mapping[str, str] = MappingProxyType({})


class Backend(NamedTuple):
    """
    Engine factories by index role. The vault file's own index serves a role that is ``None``.

    Opening creates a missing index, empty and without a marker, unless ``read_only``. It raises `IndexDamaged` for an
    unusable index and `IndexUnavailable` for an unreachable one. ``discard`` deletes a generation, if it exists.
    """

    name: str
    lexical: Callable[[IndexPlace], LexicalIndex] | None = None
    vectors: Callable[[IndexPlace], VectorIndex] | None = None
    discard: Callable[[IndexPlace], None] = lambda place: None


class Changes(NamedTuple):
    """Changed documents, each once in the order of its first change, and the marker of the last change among them."""

    document_ids: tuple[int, ...]
    upto: Marker


class Outbox(Protocol):
    """Log of changed documents (and vectors) for external indexes, in their transactions; empty without indexes."""

    def head(self) -> Marker:
        """Return the marker of an index that has seen every change."""

    def knows(self, marker: Marker) -> bool:
        """Whether all changes after *marker* are available: it is of this history, not ahead, and not too old."""

    def after(self, marker: Marker, role: Role, limit: int | None = None) -> Changes:
        """Return at most *limit* changes after *marker* for this role; ``upto`` is *marker* if nothing changed."""

    def indexes(self) -> Sequence[IndexRecord]:
        """Return every registered index, by role and generation."""

    def register(self, role: Role, engine: str) -> IndexRecord:
        """Register a new generation for a role, building from the present head; logging starts here."""

    def seen(self, record: IndexRecord, marker: Marker) -> None:
        """Store that an index has seen the changes up to *marker*; changes that all saw, but the last, are deleted."""

    def serve(self, record: IndexRecord | None, role: Role) -> None:
        """Make *record* serve its role, or the vault's own index with ``None``; the former one is retired."""

    def unregister(self, record: IndexRecord) -> None:
        """Remove an index from the register; removing the last one deletes all logged changes."""


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """Progress of one model: texts with a vector, pending and failed, and vectors that no document uses."""

    stored: int = 0
    pending: int = 0
    failed: int = 0
    orphaned: int = 0


@dataclass(frozen=True, slots=True)
class EmbeddingBuild:
    """An embedding space that is built next to the serving one, and the fraction of documents passed, 0 to 1."""

    fingerprint: str
    share: float


class EmbeddingStore(VectorSearch, Protocol):
    """
    Store of the only copy of the vectors, keyed by the hash of the embedded text, and their search.

    The serving vectors come from one model, identified by its fingerprint. A second embedding space can be built next
    to the serving one (``building=True``), from another model or from the same model again. Until it replaces the
    serving space as a whole, it is not searched, changes no document and counts its own failures.
    """

    def fingerprint(self) -> str | None:
        """Return the fingerprint of the serving vectors; ``None`` while there are none."""

    def building(self) -> EmbeddingBuild | None:
        """Return the embedding space being built; cheap enough to call at every query."""

    def pending(self, limit: int, *, building: bool = False) -> list[tuple[str, str]]:
        """
        Return up to *limit* (name, text) without a vector in active documents, unless they failed three times.

        Ordered by document and fragment, each text once. The text of a fragment is its `embedding_text`, named by its
        SHA-256 in hex. Empty texts and texts of the kinds in `LINES` are excluded. In the space being built,
        texts that precede the last stored one may come last.
        """

    def store(self, fingerprint: str, vectors: Mapping[str, Vector], *, building: bool = False) -> None:
        """
        Store vectors by text hash, all or none. Documents whose texts are now complete become ``synced``.

        Numbers may be rounded to steps of 1/127. Raises ModelMismatch for another fingerprint or without such a space,
        and BadVector unless each is a finite unit vector of the same length as the stored ones.
        """

    def fail(self, text_hashes: Sequence[str], *, building: bool = False) -> None:
        """Count one failed attempt for each text; at the third, its documents become ``failed``."""

    def of_document(self, document_id: int) -> list[VectorEntry]:
        """Return the vectors of a document's fragments, in fragment order; empty for an inactive document."""

    def counts(self, *, building: bool = False) -> EmbeddingCounts:
        """Return the counts of texts and of unused vectors; zeros for a space that does not exist."""

    def documents_without(self) -> int:
        """Return the number of active documents that lack a serving vector; cheap enough for every query."""

    def clean(self) -> int:
        """Delete vectors and failures without an active document, in both spaces; return the number of serving ones."""

    def begin(self, fingerprint: str) -> None:
        """Begin an empty space next to the serving one, replacing any that was begun before."""

    def give_up(self) -> None:
        """Abandon the space being built, if there is one."""

    def take_over(self) -> bool:
        """Let the new space serve if it is complete, and return whether; external indexes become outdated."""

    def discard(self, limit: int) -> int:
        """Delete up to *limit* vectors of spaces that neither serve nor are being built, and return their number."""

    def clear(self) -> None:
        """Delete all vectors, failures and fingerprints; all documents become ``pending``."""

    def rebuild(self) -> int:
        """Write the vectors that can be read to a new table, and return their number; other texts become pending."""
