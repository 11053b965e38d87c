"""Copies of the vault that leave this machine, and come back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.environment.private_files import draft_of, files_of_vault
from clawmem.app.operations.operation import Command, Effect, Operation, Option, Request, Result
from clawmem.app.operations.output import plural
from clawmem.ports.errors import InvalidInput
from clawmem.ports.files import FileNotCreated

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

Force = Annotated[bool, Field(description="Replace an existing file."), Option(("--force",))]


class BackupRequest(Request):
    """The file of a backup."""

    file: Annotated[Path, Field(description="The new file."), Option(metavar="FILE", is_argument=True)]
    force: Force = False


class Backup(Result):
    """A backup that was checked after writing."""

    file: str
    documents: int
    bytes: int


def backup(services: Services, request: BackupRequest) -> Backup:
    """
    Copy the vault to one file while programs use it.

    The copy is a consistent state of the vault, and it is checked before it gets its name. It is a vault itself: use it
    with --vault FILE, or put it in the place of a lost vault.
    """
    target = free_target(services, request.file, force=request.force)
    try:
        with draft_of(target) as draft:
            documents = services.adapters.back_up(draft)
        return Backup(file=str(target), documents=documents, bytes=target.stat().st_size)
    except OSError as error:
        raise FileNotCreated(str(target), (error.strerror or type(error).__name__).lower()) from error


def free_target(services: Services, file: Path, *, force: bool) -> Path:
    """
    Return the absolute path of the new *file*; its folder is not created.

    Raises:
        InvalidInput: The file exists and is not to be replaced, or is a file of the vault.
        FileNotCreated: There is no such folder.
    """
    target = file.expanduser().absolute()
    if target.resolve() in {one.resolve() for one in files_of_vault(services.settings.vault)}:
        raise InvalidInput("INVALID_INPUT", f"{target} belongs to the vault itself. Choose another file.")
    if target.is_dir():
        raise InvalidInput("INVALID_INPUT", f"{target} is a folder. Name a file in it.")
    if target.exists() and not force:
        raise InvalidInput(
            "FILE_EXISTS", f"{target} exists and was not changed. Choose another file, or add --force."
        )
    if not target.parent.is_dir():
        raise FileNotCreated(str(target), f"there is no folder {target.parent}")
    return target


def _backup_text(result: Backup) -> str:
    return f"{result.file}: {plural(result.documents, 'document')}, {result.bytes:,} bytes, checked."


OPERATIONS = (
    Operation(
        name="backup",
        request=BackupRequest,
        result=Backup,
        run=backup,
        effect=Effect.READS,
        commands=(Command("backup"),),
        text=_backup_text,
        is_tool=False,
        in_own_process=True,  # a relative path is that of the command
    ),
)
