"""Copies of the vault that leave this machine, and vaults that are made from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.opening import open_copy, open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import (
    draft_of,
    draft_of_folder,
    files_of_vault,
    make_folder,
    write_whole,
)
from clawmem.app.operations.fields import CollectionNames, named_collections
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import few
from clawmem.app.services.maintenance.status import BACKUP_MARK
from clawmem.app.services.portability.exporting import Selection, memory_lines, selected_files, write_bundle
from clawmem.app.settings.model import Settings, load_settings
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.redaction import redact
from clawmem.ports.errors import (
    BundleDamaged,
    FileNotCreated,
    InvalidInput,
    VaultError,
    VaultReadOnly,
)
from clawmem.ports.records import InactiveReason, Role

NAMES = {"bundle": "clawmem-bundle.zip", "markdown": "clawmem-notes", "jsonl": "memories.jsonl"}
Force = Annotated[bool, Field(description="Replace an existing file.")]


class Export(Result):
    """A new file or folder, and the number of its documents; ``removed`` ones have lost their files."""

    file: str
    documents: int
    removed: list[str] = Field(default=[], exclude=True)

    @property
    def remarks(self) -> list[str]:
        """Return which texts are in a bundle although their files were deleted."""
        files = f"The texts of deleted files are in it, too: {few(self.removed)}."
        return [f"{files} To leave them out, forget them first."] if self.removed else []


class RestoredVault(Result):
    """A vault that was made from a bundle, and the new config file, if any; ``forgotten`` notes are still forgotten."""

    vault: str
    documents: int
    forgotten: int
    config: str = ""


@contextmanager
def _new_file(services: Services, target: Path, *, force: bool, is_folder: bool = False) -> Iterator[Path]:
    """Yield the draft of the new file *target*, or of a folder; refuse to replace a note or a file of the vault."""
    place, is_own = target.resolve(), False
    for folder in services.folders:
        root = Path(folder.root).resolve()
        if place.is_relative_to(root):
            note = services.vault.documents.at(folder.name, place.relative_to(root).as_posix())
            is_own |= target.is_dir() or bool(note and note.inactive is None)
    if is_own or place in {path.resolve() for path in files_of_vault(services.settings.vault)}:
        reason = f"{target} belongs to the vault itself, or is one of your notes. Choose another place."
        raise InvalidInput("INVALID_INPUT", reason)
    if not is_folder and target.suffix.lower() in (".md", ".markdown"):
        reason = f"{target} has the name of a note. Choose another ending, such as .sqlite."
        raise InvalidInput("INVALID_INPUT", reason)
    if target.is_file() and not force:
        reason = f"{target} exists and was not changed. Choose another file, or add --force."
        raise InvalidInput("FILE_EXISTS", reason)
    with (
        _written(target),
        draft_of_folder(target, replaces=force) if is_folder else draft_of(target) as draft,
    ):
        yield draft


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Raise FileNotCreated if *target* cannot be written in the block."""
    try:
        yield
    except OSError as error:
        raise FileNotCreated(str(target), (error.strerror or type(error).__name__).lower()) from error


# in their own process, because a relative path is that of the command


@operation(Effect.READS, is_tool=False, in_own_process=True)
def backup(
    services: Services,
    file: Annotated[Path, "The new file.", argument("FILE")],
    force: Force = False,
) -> Export:
    """
    Copy the vault to one file while programs use it.

    The copy is a consistent state of the vault, and it is checked before it gets its name. It is a vault itself: use it
    with --vault FILE, or put it in the place of a lost vault.
    """
    target = file.expanduser().absolute()
    with _new_file(services, target, force=force) as draft:
        documents = services.back_up(str(draft))
    _mark_backup(services.settings.vault, target)
    return Export(file=str(target), documents=documents)


def _mark_backup(vault: Path, target: Path) -> None:
    """Note next to the vault that a copy of it was made, for `status`; a read-only folder has no mark."""
    with suppress(OSError):
        write_whole(vault.with_name(f"{vault.name}{BACKUP_MARK}"), f"{target}\n".encode())


@operation(Effect.READS, is_tool=False, in_own_process=True)
def export(
    services: Services,
    output: Annotated[Path | None, "The new file, or folder for markdown.", argument("FILE")] = None,
    form: Annotated[
        Literal["bundle", "markdown", "jsonl"], "bundle, markdown or jsonl.", Option(("--format",))
    ] = "bundle",
    since: Annotated[str, "Only documents written since this day."] = "",
    collection: CollectionNames = "",
    force: Force = False,
) -> Export:
    """
    Write notes and memories to a file that leaves clawmem.

    A bundle (the default) is everything in one ZIP file, from which `clawmem import bundle` makes the same vault. markdown is
    a folder of notes. jsonl has each document with its facts and relations on one line, which `clawmem import jsonl`
    reads. Equal content gives equal bytes.
    """
    first = parse_iso(since, services.clock.zone()) if since else 0
    if first is None:
        raise InvalidInput("INVALID_INPUT", f"{since!r} is no date. Write it like 2026-03-31.")
    names = frozenset(named_collections(services, collection))
    if form == "bundle" and (names or since):
        reason = "A bundle is the whole vault. Export a part with --format markdown or --format jsonl."
        raise InvalidInput("INVALID_INPUT", reason)
    selection, vault = Selection(names, iso_utc(first) if since else ""), services.vault
    target = (output or Path(NAMES[form])).expanduser().absolute()
    documents, removed = 0, list[str]()
    with _new_file(services, target, force=force, is_folder=form == "markdown") as draft:
        if form == "bundle":
            config = services.settings.config_file
            text = redact(config.read_text("utf-8")) if config.is_file() else ""
            with (
                open_copy(services.settings) as copied,
                closing(copied.vault_records()) as records,
                closing(copied.new_bundle(draft)) as writer,
            ):
                documents, removed = write_bundle(writer, copied.vault.documents, records, settings=text)
        elif form == "jsonl":
            lines = [*memory_lines(vault.documents, vault.triples, vault.relations, selection)]
            draft.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
            documents = len(lines)
        else:
            for _, file in selected_files(vault.documents, selection):
                place = draft / file.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.text.encode("utf-8", "surrogatepass"))
                documents += 1
    if form == "bundle":
        _mark_backup(services.settings.vault, target)
    return Export(file=str(target), documents=documents, removed=removed)


# -- restored -------------------------------------------------------------------------------------------


def _alone(settings: Settings, vault: Path) -> Settings:
    """Return the settings of *vault* without folders, and with the indexes that a new vault has."""
    return settings.model_copy(update={"vault": vault, "backend": None, "collections": {}})


def _refuse_content(services: Services) -> None:
    """Raise `VaultError` if the vault has documents, served or not, cannot be written, or a server has it open."""
    vault = services.settings.vault
    if services.settings.read_only:
        raise VaultReadOnly(str(vault))
    if is_running(vault):
        raise VaultError(str(vault), f"A server has {vault} open. Run: clawmem serve --stop, then repeat")
    if is_there(vault):
        with open_services(_alone(services.settings, vault), read_only=True) as opened:
            documents = opened.vault.documents
            if documents.latest(limit=1) or documents.latest(limit=1, active=False):
                reason = (
                    f"{vault} has documents, and a bundle never replaces notes. Nothing was changed. Restore to another "
                    "file: clawmem --vault FILE import bundle BUNDLE"
                )
                raise VaultError(str(vault), reason, code="VAULT_NOT_EMPTY")


@operation(
    Effect.ADDS,
    commands=(Command("import", "TOOL=bundle"),),
    is_tool=False,
    opens=Opening.NOTHING,
)
def restore(
    services: Services,
    bundle: Annotated[Path, "A bundle.", argument("BUNDLE")],
) -> RestoredVault:
    """
    Make a vault from a bundle, with the same ids and the same answers.

    A vault that has notes is never replaced.
    """
    settings = services.settings
    vault, config = settings.vault, settings.config_file
    _refuse_content(services)
    with closing(services.bundle(bundle.expanduser().absolute())) as reader, _written(vault):
        make_folder(vault.parent)
        with draft_of(vault) as draft:
            text = services.restore_bundle(reader, draft)
            with open_services(_alone(settings, draft), create=False) as opened:
                for role in Role:
                    opened.indexes.rebuild(role)
                if defects := opened.vault.storage.check():
                    raise BundleDamaged(reader.location, "; ".join(defects))
            _refuse_content(services)  # another process may have added notes
            services.discard_vault()
    is_configured = config.exists() or not text.strip()
    if not is_configured:
        make_folder(config.parent)
        write_whole(config, text.encode())
        settings = load_settings(vault=vault)
    with open_services(_alone(settings, vault), create=False) as opened:
        opened.forgotten_places.agree()
        opened.indexes.keep_up()
        opened.indexes.move(settings.backend or opened.indexes.backend)
        documents = opened.vault.documents
        inactive = documents.latest(active=False)
        return RestoredVault(
            vault=str(vault),
            documents=sum(documents.collections().values()),
            forgotten=sum(document.inactive is InactiveReason.FORGOTTEN for document in inactive),
            config="" if is_configured else str(config),
        )
