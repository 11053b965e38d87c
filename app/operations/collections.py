"""The folders that are remembered, and the trust in their notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.operations.operation import (
    Command,
    Effect,
    Opening,
    Option,
    Result,
    operation,
)
from clawmem.app.operations.output import Table, plural, table
from clawmem.app.services.indexing.collections import distrust_stamps, record_trust, withdraw_collection
from clawmem.app.services.indexing.folders import count_files
from clawmem.app.settings.config_file import (
    existing_folder,
    name_for,
    remove_value,
    set_value,
    typed_folder,
)
from clawmem.domain.documents.eligibility import check_pattern
from clawmem.domain.security.origin import TRUST
from clawmem.ports.errors import ConfirmationMissing, NotFound
from clawmem.ports.records import Scope

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

NONE_YET = "No collections yet. Run: clawmem collection add PATH"

Trust = Literal["user", "shared", "outside"]
Folder = Annotated[
    Path,
    Field(description="A folder of Markdown."),
    Option(metavar="PATH", is_argument=True, parser=typed_folder),
]
Pattern = Annotated[str, Field(description="Glob of the files that are read.")]
Name = Annotated[str, Field(description="Its name."), Option(metavar="NAME", is_argument=True)]


class Collection(Result):
    """A collection with the number of its served documents; clawmem or a program fills one without a folder."""

    name: str
    documents: int
    path: str | None = None
    pattern: str | None = None
    updated: str | None = Field(default=None, description="When the latest of its documents was written.")
    trust: Trust = "user"


class Collections(Result):
    """Every collection of the config file and of the vault, by name."""

    count: int
    collections: list[Collection]


class AddedCollection(Result):
    """A collection in the config file; ``warning`` says that its folder is very broad."""

    name: str
    path: str
    pattern: str
    warning: str = ""

    @property
    def remarks(self) -> list[str]:
        """Return the warning, and how to remove the collection again."""
        undo = f"Undo: clawmem collection remove {self.name}"
        return [f"warning: {self.warning} {undo}"] if self.warning else []


class RemovedCollection(Result):
    """A collection that was removed, and how many of its documents were served until then."""

    name: str
    withdrawn: int
    trust: Trust = Field(default="user", description="The trust that the collection had.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return that a lower trust is gone with the collection."""
        if self.trust == "user":
            return ()
        again = f"clawmem trust set {self.name} {self.trust}"
        return [f"Its trust was {self.trust}. A collection added again is trusted as user, until: {again}"]


class TrustInCollections(Result):
    """The trust in each collection of the config file."""

    trust: dict[str, Trust]


class TrustChange(Result):
    """The trust in a collection, and how many of its documents were trusted otherwise before."""

    name: str
    trust: Trust
    changed: int


def list_collections(services: Services) -> list[Collection]:
    """Return every collection of the config file and of the vault, if there is one, by name."""
    served = services.vault.documents.collections() if services.is_open else {}
    names = sorted({*served, *services.settings.collections})
    return [_collection(services, name, served.get(name, 0)) for name in names]


def _collection(services: Services, name: str, served: int) -> Collection:
    scope = Scope(frozenset({name}))
    latest = services.vault.documents.latest(scope, limit=1) if services.is_open else []
    folder = services.settings.collections.get(name)
    return Collection(
        name=name,
        documents=served,
        updated=latest[0].authored_at if latest else None,
        **({"path": str(folder.path), "pattern": folder.pattern, "trust": folder.trust} if folder else {}),
    )


def _unconfirmed(
    services: Services, name: str, folder: Path, pattern: str, warning: str
) -> ConfirmationMissing:
    """Return the error that says what would be read of *folder*."""
    found = count_files(services.files, str(folder), pattern)
    parts = ", ".join(f"{name} ({count:,})" for name, count in found.largest)
    line = f"It has {'' if found.is_whole else 'at least '}{plural(found.files, 'file')} to read{parts and ': '}{parts}."
    return ConfirmationMissing(
        " ".join(filter(None, ("Nothing was added.", warning, line))),
        {"name": name, "path": str(folder), "files": found.files, "largest": dict(found.largest)},
        remedy=f"To add it{' all the same' if warning else ''}, repeat with confirm: true.",
        preview=[warning or f"Collection {name}: {folder} ({pattern}) would be added.", line],
        question="Add it all the same?",
        confirmed={"confirm": True},
    )


def _breadth_warning(folder: Path, home: Path) -> str:
    """Return a warning if *folder* is the home folder or contains it."""
    if not home.is_relative_to(folder):
        return ""
    what = "your home folder" if folder == home else "a folder that contains your home folder"
    return (
        f"{folder} is {what}. Every Markdown file in it becomes searchable and may be put into prompts, those of other "
        "programs included. A narrower folder is usually meant."
    )


def _is_left_over(services: Services, name: str) -> bool:
    """Whether documents of the collection are still served although it is no longer configured."""
    return services.is_open and name in services.leftovers


def _served(services: Services, name: str) -> int:
    return services.vault.documents.collections().get(name, 0) if services.is_open else 0


def _unconfirmed_removal(services: Services, name: str) -> ConfirmationMissing:
    """Return the error that says what would no longer be found without the collection."""
    served = _served(services, name)
    line = f"Collection {name} would be removed; {plural(served, 'document')} would no longer be found."
    return ConfirmationMissing(
        f"Nothing was removed. {line} Its files stay.",
        {"name": name, "documents": served},
        remedy="To remove it, repeat with confirm: true.",
        preview=[line, "Its files stay."],
        question="Remove the collection?",
        confirmed={"confirm": True},
    )


def _refuse_only_copy(services: Services, name: str, folder: Path) -> None:
    """Raise `ConfirmationMissing` if the vault serves documents of the collection."""
    served = _served(services, name)
    if not served:
        return
    line = (
        f"{folder} does not exist: the vault has the only copy of the {plural(served, 'document')} of {name}."
    )
    raise ConfirmationMissing(
        f"Nothing was removed. {line} To keep them, first run: clawmem export",
        {"name": name, "documents": served},
        remedy="To remove it, repeat with confirm: true.",
        preview=[line],
        question="Remove the collection all the same?",
        confirmed={"confirm": True},
    )


def _collections_text(result: Collections) -> str | list[Table]:
    if not result.collections:
        return NONE_YET
    rows = [
        (
            collection.name,
            collection.documents,
            collection.trust,
            collection.pattern or "",
            collection.path or "",
        )
        for collection in result.collections
    ]
    return [table(("name", "documents", "trust", "pattern", "path"), rows)]


def _trust_text(result: TrustInCollections) -> str | list[Table]:
    return [table(("name", "trust"), result.trust.items())] if result.trust else NONE_YET


@operation(
    Effect.READS,
    name="collections",
    text=_collections_text,
    route="/collections",
    commands=(Command("collection list"),),
    is_tool=False,
    opens=Opening.IF_PRESENT,
)
def list_all(services: Services) -> Collections:
    """List the collections with their folders and numbers of documents."""
    found = list_collections(services)
    return Collections(count=len(found), collections=found)


@operation(
    Effect.REPEATABLE,
    text=lambda one: f"Collection {one.name}: {one.path} ({one.pattern}). Next: clawmem update",
    is_tool=False,
    opens=Opening.IF_PRESENT,
    any_vault=False,
)
def collection_add(
    services: Services,
    path: Folder,
    name: Annotated[str | None, Field(description="Its name; made from the folder's otherwise.")] = None,
    pattern: Pattern = "**/*.md",
    exclude: Annotated[
        list[str] | None,
        Field(description="Pattern of files that are not read, as in .gitignore; repeatable."),
        Option(("--exclude",)),
    ] = None,
    move: Annotated[
        bool, Field(description="The collection of that name was moved to this folder."), Option(("--move",))
    ] = False,
    confirm: Annotated[
        bool | None,
        Field(
            description="Add the home folder, or a folder that contains it. False only says what is in it."
        ),
    ] = None,
) -> AddedCollection:
    """Add a folder as a collection; 'clawmem update' then reads it."""
    settings, folder = services.settings, existing_folder(path)
    check_pattern(pattern)
    known = {
        other: (collection.path, collection.pattern) for other, collection in settings.collections.items()
    }
    name = name_for(folder, pattern, name, known, moved=move)
    warning = _breadth_warning(folder, settings.home.resolve())
    if (warning and confirm is not True) or confirm is False:
        raise _unconfirmed(services, name, folder, pattern, warning)
    entry: dict[str, object] = {"path": str(folder), "pattern": pattern}
    entry |= {"exclude": [*exclude]} if exclude else {}
    set_value(settings.config_file, ("collections", name), entry)
    if move and services.is_open:
        distrust_stamps(services.vault.documents, services.vault.transactions, name)
    return AddedCollection(name=name, path=str(folder), pattern=pattern, warning=warning)


@operation(
    Effect.DESTROYS,
    text=lambda one: (
        f"Collection {one.name} removed; {one.withdrawn} of its documents were served until now."
    ),
    is_tool=False,
    opens=Opening.IF_PRESENT,
    any_vault=False,
)
def collection_remove(
    services: Services,
    name: Name,
    confirm: Annotated[
        bool | None,
        Field(
            description="Remove it although its folder does not exist. False only says what would be removed."
        ),
    ] = None,
) -> RemovedCollection:
    """
    Remove a collection: its files stay, its documents are no longer found.

    If its folder does not exist, the vault has the only copy of the documents, and nothing is removed without a
    confirmation.
    """
    known = services.settings.collections.get(name)
    if known and confirm is not True and not known.path.is_dir():
        _refuse_only_copy(services, name, known.path)
    if confirm is False and (known or _is_left_over(services, name)):
        raise _unconfirmed_removal(services, name)
    if known:
        remove_value(services.settings.config_file, ("collections", name))
    elif not _is_left_over(services, name):
        raise NotFound("collection", name, suggestions=sorted(services.settings.collections))
    withdrawn = (
        withdraw_collection(services.vault.documents, services.vault.transactions, services.publisher, name)
        if services.is_open
        else 0
    )
    trust = known.trust if known else "user"
    return RemovedCollection(name=name, withdrawn=withdrawn, trust=trust)


@operation(
    Effect.READS,
    name="trust",
    text=_trust_text,
    commands=(Command("trust list"),),
    is_tool=False,
    opens=Opening.NOTHING,
)
def list_trust(services: Services) -> TrustInCollections:
    """List the collections of the config file with their trust."""
    configured = services.settings.collections.items()
    return TrustInCollections(trust={name: collection.trust for name, collection in configured})


@operation(
    Effect.REPEATABLE,
    text=lambda one: f"Collection {one.name}: trust {one.trust}; {plural(one.changed, 'document')} changed.",
    is_tool=False,
    opens=Opening.IF_PRESENT,
    any_vault=False,
)
def trust_set(
    services: Services,
    name: Annotated[str, Field(description="Its name."), Option(metavar="COLLECTION", is_argument=True)],
    trust: Annotated[
        Trust, Field(description="user, shared or outside."), Option(metavar="LEVEL", is_argument=True)
    ],
) -> TrustChange:
    """
    Set the trust in a collection: user, shared or outside.

    Notes of a collection that is shared or from outside are quoted in prompts, and parts of them that give orders
    to an assistant are left out. A note can lower its own trust by a tag such as origin:imported, and never raise it.
    """
    if name not in services.settings.collections:
        raise NotFound("collection", name, suggestions=sorted(services.settings.collections))
    set_value(services.settings.config_file, ("collections", name, "trust"), trust)
    changed = 0
    if services.is_open:
        known = services.vault.documents.sources(name).values()
        changed = record_trust(
            services.vault.documents,
            services.vault.transactions,
            services.publisher,
            known,
            TRUST[trust],
        )
    return TrustChange(name=name, trust=trust, changed=changed)
