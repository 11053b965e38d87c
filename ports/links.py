from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple, Protocol

from clawmem.ports.records import EVERYTHING, Scope


class LinkKind(StrEnum):
    """Notation of a link."""

    WIKILINK = "wikilink"  # [[note]]
    EMBED = "embed"  # ![[note]]
    MARKDOWN = "markdown"  # [text](note.md)
    BLOCK = "block"  # ((id)), as Logseq writes it


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
    Store of the links of documents, and of the names that links may use.

    Links are stored as written. `LinkStore.aim` sets the document that a link leads to. A link is returned while its
    document is served; while the document that it leads to is not served, it counts as broken.

    A document is *changed* when its links or names were stored, when it is served again or no longer, and when it has
    another place. Only links from it, to it, or with one of its names can then lead elsewhere, see `outdated`.
    """

    def put(self, document_id: int, names: Iterable[NoteName], links: Sequence[Link] | None) -> None:
        """
        Replace the names and the links of a document; ``None`` keeps the links. The links are numbered from 0.

        Raises:
            InvalidInput: the document is unknown; nothing was stored.
        """

    def forget(self, document_id: int) -> None:
        """Delete the links and the names of a document."""

    def changed(self, limit: int) -> list[int]:
        """Return the ids of up to *limit* changed documents, lowest first."""

    def outdated(self, changed: Iterable[int]) -> list[StoredLink]:
        """
        Return the links of served documents that may lead elsewhere since these documents changed.

        These are the links from them, the links that led to them, and the links whose key is a name of theirs;
        ordered by document and number.
        """

    def named(self, keys: Iterable[str]) -> Mapping[str, Sequence[NamedNote]]:
        """Return the served documents with these names, by name; each name's ordered by kind, collection and path."""

    def aim(self, links: Iterable[StoredLink]) -> None:
        """Set the document that each of these links leads to."""

    def settle(self, changed: Iterable[int]) -> None:
        """Record that the links which these changed documents affect were aimed."""

    def outgoing(self, document_ids: Iterable[int]) -> list[StoredLink]:
        """Return the links of these documents that are served, ordered by document and number."""

    def incoming(self, document_ids: Iterable[int]) -> list[StoredLink]:
        """Return the links of other served documents to these documents, ordered by document and number."""

    def doubtful(self, scope: Scope = EVERYTHING) -> list[StoredLink]:
        """
        Return the links of served documents in scope that are broken, or that name a part of their document.

        Ordered by collection, path and number.
        """

    def with_most(self, least: int) -> list[int]:
        """Return the ids of the served documents with at least *least* links, lowest first."""

    def count(self) -> int:
        """Return the number of links of served documents."""
