"""Collections as a whole: trust in their notes, and withdrawal of those that are no longer configured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.indexing.publish import Publisher, apply_in_chunks
from clawmem.app.services.indexing.source import UNSETTLED_NS
from clawmem.app.settings.config_file import RESERVED
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.domain.security.origin import origin_of
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason, Origin, SourceStamp
from clawmem.ports.storage import Transactions

if TYPE_CHECKING:
    from clawmem.app.services.indexing.folders import Folder


class _Owned(NamedTuple):
    name: str
    root: str
    wants: Callable[[str], bool]


class Ownership:
    """
    Assigns a file to the innermost of nested folders that matches it; for identical folders, to the first.

    Raises:
        InvalidInput: a pattern that expands to too many.
    """

    def __init__(self, folders: Iterable[Folder]) -> None:
        owned = [_Owned(folder.name, root_of(folder), compile_pattern(folder.pattern)) for folder in folders]
        self._owned = sorted(owned, key=lambda one: len(PurePath(one.root).parts), reverse=True)

    def owner(self, path: str) -> str | None:
        """Return the collection that owns the absolute POSIX *path*; ``None`` if there is none."""
        around = self._around(path)
        return next((one.name for one, way in around if one.wants(way) and not is_excluded(way)), None)

    def concerned(self, path: str) -> list[str]:
        """Return the collections, innermost first, that may have files below a folder."""
        return [one.name for one, way in self._around(path) if not is_excluded(way)]

    def _around(self, path: str) -> Iterator[tuple[_Owned, str]]:
        for one in self._owned:
            way = _below(path, one.root)
            if way is not None:
                yield one, way


def nested(folders: Sequence[Folder]) -> list[Folder]:
    """Return *folders*, each with its nested folders, which own the files they match."""
    return [
        replace(folder, inside=tuple(other for other in folders if _goes_before(other, folder, folders)))
        for folder in folders
    ]


def root_of(folder: Folder) -> str:
    """Return the root of *folder* with slashes on every system, without one at the end."""
    return PurePath(folder.root).as_posix().rstrip("/")


def _goes_before(other: Folder, one: Folder, folders: Sequence[Folder]) -> bool:
    below = _below(root_of(other), root_of(one))
    return below is not None and (below != _ITSELF or folders.index(other) < folders.index(one))


def _below(path: str, root: str) -> str | None:
    if path == root:
        return _ITSELF
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None


_ITSELF = "."


def trust_of(collection: str, trust: Origin) -> Origin:
    """Return the origin of notes in *collection*: *trust*, or `Origin.ASSISTANT` for the collection of clawmem."""
    return Origin.ASSISTANT if collection == OWN_COLLECTION else trust


def record_trust(
    documents: DocumentStore,
    transactions: Transactions,
    publisher: Publisher,
    recorded: Iterable[Document],
    trust: Origin,
) -> int:
    """
    Record *trust* in the *recorded* documents of one collection, whose records may be outdated.

    Returns how many documents had another origin.
    """

    def expected(document: Document) -> Origin:
        return origin_of(document.tags, trust_of(document.collection, trust))

    def record(document_id: int) -> int:
        document = documents.get(document_id)
        return 0 if document is None else publisher.set_origin(document_id, expected(document))

    wrong = [document.id for document in recorded if document.origin is not expected(document)]
    return sum(apply_in_chunks(transactions, wrong, record)) if wrong else 0


def leftover_collections(documents: DocumentStore, configured: Collection[str]) -> dict[str, int]:
    """
    Return the number of served documents of each collection of files that is not *configured*.

    Documents that a program stored have no file; their collections need no configuration.
    """
    strangers = [name for name in documents.collections() if name not in {*configured, *RESERVED}]
    counts = {
        name: sum(
            document.inactive is None and document.stamp is not None
            for document in documents.sources(name).values()
        )
        for name in strangers
    }
    return {name: count for name, count in counts.items() if count}


def leftover_sentence(name: str, documents: int) -> str:
    """Describe a leftover collection, and name the commands that configure it again and that remove it."""
    notes = "1 document is" if documents == 1 else f"{documents} documents are"
    return (
        f"{name}: {notes} still served, but the collection is no longer configured. If the config file was lost, "
        f"restore it, or run: clawmem collection add FOLDER --name {name}. To remove the documents, "
        f"run: clawmem collection remove {name}"
    )


def withdraw_collection(
    documents: DocumentStore, transactions: Transactions, publisher: Publisher, name: str
) -> int:
    """
    Stop serving every document of a collection and return how many were served.

    The documents are listed inside a write transaction. A pass checks the configuration inside its own, so
    either its documents are in the list, or it sees that the collection is gone.
    """
    with transactions.writing():
        known = documents.sources(name).values()
    served = [document.id for document in known if document.inactive is None]

    def remove(document_id: int) -> int:
        return publisher.withdraw([document_id], InactiveReason.REMOVED)

    return sum(apply_in_chunks(transactions, served, remove))


def distrust_stamps(documents: DocumentStore, transactions: Transactions, name: str) -> None:
    """Make the next pass read every file of a collection, even if its size and time are unchanged."""
    known = [document for document in documents.sources(name).values() if document.stamp]

    def forget_time(document: Document) -> None:
        if document.stamp:
            documents.touch(document.id, SourceStamp(document.stamp.size, UNSETTLED_NS))

    for _ in apply_in_chunks(transactions, known, forget_time):
        pass
