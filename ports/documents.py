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
    Documents, their bodies and their fragments: the truth about memory, from which every index is made.

    A document is one (collection, path). Bodies are kept by their hash, once however many documents share
    one. "Active" means served; an inactive document keeps its row and its reason, so that a file that
    comes back is the same document, with the same id.
    """

    def save(self, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
        """
        Publish a document with its body and fragments, replacing what stood at its (collection, path).

        Inserting counts revision 1; replacing an active document with another body adds one. What the
        vault learnt about it (pin, snooze, accesses, duplicates) is kept. It becomes active, and pending for
        embedding unless every one of its texts has a vector already. Fragments arrive with ``seq``
        0..n-1; their text is the body's ``[start:end]`` unless the kind is front matter.

        Returns:
            The document's id, > 0, the same for the same (collection, path) for ever.

        Raises:
            InvalidInput: the document is ``forgotten``: nothing but an explicit restore revives it.
        """
        ...

    def move(self, document_id: int, collection: str, path: str) -> None:
        """Give a document another place, and a document that is there the place of this one; their ids stay."""
        ...

    def touch(self, document_id: int, stamp: SourceStamp) -> None:
        """Remember a newer stat of an unchanged file; nothing else changes."""
        ...

    def deactivate(self, document_ids: Iterable[int], reason: InactiveReason) -> int:
        """Stop serving documents; how many were active until now. A forgotten one keeps its reason."""
        ...

    def forget(self, document_ids: Iterable[int]) -> int:
        """
        Deactivate documents as ``forgotten`` and keep nothing of what they said; how many were not forgotten yet.

        Title, body, fragments, hashes, tags and times of the content go, as does what was learnt about them. The
        place stays, so that its file is not taken in again; the body of another document that says the same, too.
        """
        ...

    def set_origin(self, document_ids: Iterable[int], origin: Origin) -> int:
        """Record another origin of documents, active or not; returns how many had a different one."""
        ...

    def pin(self, document_id: int, pinned: bool) -> None:
        """Let a document be pinned or not, whatever its note says; an unknown id changes nothing."""
        ...

    def snooze(self, document_id: int, until: str | None) -> None:
        """Keep a document out of what is surfaced until then; with ``None`` no longer. An unknown id changes nothing."""
        ...

    def get(self, document_id: int) -> Document | None:
        """One document, active or not."""
        ...

    def many(self, document_ids: Iterable[int]) -> dict[int, Document]:
        """Those of the ids that exist, active or not, in no order."""
        ...

    def at(self, collection: str, path: str) -> Document | None:
        """The document of exactly this place, active or not."""
        ...

    def by_hash(self, prefix: str) -> list[Document]:
        """Active documents whose body hash begins with *prefix* (lower-case hex), by collection and path."""
        ...

    def holding(self, hash: str) -> list[Document]:
        """Every document with exactly this body hash, active or not, by collection and path; no forgotten one."""
        ...

    def by_suffix(self, suffix: str) -> list[Document]:
        """Active documents whose ``collection/path`` is *suffix* or ends with ``/suffix``, by collection and path."""
        ...

    def latest(
        self, scope: Scope = EVERYTHING, *, limit: int | None = None, active: bool = True
    ) -> list[Document]:
        """
        Documents in scope, last written first (``authored_at``), then collection and path; no limit with ``None``.

        Those that are served, or with ``active=False`` those that are not. A limit below 1 gives none.
        """
        ...

    def places(self) -> list[tuple[str, str]]:
        """Collection and path of every served document, in this order; for who looks for a name among all of them."""
        ...

    def ids(
        self,
        scope: Scope = EVERYTHING,
        *,
        content_types: Collection[str] = (),
        tags: Collection[str] = (),
        origins: Collection[Origin] = (),
    ) -> frozenset[int]:
        """
        The served documents in scope, by id; those of one of *content_types*, of one of *origins*, and with all of
        *tags*, where given.

        Tags are compared in lower case.
        """
        ...

    def following(self, document_id: int, limit: int) -> list[Document]:
        """Up to *limit* served documents with an id above *document_id*, by id: for walking over all of them."""
        ...

    def sources(self, collection: str) -> dict[str, Document]:
        """Every document of a collection by path, inactive ones too: what a pass compares the disk with."""
        ...

    def body(self, document_id: int) -> str | None:
        """The body of one document, active or not; ``None`` for an unknown id."""
        ...

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        """The bodies of these documents, active or not, by id; an unknown id is left out."""
        ...

    def fragments(self, document_id: int) -> list[Fragment]:
        """A document's fragments by ``seq``, each with its text; empty for an unknown id."""
        ...

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        """Where these fragments lie; keys of unknown or inactive documents are left out."""
        ...

    def labels(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, str]:
        """What these lines are labelled with; of what has no label, is no line, or is not served, nothing."""
        ...

    def collections(self) -> Mapping[str, int]:
        """Active documents per collection, by name; a collection without any is left out."""
        ...

    def hash_prefixes(self, length: int, hashes: Iterable[str]) -> set[str]:
        """
        All active body hashes that share their first *length* digits with one of *hashes*.

        What a short id must be told apart from.
        """
        ...
