"""Ports for documents, and for what they declare: properties, links, and the documents that they supersede."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple, Protocol

from clawmem.ports.records import (
    EVERYTHING,
    Document,
    Fragment,
    FragmentKey,
    InactiveReason,
    Origin,
    Scope,
    SourceStamp,
    Span,
)


class DocumentStore(Protocol):
    """
    Documents with their bodies and fragments: the records, from which every index is derived.

    A document is identified by (collection, path). Bodies are stored by their hash, once for all documents that share
    one. "Active" means served. An inactive document keeps its row, its id and its reason.
    """

    def save(self, document: Document, body: str, fragments: Sequence[Fragment]) -> int:
        """
        Publish a document, replacing the one at its (collection, path), and return its id, which stays the same.

        An insert sets revision 1; replacing an active document with a different body increments the revision. The
        vault's own data (pin, snooze, accesses, duplicates) are preserved. The document becomes active, and pending
        unless all of its texts have a vector. Fragments are numbered with ``seq`` 0..n-1; their text is the body's
        ``[start:end]`` unless the kind is front matter. A ``forgotten`` document raises InvalidInput.
        """

    def move(self, document_id: int, collection: str, path: str) -> None:
        """Move a document to another place, and a document already there to the former place. Ids stay the same."""

    def touch(self, document_id: int, stamp: SourceStamp) -> None:
        """Store the new stat values of an unchanged file; nothing else changes."""

    def deactivate(self, document_ids: Iterable[int], reason: InactiveReason) -> int:
        """Stop serving documents and return how many were active. A forgotten document keeps its reason."""

    def forget(self, document_ids: Iterable[int]) -> int:
        """
        Make documents ``forgotten`` and return how many were not before. All but their places is deleted.

        That includes their properties, links and claims, the triples and relations of the document, the entities that
        no other document mentions, its notes and those that it caused (each with all later versions, so that their
        document waits again), the quotes of its sightings, and what sessions and actions say about it. Triples that it
        ended are valid again; sightings keep their sources.
        """

    def set_origin(self, document_ids: Iterable[int], origin: Origin) -> int:
        """Set the origin of documents, active or not, and return the number of those that had another."""

    def pin(self, document_id: int, pinned: bool) -> None:
        """Pin or unpin a document, independently of its front matter."""

    def snooze(self, document_id: int, until: str | None) -> None:
        """Exclude a document from surfacing until *until*; ``None`` ends the snooze."""

    def get(self, document_id: int) -> Document | None:
        """Return one document, active or not."""

    def many(self, document_ids: Iterable[int]) -> dict[int, Document]:
        """Return the documents with these ids that exist, active or not, in no particular order."""

    def at(self, collection: str, path: str) -> Document | None:
        """Return the document at exactly this place, active or not."""

    def by_docid(self, prefix: str) -> list[Document]:
        """Return active documents whose first hash begins with *prefix* (lower-case hex), by place."""

    def holding(self, hash: str) -> list[Document]:
        """Return all documents with this body hash, active or not, by place, except forgotten ones."""

    def by_suffix(self, suffix: str) -> list[Document]:
        """Return active documents whose ``collection/path`` is *suffix* or ends with ``/suffix``, by place."""

    def latest(
        self, scope: Scope = EVERYTHING, *, limit: int | None = None, active: bool = True
    ) -> list[Document]:
        """Return served documents in scope (or, not *active*, the others), newest first, then by place."""

    def places(self) -> list[tuple[str, str]]:
        """Return collection and path of every served document, sorted by both."""

    def ids(
        self,
        scope: Scope = EVERYTHING,
        *,
        content_types: Collection[str] = (),
        tags: Collection[Collection[str]] = (),
        origins: Collection[Origin] = (),
    ) -> frozenset[int]:
        """Return the ids of served documents in scope, of one of the types and origins, with one of each *tags*."""

    def tags(self) -> Mapping[str, int]:
        """Return the tags of served documents as spelled, by name, with the number of documents."""

    def following(self, document_id: int, limit: int) -> list[Document]:
        """Return up to *limit* served documents with an id above *document_id*, by id."""

    def sources(self, collection: str) -> dict[str, Document]:
        """Return every document of a collection, active or not, by path."""

    def folder(self, collection: str) -> str | None:
        """Return the folder from which a collection that is not configured was last read, if that is recorded."""

    def set_folder(self, collection: str, folder: str) -> None:
        """Record the folder from which a collection is read."""

    def body(self, document_id: int) -> str | None:
        """Return the body of one document, active or not; ``None`` for an unknown id."""

    def bodies(self, document_ids: Iterable[int]) -> dict[int, str]:
        """Return the bodies of these documents, active or not, by id; unknown ids are omitted."""

    def fragments(self, document_id: int) -> list[Fragment]:
        """Return a document's fragments by ``seq``, each with its text; empty for an unknown id."""

    def spans(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Span]:
        """Return the positions of these fragments; keys of unknown or inactive documents are omitted."""

    def collections(self, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        """Return the number of active documents in *scope* per collection, by name."""

    def written_near(
        self, document_id: int, limit: int, collection: str | None = None, *, after: bool = False
    ) -> list[int]:
        """Return *limit* served documents directly before (*after*) this one by ``authored_at``, then id, oldest first."""


TAGS = "tags"  # the property of the tags of a note: in its front matter and in its text


class Property(NamedTuple):
    """One value of a property of a note as written; ``key`` is the form in which values are compared."""

    name: str
    value: str
    key: str


class PropertyFilter(NamedTuple):
    """Condition on a property: one of its values has ``key`` (None: any), or none has if ``is_negated``."""

    name: str
    key: str | None = None
    is_negated: bool = False


class PropertyStore(Protocol):
    """Store of the properties that documents declare, in their order."""

    def put(self, document_id: int, properties: Iterable[Property]) -> None:
        """Replace the properties of a document; raise InvalidInput if it is unknown."""

    def many(self, document_ids: Iterable[int]) -> Mapping[int, Sequence[Property]]:
        """Return the properties of the documents that have any, in the order in which they were put."""

    def named(self, name: str) -> Mapping[int, Sequence[Property]]:
        """Return the properties of each served document that are called *name*, in their order."""

    def names(self) -> Mapping[str, int]:
        """Return the names of properties, each in one spelling, with the number of served documents."""

    def values(self, name: str, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        """Return the values of a property, in one spelling a key, with their numbers of documents, highest first."""

    def having(self, filters: Iterable[PropertyFilter]) -> frozenset[int]:
        """Return the ids of served documents that meet all *filters*."""


class LinkKind(StrEnum):
    """Notation of a link."""

    WIKILINK = "wikilink"  # [[note]]
    EMBED = "embed"  # ![[note]]
    MARKDOWN = "markdown"  # [text](note.md)
    BLOCK = "block"  # ((id)), as Logseq writes it
    TAG = "tag"  # #note, which is a link in Logseq


class Link(NamedTuple):
    """
    A link of a note to another note, as written.

    ``target`` is the path or name of the other note, ``key`` the form of its last part in which names are compared.
    ``part`` is the heading, or ``^`` and the id of the block, that the link leads to. ``line`` is a line of the file,
    ``context`` the sentence around the link.
    """

    kind: LinkKind
    target: str
    key: str
    line: int
    part: str = ""
    shown: str = ""
    context: str = ""


class NameKind(IntEnum):
    """Kind of a name of a note; of several notes with one name, the lowest kind is meant."""

    FILE = 0
    ALIAS = 1
    TITLE = 2
    BLOCK = 3  # the id of a block of the note


class NoteName(NamedTuple):
    """A name of a note, in the form in which names are compared."""

    key: str
    kind: NameKind


class NamedNote(NamedTuple):
    """A served note that has a name."""

    document_id: int
    collection: str
    path: str
    kind: NameKind


class StoredLink(NamedTuple):
    """A link of a document, and the document that it leads to; ``None`` for a broken link."""

    document_id: int
    seq: int
    link: Link
    target_id: int | None = None


class LinkStore(Protocol):
    """
    Store of the links of documents as written, and of the names that links may use.

    A link is returned while its document is served, and is broken while its target is not. Lists of links are ordered
    by document and number. A document is *changed* when it has other links, names or places, or is served (no longer).
    """

    def put(self, document_id: int, names: Iterable[NoteName], links: Sequence[Link] | None) -> None:
        """Replace the names and the links of a known document; ``None`` keeps the links. They are numbered from 0."""

    def changed(self, limit: int) -> list[int]:
        """Return the ids of up to *limit* changed documents, lowest first."""

    def outdated(self, changed: Iterable[int]) -> list[StoredLink]:
        """Return the links from these changed documents, to them, or with the last part of one of their names."""

    def named(self, keys: Iterable[str]) -> Mapping[str, Sequence[NamedNote]]:
        """Return the served documents with these names, by name; each name's ordered by kind, collection and path."""

    def aim(self, links: Iterable[StoredLink]) -> None:
        """Set the document that each of these links leads to."""

    def settle(self, changed: Iterable[int]) -> None:
        """Record that the links which these changed documents affect were aimed."""

    def outgoing(self, document_ids: Iterable[int]) -> list[StoredLink]:
        """Return the links of these documents that are served."""

    def incoming(self, document_ids: Iterable[int]) -> list[StoredLink]:
        """Return the links of other served documents to these documents."""

    def doubtful(self, scope: Scope = EVERYTHING) -> list[StoredLink]:
        """Return the links in scope that are broken, or name a part of their document, by collection and path."""


class Claims(NamedTuple):
    """Addresses, as written in a note, of the notes that it supersedes and of the notes that supersede it."""

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


NO_CLAIMS = Claims()


class Succession(NamedTuple):
    """Pair of documents, by id, of which the newer one supersedes the older one."""

    older: int
    newer: int


class ClaimKind(StrEnum):
    """Front-matter property that names the other note, or the decision of a person outside of the notes."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    REPLACED_BY = "replaced_by"


class Claim(NamedTuple):
    """
    One address in the claims of a document, and the place that it refers to: a collection and a path.

    The address of a decision is the id of a document.
    """

    document_id: int
    kind: ClaimKind
    address: str
    place: tuple[str, str]


class DerivationStore(Protocol):
    """Records from which documents a program made another one. Part of the vault's transactions."""

    def derive(self, child: int, parents: Iterable[int]) -> None:
        """Record that *child* was made from *parents*, replacing those recorded before."""

    def children(self, parent: int) -> list[int]:
        """Return the documents that were made from *parent* directly, by id."""


class SuccessionStore(Protocol):
    """
    Store of claims by which documents supersede each other; a claim is in effect while its document is served.

    A claim refers to a place: unless `aim` set another one, the address is a path in the collection of the claiming
    document. The place is resolved when successions are read: to the document served there or, if the file there was
    removed, to the documents with the same body in the same collection, because the file was renamed.
    """

    def claim(self, document_id: int, claims: Claims) -> None:
        """Replace all claims in the front matter of a document; raise InvalidInput if it is unknown."""

    def decide(self, older: int, newer: int | None) -> None:
        """Record the decision that *newer* supersedes *older*, replacing an earlier one; ``None`` takes it back."""

    def claims(self) -> list[Claim]:
        """Return every claim of a served document, ordered by document, kind and address."""

    def aim(self, claim: Claim) -> None:
        """Set the place of the claim with this document, kind and address, if there is such a claim."""

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        """Return every direct succession between served documents whose older one is among these."""
