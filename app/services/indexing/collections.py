"""Collections as a whole: those of the settings, trust in their notes, and withdrawal of those that are gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from clawmem.app.environment.places import is_there, real_path
from clawmem.app.services.indexing.folders import Folder, nested
from clawmem.app.services.indexing.publish import Publisher, apply_in_chunks
from clawmem.app.settings.config_file import RESERVED, config_of, read_config
from clawmem.app.settings.model import Settings, at_vault, load_settings
from clawmem.domain.documents.eligibility import path_context
from clawmem.domain.documents.frontmatter import TYPES
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.security.origin import TRUST, origin_of
from clawmem.ports.clients import Clients
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ConfigError, NotFound
from clawmem.ports.files import TextExtractor
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.storage import Transactions

Trust = Literal["user", "assistant", "shared", "outside"]


@dataclass(slots=True)
class Collection:
    """
    A collection with the number of its served documents, of a change those that it concerns.

    clawmem or a program fills a collection without a folder. ``updated`` is the time at which the latest of its documents was written.
    """

    name: str
    documents: int
    path: str | None = None
    pattern: str | None = None
    updated: str | None = None
    trust: Trust = "user"
    remarks: tuple[str, ...] = ()


def collections_of(settings: Settings, documents: DocumentStore | None = None) -> list[Collection]:
    """Return every collection of the config file and of the vault, if there is one, by name."""
    served, collections = documents.collections() if documents else {}, []
    for name in sorted({*served, *settings.collections}):
        collection = Collection(name, served.get(name, 0), documents.folder(name) if documents else None)
        for note in documents.latest(Scope(frozenset({name})), limit=1) if documents else ():
            collection.updated = note.authored_at
        if folder := settings.collections.get(name):
            collection.path = str(folder.path)
            collection.pattern = folder.pattern if folder.kind == "files" else None
            collection.trust = folder.trust
        collections.append(collection)
    return collections


def configured_folders(settings: Settings, extract: TextExtractor) -> list[Folder]:
    """Return the folders of the configured collections; *extract* returns the text of attachments."""
    return nested(
        [
            Folder(
                name,
                collection.root,
                collection.pattern,
                origin=TRUST[collection.trust],
                exclude=tuple(collection.exclude),
                include=tuple(
                    name.removeprefix("./").removesuffix("/**").strip("/") for name in collection.include
                ),
                gitignore=collection.gitignore,
                project=collection.project,
                private=collection.private,
                has_commits=collection.kind == "git",
                about=partial(path_context, contexts=collection.context),
                extract=extract,
            )
            for name, collection in settings.collections.items()
        ]
    )


def leftovers(settings: Settings, documents: DocumentStore) -> list[str]:
    """
    Return a sentence for each collection of files that is no longer configured, with what configures and removes it.

    A named vault has none: its collections are synced and never configured.
    """
    if settings.named or settings.vault in settings.vaults.values():
        return []
    added = read_config(settings.config_file).get("collections", ())  # by other processes since
    return [
        f"{name} is no longer configured, but its documents are still served: {count}. If {settings.config_file} was "
        f"lost, restore it, or run: clawmem collection add FOLDER --name {name}. To remove the documents, "
        f"run: clawmem collection remove {name}"
        for name in sorted(documents.collections().keys() - {*settings.collections, *added, *RESERVED})
        if (count := len(served_files(documents, name)))
    ]


def served_files(documents: DocumentStore, name: str) -> list[Document]:
    """Return the served documents of a collection that have a file: those that a program stored have none."""
    return [note for note in documents.sources(name).values() if note.inactive is None and note.stamp]


def fault_of_imports(name: str, documents: DocumentStore | None, option: str) -> str:
    """Return why *name* cannot be a collection of files because conversations were imported into it; empty if it can."""
    notes = documents.sources(name).values() if documents else ()
    imported = [note for note in notes if note.origin is Origin.IMPORTED and not note.stamp]
    if all(note.inactive in (InactiveReason.FORGOTTEN, InactiveReason.REMOVED) for note in imported):
        return ""
    return f"{name} has imported conversations. Choose another name with {option}."


def unknown_collection(name: str, documents: DocumentStore | None) -> NotFound:
    """Return the error for a *name* of no collection of files; for that of a program it says what removes its documents."""
    if documents is None or name not in documents.collections():
        return NotFound("collection", name)
    remark = (
        "Programs stored its documents, and its trust is fixed. To remove imported ones, run: clawmem mine --forget SOURCE "
        "(all sources: clawmem mine --sources); others: clawmem forget NOTE"
    )
    return NotFound("collection of files", name, remark=remark)


def policy_faults(settings: Settings, documents: DocumentStore) -> list[str]:
    """Return a sentence for each collection or content type that the policy of archiving names, and that is unknown."""
    policy, collections = settings.archive_policy or ArchivePolicy(), documents.collections()
    types = {*TYPES, *(name for name in policy.type_overrides if documents.ids(content_types=[name]))}
    sections: dict[str, tuple[str, set[str]]] = {
        "exempt_collections": ("collection", {*settings.collections, *collections}),
        "type_overrides": ("content type", types),
    }
    return [
        f"lifecycle.{key} in {settings.config_file}: {name!r} is no {what}. Choose: {', '.join(sorted(known))}."
        for key, (what, known) in sections.items()
        for name in getattr(policy, key)
        if name not in known
    ]


def settings_faults(settings: Settings) -> list[str]:
    """Return a sentence that names the paths of the settings without effect, of any kind; none without such paths."""
    places, reasons, own = dict[tuple[Path, str, str], str](), list[ConfigError](), config_of(settings.vault)
    at_vault(load_settings(report=reasons.append), settings.vault, reasons.append)
    if settings.config_file != own and is_there(own):
        reasons.append(ConfigError(f"{own} has no effect on the usual vault. Delete it."))
    faults = [
        f"vaults.{name}: {path} is a folder, and a vault is a file"
        for name, path in settings.vaults.items()
        if is_there(path) and path.is_dir()
    ]
    for name, folder in settings.collections.items():
        root = real_path(folder.path)
        if (first := places.setdefault((root, folder.pattern, folder.kind), name)) != name:
            faults.append(f"collections.{name} has the same files as {first}")
        for place in folder.context if is_there(root) else ():
            described = real_path(root / place.strip("/"))
            if not (described.is_relative_to(root) and is_there(described)):
                faults.append(f"collections.{name}.context: {place!r} is no file or folder of the collection")
    inbox, roots = Path(settings.inbox), [folder.path for folder in settings.collections.values()]
    if inbox.is_absolute() and not any(map(inbox.is_relative_to, roots)):
        faults.append(f"inbox: {inbox} is in no collection, so no note can be remembered in it")
    return [*map(str, reasons), *([f"{settings.config_file}: {'; '.join(faults)}"] if faults else [])]


def memory_advice(clients: Clients, settings: Settings) -> list[str]:
    """Return a sentence for each agent with memories of its own that are in no collection."""
    known = {real_path(collection.path) for collection in settings.collections.values()}
    return [
        f"{clients.titles[name]} has memories of its own in {memory.folder}. To find them, run: clawmem collection add "
        f"--client {name}"
        for name, memory in clients.memories().items()
        if memory.is_used and real_path(memory.folder) not in known
    ]


def record_trust(
    documents: DocumentStore,
    transactions: Transactions,
    publisher: Publisher,
    recorded: Iterable[Document],
    trust: Origin,
) -> int:
    """
    Record *trust* in the files among the *recorded* documents of one collection, whose records may be outdated.

    Returns how many documents had another origin.
    """

    def record(document_id: int) -> int:
        document = documents.get(document_id)
        return publisher.set_origin(document_id, origin_of(document.tags, trust)) if document else 0

    files = (note for note in recorded if note.stamp)
    wrong = [note.id for note in files if note.origin is not origin_of(note.tags, trust)]
    return sum(apply_in_chunks(transactions, wrong, record))


def withdraw_collection(
    documents: DocumentStore, transactions: Transactions, publisher: Publisher, name: str
) -> int:
    """Stop serving every file of a collection and return how many were served."""
    served = [note.id for note in served_files(documents, name)]
    withdrawn = apply_in_chunks(
        transactions, served, lambda number: publisher.withdraw([number], InactiveReason.REMOVED)
    )
    return sum(withdrawn)
