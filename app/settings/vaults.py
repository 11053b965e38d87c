"""Named vaults: their names, and the settings for one of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.environment.places import below_home, is_there
from clawmem.app.settings.config_file import config_of, fault_of_name, set_value
from clawmem.app.settings.model import of_file
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.ports.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from clawmem.app.settings.model import Settings


def unknown_vault(name: str, known: Iterable[str]) -> NotFound:
    """Return the error that no vault is called *name*."""
    remedy = "To use a file, give its path."
    if is_collection_name(name):
        remedy = f"To make it, run: clawmem vault sync {name} FOLDER. {remedy}"
    return NotFound("vault", name, suggestions=sorted(known), remark=remedy)


def of_vault(settings: Settings, name: str) -> Settings:
    """
    Return the settings for the vault *name* alone, which has its own collections as any other file, see `of_file`.

    Programs may read the same folders as before.

    Raises:
        NotFound: No vault has this name.
    """
    if name not in settings.vaults:
        raise unknown_vault(name, settings.vaults)
    folders = settings.folders_for_programs
    named = of_file(settings, settings.vaults[name])
    return named.model_copy(update={"named": name, "sync_folders": [*folders, *named.sync_folders]})


def new_vault(settings: Settings, name: str) -> Path:
    """
    Return the file for a new vault *name*, next to the usual vault.

    Raises:
        InvalidInput: *name* is not a valid name, or the file exists already, as a vault without this name.
    """
    if fault := fault_of_name(name, "vault"):
        raise InvalidInput("INVALID_INPUT", fault)
    file = (settings.vault.parent / f"{name}.sqlite").absolute()
    if is_there(file):
        remedy = f"Choose another name, or add to {settings.config_file}: vaults: {{{name}: {file}}}"
        raise InvalidInput("INVALID_INPUT", f"{file} is there already. {remedy}")
    return file


def at_vault(settings: Settings, vault: Path) -> Settings:
    """
    Return the settings for a vault given by its name or its path; a name takes precedence over a path.

    The path of a named vault is equivalent to its name. A bare word that is neither a name nor a file is taken for a
    typing error, so that it does not create an empty vault.

    Raises:
        NotFound: The word is such an error.
    """
    name = str(vault)
    if name in settings.vaults or (is_collection_name(name) and not is_there(vault)):
        return of_vault(settings, name)
    place = below_home(name, {"HOME": str(settings.home)})
    for known, path in settings.vaults.items():
        if place == path:
            return of_vault(settings, known)
    return settings if place.absolute() == settings.vault.absolute() else of_file(settings, place)


def set_apart(settings: Settings) -> None:
    """Write the config file of a vault with its own collections, if it is missing, so that every process reads it."""
    if settings.config_file == config_of(settings.vault) and not settings.config_file.exists():
        set_value(settings.config_file, ["collections"], {})


def refuse_named(settings: Settings, what: str) -> None:
    """Raise `InvalidInput` if *settings* are for a named vault: *what*, a command on folders, needs the usual one."""
    if settings.named:
        raise InvalidInput(
            "INVALID_INPUT",
            f"{what} is for the usual vault. Leave --vault out, or fill this one with: "
            f"clawmem vault sync {settings.named} FOLDER",
        )
