"""The folders that are remembered, the trust in their notes, and their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.indexing.collections import distrust_stamps, record_trust, withdraw_collection
from clawmem.app.settings.config_file import (
    existing_folder,
    name_for,
    remove_value,
    set_value,
    typed_folder,
)
from clawmem.domain.documents.eligibility import check_pattern
from clawmem.domain.security.origin import TRUST
from clawmem.ports.errors import ConfirmationMissing, InvalidInput, NotFound
from clawmem.ports.records import Scope

Trust = Literal["user", "shared", "outside"]
Name = Annotated[str, Field(description="Its name."), Option(metavar="NAME", is_argument=True)]
Confirm = Annotated[
    bool | None, Field(description="Do it all the same; false only shows what would be done.")
]


class Collection(Result):
    """A collection with the number of its served documents; clawmem or a program fills one without a folder."""

    name: str
    documents: int
    path: str | None = None
    pattern: str | None = None
    updated: str | None = Field(default=None, description="When the latest of its documents was written.")
    trust: Trust = "user"


class AddedCollection(Result):
    """A collection in the config file; ``warning`` says that its folder is very broad."""

    name: str
    path: str
    pattern: str
    warning: str = ""

    @property
    def remarks(self) -> Sequence[str]:
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


class TrustChange(Result):
    """The trust in a collection, and how many of its documents were trusted otherwise before."""

    name: str
    trust: Trust
    changed: int


def list_collections(services: Services) -> list[Collection]:
    """Return every collection of the config file and of the vault, if there is one, by name."""
    served = services.vault.documents.collections() if services.is_open else {}
    listed = []
    for name in sorted({*served, *services.settings.collections}):
        latest = (
            services.vault.documents.latest(Scope(frozenset({name})), limit=1) if services.is_open else []
        )
        collection = Collection(name=name, documents=served.get(name, 0))
        collection.updated = latest[0].authored_at if latest else None
        if folder := services.settings.collections.get(name):
            collection.path, collection.pattern = str(folder.path), folder.pattern
            collection.trust = folder.trust
        listed.append(collection)
    return listed


@operation(
    Effect.READS,
    name="collections",
    columns="name documents trust pattern path",
    empty="No collections yet. Run: clawmem collection add PATH",
    items="collections",
    route="/collections",
    commands=(Command("collection list"),),
    is_tool=False,
    opens=Opening.IF_PRESENT,
)
def list_all(services: Services) -> list[Collection]:
    """List the collections with their folders and numbers of documents."""
    return list_collections(services)


@operation(
    Effect.REPEATABLE,
    text=lambda added: f"Collection {added.name}: {added.path} ({added.pattern}). Next: clawmem update",
    is_tool=False,
    opens=Opening.IF_PRESENT,
    any_vault=False,
)
def collection_add(
    services: Services,
    path: Annotated[
        Path,
        Field(description="A folder of Markdown."),
        Option(metavar="PATH", is_argument=True, parser=typed_folder),
    ],
    name: Annotated[str | None, Field(description="Its name; made from the folder's otherwise.")] = None,
    pattern: Annotated[str, Field(description="Glob of the files that are read.")] = "**/*.md",
    exclude: Annotated[
        list[str] | None,
        Field(description="Pattern of files that are not read, as in .gitignore; repeatable."),
    ] = None,
    move: Annotated[bool, Field(description="The collection of that name was moved to this folder.")] = False,
    confirm: Confirm = None,
) -> AddedCollection:
    """Add a folder as a collection; 'clawmem update' then reads it. A home folder needs a confirmation."""
    settings, folder = services.settings, existing_folder(path)
    check_pattern(pattern)
    known = {
        other: (collection.path, collection.pattern) for other, collection in settings.collections.items()
    }
    name = name_for(folder, pattern, name, known, moved=move)
    home, warning = settings.home.resolve(), ""
    if home.is_relative_to(folder):
        what = "is your home folder" if folder == home else "contains your home folder"
        warning = (
            f"{folder} {what}. Every Markdown file in it becomes searchable and may be put into prompts, those of other "
            "programs included. A narrower folder is usually meant."
        )
    if (warning and confirm is not True) or confirm is False:
        raise ConfirmationMissing(
            f"Nothing was added. {warning}".rstrip(),
            {"name": name, "path": str(folder)},
            remedy=f"To add it{' all the same' if warning else ''}, repeat with confirm: true.",
            preview=[warning or f"Collection {name}: {folder} ({pattern}) would be added."],
            question="Add it all the same?",
            confirmed={"confirm": True},
        )
    entry = {"path": str(folder), "pattern": pattern, **({"exclude": [*exclude]} if exclude else {})}
    set_value(settings.config_file, ("collections", name), entry)
    if move and services.is_open:
        distrust_stamps(services.vault.documents, services.vault.transactions, name)
    return AddedCollection(name=name, path=str(folder), pattern=pattern, warning=warning)


@operation(
    Effect.DESTROYS,
    text=lambda removed: (
        f"Collection {removed.name} removed; {removed.withdrawn} of its documents were served until now."
    ),
    is_tool=False,
    opens=Opening.IF_PRESENT,
    any_vault=False,
)
def collection_remove(services: Services, name: Name, confirm: Confirm = None) -> RemovedCollection:
    """
    Remove a collection: its files stay, its documents are no longer found.

    If its folder does not exist, the vault has the only copy of the documents, and nothing is removed without a
    confirmation.
    """
    configured = services.settings.collections
    folder = configured.get(name)
    if not folder and not (services.is_open and name in services.leftovers):
        raise NotFound("collection", name, suggestions=sorted(configured))
    if confirm is not True:
        served = services.vault.documents.collections().get(name, 0) if services.is_open else 0
        lost_folder = folder.path if folder and served and not folder.path.is_dir() else None
        documents, advice, again = plural(served, "document"), "Its files stay.", ""
        line = f"Collection {name} would be removed; {documents} would no longer be found."
        if lost_folder:
            line = f"{lost_folder} does not exist: the vault has the only copy of the {documents} of {name}."
            advice, again = "To keep them, first run: clawmem export", " all the same"
        if lost_folder or confirm is False:
            raise ConfirmationMissing(
                f"Nothing was removed. {line} {advice}",
                {"name": name, "documents": served},
                remedy="To remove it, repeat with confirm: true.",
                preview=[line, advice],
                question=f"Remove the collection{again}?",
                confirmed={"confirm": True},
            )
    if folder:
        remove_value(services.settings.config_file, ("collections", name))
    withdrawn = 0
    if services.is_open:
        vault = services.vault
        withdrawn = withdraw_collection(vault.documents, vault.transactions, services.publisher, name)
    return RemovedCollection(name=name, withdrawn=withdrawn, trust=folder.trust if folder else "user")


@operation(
    Effect.REPEATABLE,
    text=lambda change: (
        f"Collection {change.name}: trust {change.trust}; {plural(change.changed, 'document')} changed."
    ),
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
        vault = services.vault
        documents = vault.documents.sources(name).values()
        changed = record_trust(
            vault.documents, vault.transactions, services.publisher, documents, TRUST[trust]
        )
    return TrustChange(name=name, trust=trust, changed=changed)


# -- descriptions of folders ----------------------------------------------------------------------------

EVERYTHING = "/"
MOST = 1000  # characters; a description is read with every note below its folder

Place = Annotated[
    str,
    Field(description="A collection, a folder or file in it such as notes/work, or / for everything."),
    Option(metavar="PLACE", is_argument=True),
]


class Context(Result):
    """A place and its description; the place / is everything."""

    place: str
    text: str


class ContextChange(Context):
    """A place, with its description before and now; empty if it has none."""

    before: str

    @property
    def remarks(self) -> Sequence[str]:
        """Return the command that brings the change into vectors."""
        reindex = "For vectors that include the change: clawmem update --all"
        return [] if self.place == EVERYTHING else [reindex]


def _contexts(services: Services) -> dict[str, str]:
    """Return every description by its place."""
    settings = services.settings
    contexts = {EVERYTHING: settings.global_context} if settings.global_context.strip() else {}
    for name, collection in settings.collections.items():
        for prefix, text in collection.context.items():
            contexts[f"{name}/{prefix.strip('/')}".rstrip("/")] = text
    return contexts


def _place(services: Services, text: str) -> str:
    """Return the place that *text* names, a collection and a path in it, or a path on the disk."""
    collections = services.settings.collections
    if text == EVERYTHING:
        return text
    name, _, prefix = text.strip("/").partition("/")
    if name in collections:
        return f"{name}/{prefix}".rstrip("/")
    path = Path(text).expanduser().absolute()
    above = [collection for collection, folder in collections.items() if path.is_relative_to(folder.path)]
    if not above:
        raise NotFound("collection", name or text, suggestions=sorted(collections))
    inner = max(above, key=lambda collection: len(collections[collection].path.parts))
    return f"{inner}/{path.relative_to(collections[inner].path).as_posix()}".removesuffix("/.")


def _keys(services: Services, place: str) -> tuple[str, ...]:
    """Return the keys of a description in the config file, with slashes in the spelling of the file."""
    name, _, prefix = place.partition("/")
    if place == EVERYTHING:
        return ("global_context",)
    spelt = (key for key in services.settings.collections[name].context if key.strip("/") == prefix)
    return ("collections", name, "context", next(spelt, prefix or EVERYTHING))


@operation(
    Effect.READS,
    name="contexts",
    columns="place text=description",
    empty="No descriptions yet. Run: clawmem collection describe FOLDER TEXT",
    items="contexts",
    commands=(Command("collection describe", about="List, set or remove the descriptions of folders."),),
    is_tool=False,
    opens=Opening.NOTHING,
)
def list_contexts(services: Services) -> list[Context]:
    """List the descriptions of folders, those of outer folders first."""
    return [Context(place=place, text=text) for place, text in sorted(_contexts(services).items())]


@operation(
    Effect.REPEATABLE,
    text=lambda change: (
        f"{change.place}: {change.text}" + (f" (before: {change.before})" if change.before else "")
    ),
    commands=(Command("collection describe"),),
    is_tool=False,
    opens=Opening.NOTHING,
    any_vault=False,
)
def context_set(
    services: Services,
    place: Place,
    text: Annotated[
        str,
        Field(description="The description.", min_length=1, max_length=MOST),
        Option(metavar="TEXT", is_argument=True),
    ],
) -> ContextChange:
    """
    Describe a folder, a file or everything.

    The description is shown with every note below the folder, in results and above its text. Vectors of the notes
    include it after: clawmem update --all
    """
    place, text = _place(services, place), " ".join(text.split())
    if not text:
        raise InvalidInput("INVALID_INPUT", f"The description of {place} is blank. Give it a text.")
    if place != EVERYTHING:
        name, _, prefix = place.partition("/")
        root = services.settings.collections[name].path
        if root.is_dir() and not (root / prefix).exists():
            raise NotFound("folder or file", str(root / prefix))
    before = _contexts(services).get(place, "")
    set_value(services.settings.config_file, _keys(services, place), text)
    return ContextChange(place=place, text=text, before=before)


@operation(
    Effect.DESTROYS,
    text=lambda removed: f"Description of {removed.place} removed. It was: {removed.before}",
    commands=(Command("collection describe", "--remove"),),
    is_tool=False,
    opens=Opening.NOTHING,
    any_vault=False,
)
def context_remove(services: Services, place: Place) -> ContextChange:
    """Remove a description."""
    place, known = _place(services, place), _contexts(services)
    if place not in known:
        raise NotFound("description", place, suggestions=sorted(known))
    config, keys = services.settings.config_file, _keys(services, place)
    if place == EVERYTHING:
        set_value(config, keys, "")
    else:
        remove_value(config, keys)
    return ContextChange(place=place, text="", before=known[place])
