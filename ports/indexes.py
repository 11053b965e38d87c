"""Ports for indexes, the vectors and sketches that they are made from, and the log of changes that they follow."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from clawmem.ports.models import Sketch
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
    Grain,
    Hit,
    IndexRecord,
    LexicalEntry,
    LexicalQuery,
    Marker,
    PendingText,
    Role,
    Scope,
    Term,
    Vector,
    VectorEntry,
)

GROUP = "clawmem.backends"  # group of entry points; each one is a `Backend`

# BM25 (Robertson and Zaragoza 2009) with the constants built into every engine, so that all engines rank alike.
K1 = 1.2
B = 0.75
TITLE_WEIGHT = 2  # one occurrence in the title counts like two in the text


class DerivedIndex(Protocol):
    """
    Common interface of all indexes: an index can be rebuilt from the records, and it knows how current it is.

    An index inside the records' own store changes in their transaction. An external index is updated
    afterwards by a single indexer, and its marker tells which changes it has seen. Every method raises
    IndexUnavailable or IndexDamaged if the index cannot be reached or read.
    """

    @property
    def method(self) -> str:
        """Return the name of the search method, for `status` and `doctor`: for example ``"tantivy"``."""

    def marker(self) -> Marker | None:
        """Return the marker of the last commit by any process, or ``None`` for a new or cleared index."""

    def committing(self, marker: Marker | None = None) -> AbstractContextManager[None]:
        """
        Return a context manager for one commit: its changes become durable and visible to all processes at
        its end.

        The marker is part of the same commit; with ``None`` it stays unchanged. When the block raises, all
        its changes are rolled back. Not reentrant: nesting raises RuntimeError. A single change outside a
        block is a commit of its own.

        Raises:
            IndexBusy: another process is committing and did not finish in time.
        """

    def clear(self) -> None:
        """Delete all entries and the marker. Afterwards the index can be refilled, with vectors of any length."""

    def optimize(self) -> None:
        """Make reading fast again after many commits. Does not change any result; may do nothing."""

    def faults(self) -> list[str]:
        """Return the defects inside the index as sentences; an empty list if it is sound."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""


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
        Return the best *limit* entries of one granularity, highest score first, then by key.

        Scores are positive, larger is better: rare words count more than common ones, titles more than texts,
        short entries more than long ones, several of the terms more than one. With `Capability.BM25` a score is
        the sum, over the terms that an entry contains, of
        ``rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average length))``, with ``rarity`` as in
        `clawmem.domain.retrieval.bm25`; an occurrence in the title counts `TITLE_WEIGHT` times. An engine may
        round lengths. The scope is applied before the limit, so that a search in a small collection of a large
        vault returns all of its matches up to the limit. No terms, a limit below 1, or terms without a letter or
        digit return an empty list.
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
    rarest: list[Item] = []
    matches = 0
    for term in sorted(terms, key=lambda term: held[term]):
        matches += held[term]
        if rarest and matches > MOST_MATCHES:
            break
        rarest.append(term)
    return rarest


class VectorSearch(Protocol):
    """Search of fragments by the cosine similarity of their vectors."""

    @property
    def method(self) -> str:
        """Return the name of the search method, for `status` and `doctor`: for example ``"sqlite-vec"``."""

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        Return the *limit* nearest fragments with their cosine as score in [-1, 1], descending, then by key.

        A store may keep vectors with less precision: a score may then be off by .02, and a fragment may be missing for
        one whose score is as close as that. Unless a backend lacks `Capability.EXACT`, none is missing otherwise. The
        scope is applied before the limit. An empty index, an all-zero vector or a limit below 1 return an empty list.

        Raises:
            BadVector: *vector* has another length than those in the index.
            IndexDamaged: the vectors cannot be read.
        """

    def count(self) -> int:
        """Return the number of fragments that have a vector."""

    def faults(self) -> list[str]:
        """Return the defects of the stored vectors as sentences without a full stop; an empty list if there are none."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""


class VectorIndex(VectorSearch, DerivedIndex, Protocol):
    """Index outside of the vault, filled from its embeddings."""

    def put(self, entries: Iterable[VectorEntry]) -> None:
        """
        Add vectors; a vector replaces an existing one with the same key.

        Raises:
            BadVector: a vector is not finite, all zeros, or not of the same length as the existing ones.
        """

    def remove(self, document_id: int) -> None:
        """Delete every vector of a document. An unknown document changes nothing."""


class IndexPlace(NamedTuple):
    """
    Storage location of one generation of one index.

    ``folder`` is next to the vault file and is used by this generation only; it may not exist yet. ``name``
    is unique among all vaults and generations, for engines that store their data elsewhere. ``options`` come
    from the config file, as text.
    """

    folder: str
    name: str
    read_only: bool = False
    options: Mapping[str, str] = MappingProxyType({})


class Backend(NamedTuple):
    """
    Engine factories by index role. The vault file's own index serves a role that is ``None``.

    Opening creates a missing index, empty and without a marker, unless ``read_only``. It raises
    `IndexDamaged` for an unusable index and `IndexUnavailable` for an unreachable one. ``discard`` deletes a
    generation permanently, regardless of its state; deleting a missing generation is not an error.
    """

    name: str
    lexical: Callable[[IndexPlace], LexicalIndex] | None = None
    vectors: Callable[[IndexPlace], VectorIndex] | None = None
    discard: Callable[[IndexPlace], None] = lambda place: None


class Capability(StrEnum):
    """Guarantee that a backend may declare. A canonical backend declares all of them."""

    PREFIX = "prefix"  # a term can match every word that begins with it
    PHRASE = "phrase"  # a term with spaces matches only adjacent words
    BM25 = "bm25"  # scores are the formula of `LexicalIndex.search` over the present entries
    STEMMING = "stemming"  # inflections of an English word match each other
    EXACT = "exact"  # vector search is exact at any number of vectors
    TRANSACTIONS = "transactions"  # records and indexes change atomically
    DURABILITY = "durability"  # acknowledged writes survive the end of the process


ALL = frozenset(Capability)


class Changes(NamedTuple):
    """Changed documents, each once in the order of its first change, and the marker of the last change among them."""

    document_ids: tuple[int, ...]
    upto: Marker


class Outbox(Protocol):
    """
    Log of changes for external indexes, written in the same transaction as the changes themselves.

    Every saved or retracted document is a change for both roles; every vector stored or deleted is a change
    for `Role.VECTORS`. The log starts when the first index is registered; without registered indexes it is
    empty.
    """

    def head(self) -> Marker:
        """Return the marker of an index that has seen every change."""

    def knows(self, marker: Marker) -> bool:
        """
        Whether all changes after *marker* are still available, so that an index at *marker* can catch up.

        False for a marker of another vault, for a marker ahead of the vault, for a marker of a history that
        was cut off by restoring a backup, and for a marker so old that changes after it were trimmed.
        """

    def after(self, marker: Marker, role: Role, limit: int | None = None) -> Changes:
        """Return at most *limit* changes after *marker* for this role; ``upto`` is *marker* if nothing changed."""

    def indexes(self) -> Sequence[IndexRecord]:
        """Return every registered index, by role and generation."""

    def register(self, role: Role, engine: str) -> IndexRecord:
        """Register a new generation for a role, building from the present head; logging starts here at the latest."""

    def built(self, record: IndexRecord, to: int) -> None:
        """Store the progress of a building index: it contains every document up to the id *to*."""

    def seen(self, record: IndexRecord, marker: Marker) -> None:
        """
        Store that an index has seen the changes up to *marker*.

        Changes that every building and serving index has seen are deleted, except the last one, so that a
        marker at the last change is still recognised.
        """

    def serve(self, record: IndexRecord | None, role: Role) -> None:
        """
        Make *record* the serving index of its role, or the vault's own index with ``None``; the former one is retired.
        """

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
    """
    Progress of an embedding space with fingerprint ``fingerprint`` that is built next to the serving one.

    ``share`` is an approximate progress for display, 0 to 1: the fraction of documents passed.
    """

    fingerprint: str
    share: float


class EmbeddingStore(VectorSearch, Protocol):
    """
    Store of the only copy of the vectors, keyed by the hash of the embedded text, and their search.

    Content-addressed: a text that reappears, in the same document or another, already has its vector. The
    serving vectors come from one model, identified by its fingerprint; an external vector index is filled with them
    and can be discarded. A second embedding space can be built next to the serving one (``building=True``),
    from another model or from the same model again. It is not searched until it replaces the serving space as
    a whole, in one step; until then it changes no document and counts its own failures.
    """

    def fingerprint(self) -> str | None:
        """Return the fingerprint of the serving vectors; ``None`` while there are none."""

    def building(self) -> EmbeddingBuild | None:
        """Return the embedding space being built and its approximate progress; cheap enough to call at every query."""

    def pending(self, limit: int, *, building: bool = False) -> list[PendingText]:
        """
        Return up to *limit* texts of active documents that have no vector and failed fewer than three times.

        Ordered by document and fragment, each text once; a limit below 1 returns none. The text of a fragment
        is its `embedding_text`; its name is the SHA-256 of that, in hex. Empty texts and texts of the kinds in
        `NEVER_EMBEDDED` are excluded. A text that failed for good does not block the others. In the space being
        built, texts that precede the last stored one may be returned after all others; without such a space the
        list is empty.
        """

    def store(self, fingerprint: str, vectors: Mapping[str, Vector], *, building: bool = False) -> None:
        """
        Store vectors by text hash, all or none. Documents whose texts are now complete become ``synced``.

        A store may round the numbers of a vector to steps of 1/127 or less.

        Raises:
            ModelMismatch: vectors of another fingerprint are stored, or no such space is being built.
            BadVector: a vector is empty, not finite, not unit length, or not of the same length as the stored ones.
        """

    def fail(self, text_hashes: Sequence[str], error: str, *, building: bool = False) -> None:
        """
        Count one failed attempt for each text.

        At the third failure a text leaves the worklist, and its documents become ``failed``.
        """

    def of_document(self, document_id: int) -> list[VectorEntry]:
        """Return the vectors of a document's fragments, in fragment order; empty for an inactive document."""

    def counts(self, *, building: bool = False) -> EmbeddingCounts:
        """Return the counts of texts and of unused vectors; with *building*, zeros if no space is being built."""

    def documents_without(self) -> int:
        """Return the number of active documents that lack a serving vector; cheap enough for every query."""

    def clean(self) -> int:
        """
        Delete vectors and failures that no active document uses, in both spaces; return the number of serving vectors.

        If no serving vector remains, the vault has no model any more, and indexes of that model are outdated.
        """

    def begin(self, fingerprint: str) -> None:
        """Begin an empty space next to the serving one, replacing any space that was begun before."""

    def give_up(self) -> None:
        """Abandon the space being built; does nothing if there is none."""

    def take_over(self) -> bool:
        """
        Make the space being built the serving one, with its failures, and set the state of each document accordingly.

        The former serving vectors become unused, and every external index of them is outdated. Return whether the
        space took over: not while one of its texts is pending, or if there is no such space.
        """

    def discard(self, limit: int) -> int:
        """Delete up to *limit* vectors of spaces that neither serve nor are being built, and return their number."""

    def clear(self) -> None:
        """Delete all vectors, failures and fingerprints; all documents become ``pending``."""

    def rebuild(self) -> int:
        """
        Write the vectors that can be read to a new table; all other texts become pending. Return their number.
        """


class SketchCounts(NamedTuple):
    """Numbers of lines of active documents that have a sketch, and that wait for one."""

    made: int = 0
    pending: int = 0


class SketchStore(Protocol):
    """
    Store of the sketches of lines, from one model at a time.

    A sketch is deleted with its line: a document that is saved again starts without sketches.
    """

    def fingerprint(self) -> str | None:
        """Return the model of the stored sketches; ``None`` before the first `begin`."""

    def begin(self, fingerprint: str) -> None:
        """Store sketches of this model from now on; the sketches of another model are deleted."""

    def pending(self, limit: int, after: FragmentKey | None = None) -> list[FragmentKey]:
        """Return up to *limit* lines of active documents without a sketch, in order, starting after *after*."""

    def store(self, fingerprint: str, sketches: Mapping[FragmentKey, Sketch]) -> None:
        """
        Store sketches; sketches of lines that no longer exist are ignored.

        Raises:
            ModelMismatch: the store holds sketches of another model.
        """

    def of(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Sketch]:
        """Return the sketches of those of these lines that have one."""

    def counts(self) -> SketchCounts:
        """Return the progress counts."""
