"""
Opening of a vault with its services.

The container is imported where it is made: dependency-injector takes several times as long as a command that a server
answers.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import time
from typing import Any

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import CORRECT_IT, REMEDIES, is_there, usual_vault
from clawmem.app.environment.private_files import files_of_vault, make_private, private_umask
from clawmem.app.settings.config_file import locked_config, read_config, remove_collection
from clawmem.app.settings.model import Settings
from clawmem.ports.errors import ConfigError, InvalidInput, VaultError, VaultFull, VaultReadOnly
from clawmem.ports.records import InactiveReason, Role


def creating_command(vault: Path, name: str | None = None) -> str:
    """Return the command that creates *vault*, which may have a *name*; it names another vault than the usual one."""
    if name:
        return f"clawmem vault sync {name} FOLDER"
    is_usual = vault == usual_vault(os.environ)
    return f"clawmem {'' if is_usual else f'--vault {shlex.quote(str(vault.absolute()))} '}bootstrap PATH"


def missing_vault(vault: Path, name: str | None = None) -> VaultError:
    """Return the error for a *vault* that is not there, which may have a *name*: how to create it, or why it is closed."""
    reason = f"There is no vault at {vault}. Run: {creating_command(vault, name)}"
    try:
        vault.stat()
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            remedy = REMEDIES.get(error.errno or 0, CORRECT_IT)
            reason = f"{vault} cannot be reached: {error.strerror}. {remedy}"
    return VaultError(str(vault), reason)


def require_vault(settings: Settings) -> None:
    """Raise `VaultError` if the configured vault does not exist."""
    if not is_there(settings.vault):
        raise missing_vault(settings.vault, settings.named)


def require_unused(settings: Settings) -> None:
    """Raise `VaultError` if the configured vault may not be replaced: it is read-only, or a server has it open."""
    if settings.read_only:
        raise VaultReadOnly(str(settings.vault))
    if is_running(settings.vault):
        reason = f"A server has {settings.vault} open. Run: clawmem serve --stop, then repeat"
        raise VaultError(str(settings.vault), reason)


def require_folder(settings: Settings) -> None:
    """Raise `VaultError` if a new vault has the name of a note, or its folder does not exist and is not the usual one."""
    vault = settings.vault
    if vault.suffix.lower() in (".md", ".markdown") and not is_there(vault):
        reason = f"{vault} has the name of a note. Choose another ending for a vault, such as .sqlite."
        raise VaultError(str(vault), reason)
    folder, usual = vault.parent, usual_vault(os.environ).parent
    if not (settings.named or folder == usual or is_there(folder)):
        remedy = f"Create it: mkdir -p {shlex.quote(str(folder))}"
        raise VaultError(str(vault), f"There is no folder {folder} for the vault. {remedy}")


def require_new(settings: Settings, config: Path) -> None:
    """Raise `InvalidInput` if there is the file of a new named vault, unless an interrupted command left it unused."""
    if is_there(settings.vault) and time() - settings.vault.stat().st_mtime > 1:  # else it may be in creation
        unopened_services(settings).discard_unused_vault()
    if is_there(settings.vault):
        remedy = f"Choose another name, or write in {config} below vaults: {settings.named}: {settings.vault}"
        raise InvalidInput("INVALID_INPUT", f"{settings.vault} is there already. {remedy}")


@contextmanager
def open_services(
    settings: Settings, *, read_only: bool = False, create: bool = True, or_read: bool = False
) -> Iterator[Services]:
    """
    Open the configured vault, and close it at the end of the block.

    A missing one is created if *create*, unless *read_only*; it is deleted again if this or the block raises before it
    stores a document. One that cannot be written now, on a full disk for example, is opened for reading if *or_read*. Raises
    `ConfigError` for an unknown backend, and `VaultError`.
    """
    from clawmem.app.bootstrap.container import Clawmem

    if read_only or not create:
        require_vault(settings)
    is_new = not is_there(settings.vault)
    read_only = read_only or settings.read_only
    container, is_vault, is_unused = Clawmem(settings=settings, read_only=read_only), False, is_new
    try:
        try:
            with private_umask():
                container.gateways.records()
        except (VaultFull, VaultReadOnly):
            if read_only or not or_read or is_new:
                raise
            read_only, settings = True, settings.model_copy(update={"read_only": True})
            container = Clawmem(settings=settings, read_only=True)
        is_vault = True  # the permissions of a file that is none are not ours to change
        services = Services(container, is_new=is_new)
        current = services.indexes.backend
        if settings.backend and settings.backend != current:
            if read_only or services.vault.documents.following(0, 1):  # only an empty vault moves by itself
                raise ConfigError(
                    f"The vault's indexes are stored by {current!r}, not by {settings.backend!r}. Run: clawmem rebuild "
                    f"--backend {settings.backend}  (the vault stays usable during the migration), or choose {current} "
                    f"with --backend, or as backend: in {settings.config_file}."
                )
            services.indexes.move(settings.backend)
        # Forget again what the log names, unless its last entry is forgotten: the vault is new, or a copy from before.
        if not settings.read_only and (places := services.forget_log.read()[0]):
            last = services.vault.documents.at(places[-1].collection, places[-1].path)
            is_new_or_old = not last or last.inactive is not InactiveReason.FORGOTTEN
            if is_new_or_old and not read_only:
                services.forgotten_places.agree()
            elif is_new_or_old:
                with suppress(VaultError), open_services(settings, create=False):
                    pass
        yield services
        is_unused = False
    finally:
        gateways: Any = container.gateways
        for resource in (gateways.threads, gateways.stack, gateways.indexes, gateways.records):
            resource.shutdown()
        if is_vault and not read_only:
            for place in files_of_vault(settings.vault):  # engines choose their files' permissions
                make_private(place)
        if is_unused and is_there(settings.vault):
            gateways.discard_unused_vault()
            if not is_there(settings.vault):
                rmtree(settings.vault.with_name(f"{settings.vault.name}.indexes"), ignore_errors=True)


def withdraw_empty(settings: Settings, name: str, *, was_configured: bool) -> None:
    """
    Take the collection *name* out of the config file after a first reading that stored none of its documents.

    The config file is deleted if it has nothing else in it, unless it *was_configured*.
    """
    config = settings.config_file
    if is_there(settings.vault):
        own = settings.model_copy(update={"backend": None})
        with suppress(VaultError), open_services(own, read_only=True) as opened:
            if opened.vault.documents.collections().get(name):
                return
    remove_collection(config, name)
    with locked_config(config):
        if not (was_configured or read_config(config)):
            config.unlink(missing_ok=True)


def unopened_services(settings: Settings) -> Services:
    """Return the services for what needs the settings alone; the vault must not be used."""
    from clawmem.app.bootstrap.container import Clawmem

    return Services(Clawmem(settings=settings, read_only=True), is_open=False)


@contextmanager
def open_copy(settings: Settings) -> Iterator[Services]:
    """
    Open a temporary copy of the configured vault, with its own indexes and no models but the embedder.

    The copy is deleted at the end. Raises `VaultError` if there is no vault, or it cannot be copied.
    """
    from dependency_injector import providers

    with open_services(settings, read_only=True) as original, TemporaryDirectory(prefix="clawmem-") as folder:
        copy = Path(folder) / settings.vault.name
        is_bare = original.copy_vault(str(copy), detached=True)
        alone = settings.model_copy(update={"vault": copy, "backend": None})
        with open_services(alone, create=False) as copied:
            nothing: Any = providers.Object(None)
            copied.container.gateways.override_providers(generator=nothing, reranker=nothing)
            for role in Role if is_bare else ():
                copied.indexes.rebuild(role)
            yield copied
