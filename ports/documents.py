from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from clawmem.ports.origin import Origin
from clawmem.ports.records import (
    EVERYTHING,
    Document,
    Fragment,
    FragmentKey,
    InactiveReason,
    Scope,
    SourceStamp,
    Span,
)


class DocumentStore(Protocol):
    """
    Documents with their bodies and fragments: the records, from which every index is derived.

    A document is identified by (collection, path). Bodies are stored by their hash, once for all documents
    that share one. "Active" means served; an inactive document keeps its row and its reason, so that a
    document whose file reappears keeps its id.
    """

    def save(self, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
        """
        Publish a document with its body and fragments, replacing the document at its (collection, path).

        An insert sets revision 1; replacing an active document with a different body increments the revision.
        The vault's own data about the document (pin, snooze, accesses, duplicates) are preserved. The
        document becomes active, and pending for embedding unless all of its texts already have a vector.
        Fragments are numbered with ``seq`` 0..n-1; their text is the body's ``[start:end]`` unless the kind
        is front matter.

        Returns:
            The document's id, > 0, permanently the same for the same (collection, path).

        Raises:
            InvalidInput: the document is ``forgotten``; only an explicit restore makes it active again.
        """

    def move(self, document_id: int, collection: str, path: str) -> None:
        """
        Move a document to another place; a document already there moves to the former place of this one. Ids
        stay the same.
        """

    def touch(self, document_id: int, stamp: SourceStamp) -> None:
        """Store the new stat values of an unchanged file; nothing else changes."""

    def deactivate(self, document_ids: Iterable[int], reason: InactiveReason) -> int:
        """
        Stop serving documents. A forgotten document keeps its reason.

        Returns:
            The number of documents that were active before.
        """

    def forget(self, document_ids: Iterable[int]) -> int:
        """
        Deactivate documents as ``forgotten`` and delete their content.

        Title, body, fragments, hashes, tags and times of the content are deleted, and so is everything the
        vault recorded about them. The place (collection and path) is retained, so that the file is not
        indexed again; a body that another document shares is retained as well.

        Returns:
            The number of documents that were not forgotten before.
        """

    def set_origin(self, document_ids: Iterable[int], origin: Origin) -> int:
        """
        Set the origin of documents, active or not.

        Returns:
            The number of documents that had a different origin.
        """

    def pin(self, document_id: int, pinned: bool) -> None:
        """Pin or unpin a document, independently of its front matter; an unknown id changes nothing."""

    def snooze(self, document_id: int, until: str | None) -> None:
        """Exclude a document from surfacing until *until*; ``None`` ends the snooze. An unknown id changes nothing."""

    def get(self, document_id: int) -> Document | None:
        """Return one document, active or not."""

    def many(self, document_ids: Iterable[int]) -> dict[int, Document]:
        """Return the documents with these ids that exist, active or not, in no particular order."""

    def at(self, collection: str, path: str) -> Document | None:
        """Return the document at exactly this place, active or not."""

    def by_hash(self, prefix: str) -> list[Document]:
        """Return active documents whose body hash begins with *prefix* (lower-case hex), by collection and path."""

    def holding(self, hash: str) -> list[Document]:
        """
        Return all documents with exactly this body hash, active or not, by collection and path, except forgotten ones.
        """

    def by_suffix(self, suffix: str) -> list[Document]:
        """
        Return active documents whose ``collection/path`` is *suffix* or ends with ``/suffix``, by collection and path.
        """

    def latest(
        self, scope: Scope = EVERYTHING, *, limit: int | None = None, active: bool = True
    ) -> list[Document]:
        """
        Return documents in scope, most recently authored first (``authored_at``), then by collection and path.

        With ``active=False``, return the documents that are not served instead of those that are.
        ``limit=None`` means no limit; a limit below 1 returns none.
        """

    def places(self) -> list[tuple[str, str]]:
        """
        Return collection and path of every served document, sorted by both; used to match a name against all of them.
        """

    def ids(
        self,
        scope: Scope = EVERYTHING,
        *,
        content_types: Collection[str] = (),
        tags: Collection[Collection[str]] = (),
        origins: Collection[Origin] = (),
    ) -> frozenset[int]:
        """
        Return the ids of served documents in scope, optionally filtered by content type, origin and tags.

        A document must have one of *content_types*, one of *origins*, and of each element of *tags* one spelling, where
        given.
        """

    def tags(self, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        """Return the tags of served documents in scope as spelled, by name, with the number of documents that have them."""

    def following(self, document_id: int, limit: int) -> list[Document]:
        """Return up to *limit* served documents with an id above *document_id*, by id, to iterate over all of them."""

    def sources(self, collection: str) -> dict[str, Document]:
        """Return every document of a collection, active or not, by path, for comparison with the files on disk."""

    def body(self, document_id: int) -> str | None:
        """Return the body of one document, active or not; ``None`` for an unknown id."""

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        """Return the bodies of these documents, active or not, by id; unknown ids are omitted."""

    def fragments(self, document_id: int) -> list[Fragment]:
        """Return a document's fragments by ``seq``, each with its text; empty for an unknown id."""

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        """Return the positions of these fragments; keys of unknown or inactive documents are omitted."""

    def labels(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, str]:
        """Return the labels of these lines; keys that have no label, are not lines or are not served are omitted."""

    def collections(self, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        """Return the number of active documents in *scope* per collection, by name; others are omitted."""

    def hash_prefixes(self, length: int, hashes: Iterable[str]) -> set[str]:
        """
        Return all active body hashes that share their first *length* digits with one of *hashes*.

        Used to choose short ids that are unambiguous.
        """


class Chronology(Protocol):
    """
    Served documents in the order in which they were written: by ``authored_at``, then by id.

    The order is strict: of two documents, one is always before the other. With a *collection*, only its
    documents are considered.
    """

    def before(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        """
        Return up to *limit* documents directly before this one, oldest first; a limit below 1 returns none.

        The document itself may be inactive or belong to another collection. The list is empty for an unknown
        id.
        """

    def after(self, document_id: int, limit: int, collection: str | None = None) -> list[int]:
        """Return up to *limit* documents directly after this one, oldest first; otherwise like `before`."""
