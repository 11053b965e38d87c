"""Opening of a vault with its services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.adapters import Adapters
from clawmem.app.bootstrap.pipelines import Pipelines
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import (
    files_of_vault,
    make_private,
    private_umask,
    temporary_folder,
)
from clawmem.app.settings.config_file import read_config
from clawmem.app.settings.model import Settings
from clawmem.app.settings.vaults import UnknownVault, lost_vault
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.ports.errors import BackendMismatch, VaultError, VaultFull, VaultReadOnly
from clawmem.ports.records import Role

if TYPE_CHECKING:
    from clawmem.app.services.indexes.external import ExternalIndexes


def require_vault(settings: Settings) -> None:
    """Raise `VaultError` if the configured vault does not exist."""
    if is_there(settings.vault):
        return
    if not settings.named and is_collection_name(str(settings.vault)):  # a bare word is a name
        raise UnknownVault(str(settings.vault), sorted(settings.vaults))
    way_out = f"vault sync {settings.named} FOLDER" if settings.named else "bootstrap PATH"
    raise VaultError(str(settings.vault), f"There is no vault at {settings.vault}. Run: clawmem {way_out}")


@contextmanager
def open_services(
    settings: Settings, *, read_only: bool = False, create: bool = True, or_read: bool = False
) -> Iterator[Services]:
    """
    Open the configured vault, and close it at the end of the block.

    Args:
        create: Whether a missing vault is created; ignored when *read_only*.
        or_read: Whether a vault that cannot be written now, on a full disk for example, is opened for reading.

    Raises:
        ConfigError: There is no backend of that name.
        VaultError: There is no vault, or it cannot be opened.
    """
    if read_only or not create:
        require_vault(settings)
    existed, lost = is_there(settings.vault), lost_vault(settings)
    adapters = Adapters(settings, read_only=read_only)
    try:
        with private_umask():
            indexes = adapters.indexes
    except (VaultFull, VaultReadOnly):
        if read_only or not or_read or not is_there(settings.vault):
            raise
        settings = settings.model_copy(update={"read_only": True})
        adapters = Adapters(settings, read_only=True)
        indexes = adapters.indexes
    try:
        if settings.backend and settings.backend != indexes.backend:
            _choose_backend(indexes, settings, read_only=read_only or settings.read_only)
        yield Services(settings, adapters, Pipelines(adapters), is_new=not existed, lost_vault=lost)
    finally:
        adapters.closing.close()
        indexes.vault.close()
        if not read_only and not settings.read_only:
            for place in files_of_vault(settings.vault):  # engines choose their files' permissions
                make_private(place)


def unopened_services(settings: Settings) -> Services:
    """Return the services for what needs the settings alone; the vault must not be used."""
    adapters = Adapters(settings, read_only=True)
    return Services(settings, adapters, Pipelines(adapters), is_open=False)


@contextmanager
def open_copy(settings: Settings) -> Iterator[Services]:
    """
    Open a temporary copy of the configured vault, with its own indexes. The copy is deleted at the end.

    Raises:
        VaultError: There is no vault, or it cannot be copied.
    """
    from clawmem.adapters.sqlite.snapshot import copy_vault

    with open_services(settings, read_only=True), temporary_folder() as folder:
        copy = folder / settings.vault.name
        is_bare = copy_vault(str(settings.vault), str(copy), detached=True)
        alone = settings.model_copy(update={"vault": copy, "backend": None})
        with open_services(alone, create=False) as copied:
            for role in Role if is_bare else ():
                copied.indexes.rebuild(role)
            yield copied


def _choose_backend(indexes: ExternalIndexes, settings: Settings, *, read_only: bool) -> None:
    """Move an empty vault to the chosen backend; refuse one in use, which only `clawmem migrate` moves."""
    asked = str(settings.backend)
    if read_only or indexes.vault.documents.following(0, 1):
        is_configured = read_config(settings.config_file).get("backend") == asked
        remedy = (
            f"write backend: {indexes.backend} in {settings.config_file}."
            if is_configured
            else "leave --backend out."
        )
        raise BackendMismatch(indexes.backend, asked, remedy)
    indexes.move(asked)
