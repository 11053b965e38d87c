"""Vaults with a name: their files, and the folders that are read into them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.environment.places import is_there
from clawmem.app.operations.embedding import embed_after
from clawmem.app.operations.indexing import PERSON, AllowEmpty, Embed, Reading, reading_text, sums_of
from clawmem.app.operations.operation import (
    Command,
    Effect,
    NoParameters,
    Opening,
    Operation,
    Option,
    Request,
    Result,
)
from clawmem.app.operations.output import Table, table
from clawmem.app.services.indexing.syncing import admitted
from clawmem.app.settings.config_file import add_vault, typed_folder
from clawmem.app.settings.vaults import new_vault, of_vault

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

NO_NAMES = "No vault has a name. Make one: clawmem vault sync NAME FOLDER"


class NamedVaults(Result):
    """Files of vaults by name; the usual vault has none. ``missing`` are the names without a file."""

    vaults: dict[str, str]
    missing: list[str]


class Sync(Request):
    """A folder that is read into a named vault."""

    vault: Annotated[
        str,
        Field(description="Name of the vault, see list_vaults; a missing vault is created."),
        Option(metavar="NAME", is_argument=True),
    ]
    content_root: Annotated[
        Path,
        Field(description="An absolute folder of notes."),
        Option(metavar="FOLDER", is_argument=True, parser=typed_folder),
    ]
    pattern: Annotated[str, Field(description="Glob of the files that are read.")] = "**/*.md"
    collection_name: Annotated[
        str | None, Field(description="Its collection; called as the vault, else."), Option(("--collection",))
    ] = None
    embed: Embed = False
    allow_empty: AllowEmpty = False


class Synced(Reading):
    """A pass over a folder for a named vault; ``made`` is the file of a new vault."""

    vault: str
    collection: str
    made: str | None = None


def list_vaults(services: Services, request: NoParameters) -> NamedVaults:
    """List the named vaults with their files; opens none. The parameter vault of other tools takes their names."""
    vaults = services.settings.vaults
    missing = [name for name, path in vaults.items() if not is_there(path)]
    return NamedVaults(vaults={name: str(path) for name, path in vaults.items()}, missing=missing)


def vault_sync(services: Services, request: Sync) -> Synced:
    """
    Read a folder into a named vault; the documents that the collection has of any other folder are removed.

    Programs may read folders below those of `collections:` and `sync_folders:` in the config file. A new vault of the
    command line is a file next to the usual vault, and its name is written to the config file.
    """
    folder, collection = _place(request, services.caller), request.collection_name or request.vault
    with services.progress(f"Reading {folder}") as step:
        report = services.sync(
            folder,
            collection,
            request.pattern,
            allowed=_allowed(services.settings, services.caller),
            allow_empty=request.allow_empty,
            progress=step,
        )
    embedded = embed_after(services, [collection], is_asked=request.embed)
    made = str(services.settings.vault) if services.is_new else None
    read = sums_of(services, [report])
    return Synced(**read, vault=request.vault, collection=collection, made=made, embed=embedded)


def named_vault(settings: Settings, request: Sync, caller: str) -> Settings:
    """Return the settings of the vault into which a folder is read; give a new vault of the command line its name."""
    name = request.vault
    is_new = caller == PERSON and name not in settings.vaults
    file = new_vault(settings, name) if is_new else None
    allowed = _allowed(settings, caller)
    admitted(_place(request, caller), settings.home, own=settings.own_files, allowed=allowed)
    if file:
        add_vault(settings.config_file, name, file)
        settings = settings.model_copy(update={"vaults": {**settings.vaults, name: file}})
    return of_vault(settings, name)


def _allowed(settings: Settings, caller: str) -> Sequence[Path] | None:
    """Return the folders that may be read; ``None`` for a person, who may read every folder of notes."""
    return None if caller == PERSON else settings.folders_for_programs


def _place(request: Sync, caller: str) -> str:
    """Return the folder as text; a relative path of the command line is made absolute."""
    folder = request.content_root
    return str(folder.expanduser().absolute() if caller == PERSON else folder)


def _vaults_text(result: NamedVaults) -> str | list[Table]:
    if not result.vaults:
        return NO_NAMES
    rows = [(name, path, name not in result.missing) for name, path in result.vaults.items()]
    return [table(("name", "path", "exists"), rows)]


def _synced_text(result: Synced) -> str:
    made = f"\nMade the vault {result.vault} in {result.made}." if result.made else ""
    return f"{reading_text(result, result.vault)}{made}"


OPERATIONS = (
    Operation(
        name="list_vaults",
        effect=Effect.READS,
        commands=(Command("vault list"),),
        run=list_vaults,
        text=_vaults_text,
        opens=Opening.NOTHING,
    ),
    Operation(
        name="vault_sync",
        run=vault_sync,
        effect=Effect.REPEATABLE,
        commands=(Command("vault sync"),),
        text=_synced_text,
        opens=Opening.CREATED,
        settings=named_vault,
    ),
)
