"""Copies of the vault that leave this machine, and come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.opening import open_copy
from clawmem.app.environment.private_files import draft_of, draft_of_folder, files_of_vault, write_whole
from clawmem.app.operations.fields import CollectionNames, named_collections
from clawmem.app.operations.operation import Effect, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.portability.bundle import (
    asked,
    newest_moment,
    recorded_questions,
    write_bundle,
)
from clawmem.app.services.portability.notes import Selection, memory_lines, selected_files
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.redaction import redact
from clawmem.ports.errors import FileNotCreated, InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

_NAMES = {
    "bundle": "clawmem-bundle.zip",
    "markdown": "clawmem-notes",
    "jsonl": "memories.jsonl",
}
Force = Annotated[bool, Field(description="Replace an existing file."), Option(("--force",))]


class Backup(Result):
    """A backup that was checked after writing."""

    file: str
    documents: int
    bytes: int


class Export(Result):
    """An export, and the number of its documents."""

    form: str
    file: str
    documents: int
    renamed: dict[str, str] = Field(
        default={},
        description="Files of a folder whose name is not that of their note, by the place of the note.",
    )


def _moment(since: str) -> str:
    moment = parse_iso(since) if since else 0
    if moment is None:
        raise InvalidInput("INVALID_INPUT", f"{since!r} is no date. Write it like 2026-03-31.")
    return iso_utc(moment) if since else ""


def _export_folder(services: Services, chosen: Selection, target: Path, *, force: bool) -> dict[str, str]:
    """
    Write Markdown files to the folder *target*, and return their names by the places of their notes.

    The folder is as before if a file cannot be written.
    """
    names: dict[str, str] = {}
    try:
        with draft_of_folder(target, replaces=force) as draft:
            for document, file in selected_files(services.vault.documents, chosen):
                place = draft / file.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.text.encode("utf-8", "surrogatepass"))
                names[document.display_path] = file.name
    except OSError as error:
        raise FileNotCreated(str(target), (error.strerror or type(error).__name__).lower()) from error
    return names


def _export_bundle(services: Services, chosen: Selection, target: Path, *, receipts: bool) -> int:
    config = services.settings.config_file
    settings = redact(config.read_text("utf-8")) if config.is_file() else ""
    with open_copy(services.settings) as copied, _new_file(target) as draft:
        at = newest_moment(copied.vault.documents)
        texts: list[str] = []
        if chosen.is_everything:
            texts = recorded_questions(copied.vault.documents, copied.vault.receipts if receipts else None)
        with closing(copied.vault_records()) as records, closing(copied.new_bundle(draft)) as writer:
            return write_bundle(
                writer,
                copied.vault.documents,
                records,
                chosen,
                settings=settings,
                questions=asked(copied.query, texts, at),
                asked_at=at,
                receipts=receipts,
            )


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """Yield a draft that becomes *target*; raise FileNotCreated if that fails."""
    try:
        with draft_of(target) as draft:
            yield draft
    except OSError as error:
        raise FileNotCreated(str(target), (error.strerror or type(error).__name__).lower()) from error


def free_target(services: Services, file: Path, *, force: bool, is_folder: bool = False) -> Path:
    """
    Return the absolute path of the new *file*, or of a folder for new files; the folder above is not created.

    Raises:
        InvalidInput: The file exists and is not to be replaced, or is a file of the vault, or the folder is indexed.
        FileNotCreated: There is no such folder.
    """
    target = file.expanduser().absolute()
    if target.resolve() in {path.resolve() for path in files_of_vault(services.settings.vault)}:
        raise InvalidInput("INVALID_INPUT", f"{target} belongs to the vault itself. Choose another file.")
    if _is_note(services, target):
        raise InvalidInput("INVALID_INPUT", f"{target} is one of your notes. Choose another file.")
    if target.is_dir():
        _refuse_folder(services, target, is_folder=is_folder)
    elif target.exists() and not force:
        raise InvalidInput(
            "FILE_EXISTS", f"{target} exists and was not changed. Choose another file, or add --force."
        )
    if not target.parent.is_dir():
        raise FileNotCreated(str(target), f"there is no folder {target.parent}")
    return target


def _refuse_folder(services: Services, target: Path, *, is_folder: bool) -> None:
    if not is_folder:
        raise InvalidInput("INVALID_INPUT", f"{target} is a folder. Choose the name of a file.")
    for folder in services.folders:
        if target.resolve().is_relative_to(Path(folder.root).resolve()):
            raise InvalidInput(
                "INVALID_INPUT",
                f"{target} belongs to the collection {folder.name}, which would index the new files as more notes. "
                "Choose another folder.",
            )


def _is_note(services: Services, file: Path) -> bool:
    """Whether *file* is indexed as a document."""
    place = file.resolve()
    for folder in services.folders:
        root = Path(folder.root).resolve()
        if place.is_relative_to(root):
            known = services.vault.documents.at(folder.name, place.relative_to(root).as_posix())
            if known and known.inactive is None:
                return True
    return False


def _backup_text(result: Backup) -> str:
    return f"{result.file}: {plural(result.documents, 'document')}, {result.bytes:,} bytes, checked."


def _export_text(result: Export) -> Iterator[str]:
    yield f"{result.file}: {plural(result.documents, 'document')}."
    yield from (f"  {place} was renamed: {name}" for place, name in result.renamed.items())


# in their own process, because a relative path is that of the command


@operation(Effect.READS, text=_backup_text, is_tool=False, in_own_process=True)
def backup(
    services: Services,
    file: Annotated[Path, Field(description="The new file."), Option(metavar="FILE", is_argument=True)],
    force: Force = False,
) -> Backup:
    """
    Copy the vault to one file while programs use it.

    The copy is a consistent state of the vault, and it is checked before it gets its name. It is a vault itself: use it
    with --vault FILE, or put it in the place of a lost vault.
    """
    target = free_target(services, file, force=force)
    with _new_file(target) as draft:
        documents = services.back_up(str(draft))
    return Backup(file=str(target), documents=documents, bytes=target.stat().st_size)


@operation(Effect.READS, text=_export_text, is_tool=False, in_own_process=True)
def export(
    services: Services,
    output: Annotated[
        Path | None, Field(description="The new file, or folder for markdown."), Option(("-o", "--output"))
    ] = None,
    form: Annotated[
        Literal["bundle", "markdown", "jsonl"],
        Field(description="bundle, markdown or jsonl."),
        Option(("--format",)),
    ] = "bundle",
    since: Annotated[str, Field(description="Only documents written since this day.")] = "",
    collection: CollectionNames = "",
    receipts: Annotated[
        bool, Field(description="Add the explanations of past answers to a bundle."), Option(("--receipts",))
    ] = False,
    force: Force = False,
) -> Export:
    """
    Write notes and memories to a file that leaves clawmem.

    A bundle (the default) is everything in one ZIP file, from which `clawmem restore` makes the same vault. markdown is
    a folder of notes. jsonl has each document with its facts and relations on one line, which `clawmem import jsonl`
    reads. Equal content gives equal bytes.
    """
    if receipts and form != "bundle":
        raise InvalidInput("INVALID_INPUT", "Only a bundle has receipts. Leave --receipts out.")
    chosen = Selection(frozenset(named_collections(services, collection)), _moment(since))
    is_folder = form == "markdown"
    target = free_target(services, output or Path(_NAMES[form]), force=force, is_folder=is_folder)
    renamed: dict[str, str] = {}
    if is_folder:
        files = _export_folder(services, chosen, target, force=force)
        documents = len(files)
        renamed = {place: name for place, name in files.items() if place != name}
    elif form == "bundle":
        documents = _export_bundle(services, chosen, target, receipts=receipts)
    else:
        vault = services.vault
        lines = list(memory_lines(vault.documents, vault.triples, vault.relations, chosen))
        documents = len(lines)
        with _new_file(target) as draft:
            write_whole(draft, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return Export(form=form, file=str(target), documents=documents, renamed=renamed)
