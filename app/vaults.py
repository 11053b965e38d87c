"""Vaults by name: which there are, and the settings for one of them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.app.places import below_home, is_there
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.ports.errors import ConfigError, InvalidInput, NotFound

if TYPE_CHECKING:
    from clawmem.app.settings import Settings


class UnknownVault(NotFound):
    """No vault has this name; ``suggestions`` are the names of all vaults."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__("vault", name, suggestions=known)
        there = f"There is: {', '.join(known)}." if known else "No vault has a name yet."
        remedy = (
            f"To make it, run: clawmem vault sync {name} FOLDER. To use a file, give its path."
            if is_collection_name(name)
            else "To use a file, give its path."
        )
        self.args = (f"No vault matches {name!r}. {there} {remedy}",)


def of_vault(settings: Settings, name: str) -> Settings:
    """
    The settings for the vault called *name* and nothing else.

    What the config file says of collections it says of the usual vault: no folder of them is read into another
    one, or shown by it.

    Raises:
        UnknownVault: none is called so.
    """
    if name not in settings.vaults:
        raise UnknownVault(name, sorted(settings.vaults))
    only = {"vault": settings.vaults[name], "named": name, "collections": {}, "global_context": ""}
    return settings.model_copy(update=only)


def new_vault(settings: Settings, name: str) -> Path:
    """
    Return the file for a new vault called *name*: next to the usual vault.

    Raises:
        InvalidInput: *name* is no name for a vault, or the file is there already, as a vault without this name.
    """
    if not is_collection_name(name):
        raise InvalidInput(
            "INVALID_INPUT", f"{name!r} is no name for a vault. Use letters, digits, '-' and '_'."
        )
    file = (settings.vault.parent / f"{name}.sqlite").absolute()
    if is_there(file):
        raise InvalidInput(
            "INVALID_INPUT",
            f"{file} is there already, and the vault in it is not called {name!r}. Choose another name, or give "
            f"it this one in {settings.config_file}: vaults: {{{name}: {file}}}",
        )
    return file


def at_vault(settings: Settings, said: Path) -> Settings:
    """
    The settings for the vault that a person means by a name or a path; what is a name is never a path,
    and the path of a named vault is as good as its name.

    Once vaults have names, a bare word that is neither one of them nor a file is taken for a slip, lest an empty
    vault of that name comes into being.

    Raises:
        UnknownVault: the slip.
    """
    name = str(said)
    if name in settings.vaults or (settings.vaults and is_collection_name(name) and not is_there(said)):
        return of_vault(settings, name)
    place = below_home(name, {"HOME": str(settings.home)})
    for known, path in settings.vaults.items():
        if place == path:
            return of_vault(settings, known)
    return settings.model_copy(update={"vault": place})


def refuse_named(settings: Settings, what: str) -> None:
    """Raises `InvalidInput` when *settings* are for a named vault: folders, *what* does, are the usual one's."""
    if settings.named:
        raise InvalidInput(
            "INVALID_INPUT",
            f"{what} is for the usual vault. Leave --vault out, or fill this one with: "
            f"clawmem vault sync {settings.named} FOLDER",
        )


def read_vaults(said: Any, env: Mapping[str, str]) -> dict[str, Path]:
    """
    Names and files as the settings give them, ``~`` being the home that *env* names.

    Raises:
        ConfigError: not a mapping of names to absolute paths.
    """
    if not isinstance(said, Mapping):
        raise ConfigError("vaults must give each name the path of a file, such as work: ~/work.sqlite.")
    return {str(name): _file(str(name), path, env) for name, path in said.items()}


def _file(name: str, path: Any, env: Mapping[str, str]) -> Path:
    if not is_collection_name(name):
        raise ConfigError(f"{name!r} is no name for a vault. Use letters, digits, '-' and '_'.")
    if not isinstance(path, str | Path) or not (found := below_home(str(path), env)).is_absolute():
        raise ConfigError(f"The vault {name!r} needs the absolute path of a file, such as ~/work.sqlite.")
    return found
