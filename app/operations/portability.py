"""Copies of the vault that leave this machine, and vaults that are made from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
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
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.portability.bundle import (
    RestoredBundle,
    asked,
    newest_moment,
    recorded_questions,
    write_bundle,
)
from clawmem.app.services.portability.notes import Selection, memory_lines, selected_files
from clawmem.app.settings.model import Settings, load_settings
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.redaction import redact
from clawmem.ports.errors import (
    BundleDamaged,
    ClawmemError,
    FileNotCreated,
    InvalidInput,
    VaultError,
    VaultReadOnly,
)
from clawmem.ports.records import InactiveReason, Role
from clawmem.ports.storage import BundleReader

_NAMES = {
    "bundle": "clawmem-bundle.zip",
    "markdown": "clawmem-notes",
    "jsonl": "memories.jsonl",
}
Force = Annotated[bool, Field(description="Replace an existing file.")]


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


def _export_folder(services: Services, chosen: Selection, target: Path, *, force: bool) -> dict[str, str]:
    """
    Write Markdown files to the folder *target*, and return their names by the places of their notes.

    The folder is as before if a file cannot be written.
    """
    names: dict[str, str] = {}
    with _written(target), draft_of_folder(target, replaces=force) as draft:
        for document, file in selected_files(services.vault.documents, chosen):
            place = draft / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.text.encode("utf-8", "surrogatepass"))
            names[document.display_path] = file.name
    return names


def _export_bundle(services: Services, chosen: Selection, target: Path, *, receipts: bool) -> int:
    config = services.settings.config_file
    settings = redact(config.read_text("utf-8")) if config.is_file() else ""
    with open_copy(services.settings) as copied, _written(target), draft_of(target) as draft:
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
def _written(target: Path) -> Iterator[None]:
    """Raise FileNotCreated if *target* cannot be written in the block."""
    try:
        yield
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
    place, reason = target.resolve(), ""
    inside = [folder for folder in services.folders if place.is_relative_to(Path(folder.root).resolve())]
    notes = (
        services.vault.documents.at(folder.name, place.relative_to(Path(folder.root).resolve()).as_posix())
        for folder in inside
    )
    if place in {path.resolve() for path in files_of_vault(services.settings.vault)}:
        reason = "belongs to the vault itself. Choose another file."
    elif any(note and note.inactive is None for note in notes):
        reason = "is one of your notes. Choose another file."
    elif target.is_dir() and not is_folder:
        reason = "is a folder. Choose the name of a file."
    elif target.is_dir() and inside:
        reason = (
            f"belongs to the collection {inside[0].name}, which would index the new files as more notes. "
            "Choose another folder."
        )
    if reason:
        raise InvalidInput("INVALID_INPUT", f"{target} {reason}")
    if target.exists() and not target.is_dir() and not force:
        raise InvalidInput(
            "FILE_EXISTS", f"{target} exists and was not changed. Choose another file, or add --force."
        )
    if not target.parent.is_dir():
        raise FileNotCreated(str(target), f"there is no folder {target.parent}")
    return target


def _export_text(result: Export) -> Iterator[str]:
    yield f"{result.file}: {plural(result.documents, 'document')}."
    yield from (f"  {place} was renamed: {name}" for place, name in result.renamed.items())


# in their own process, because a relative path is that of the command


@operation(
    Effect.READS,
    text=lambda result: (
        f"{result.file}: {plural(result.documents, 'document')}, {result.bytes:,} bytes, checked."
    ),
    is_tool=False,
    in_own_process=True,
)
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
    with _written(target), draft_of(target) as draft:
        documents = services.back_up(str(draft))
    return Backup(file=str(target), documents=documents, bytes=target.stat().st_size)


@operation(Effect.READS, text=_export_text, is_tool=False, in_own_process=True)
def export(
    services: Services,
    output: Annotated[
        Path | None,
        Field(description="The new file, or folder for markdown."),
        Option(metavar="FILE", is_argument=True),
    ] = None,
    form: Annotated[
        Literal["bundle", "markdown", "jsonl"],
        Field(description="bundle, markdown or jsonl."),
        Option(("--format",)),
    ] = "bundle",
    since: Annotated[str, Field(description="Only documents written since this day.")] = "",
    collection: CollectionNames = "",
    receipts: Annotated[bool, Field(description="Add the explanations of past answers to a bundle.")] = False,
    force: Force = False,
) -> Export:
    """
    Write notes and memories to a file that leaves clawmem.

    A bundle (the default) is everything in one ZIP file, from which `clawmem import bundle` makes the same vault. markdown is
    a folder of notes. jsonl has each document with its facts and relations on one line, which `clawmem import jsonl`
    reads. Equal content gives equal bytes.
    """
    if receipts and form != "bundle":
        raise InvalidInput("INVALID_INPUT", "Only a bundle has receipts. Leave --receipts out.")
    first = parse_iso(since) if since else 0
    if first is None:
        raise InvalidInput("INVALID_INPUT", f"{since!r} is no date. Write it like 2026-03-31.")
    names = frozenset(named_collections(services, collection))
    chosen = Selection(names, iso_utc(first) if since else "")
    target = free_target(services, output or Path(_NAMES[form]), force=force, is_folder=form == "markdown")
    renamed: dict[str, str] = {}
    if form == "markdown":
        files = _export_folder(services, chosen, target, force=force)
        documents, renamed = len(files), {place: name for place, name in files.items() if place != name}
    elif form == "bundle":
        documents = _export_bundle(services, chosen, target, receipts=receipts)
    else:
        vault = services.vault
        lines = list(memory_lines(vault.documents, vault.triples, vault.relations, chosen))
        documents = len(lines)
        with _written(target), draft_of(target) as draft:
            write_whole(draft, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return Export(form=form, file=str(target), documents=documents, renamed=renamed)


# -- restored -------------------------------------------------------------------------------------------

DIFFERENCES = 1  # exit code of a drill that failed


class RestoreReport(Result):
    """
    A vault that was made from a bundle; ``forgotten`` notes are still forgotten.

    ``config`` is the new config file, null if there was one. ``differences`` were found by a drill.
    """

    vault: str
    documents: int
    forgotten: int
    config: str | None = None
    drill: bool = False
    questions: int = Field(default=0, description="Questions that a drill asked again.")
    differences: list[str] = Field(default=[], description="Differences from the bundle, found by a drill.")
    warnings: list[str] = Field(default=[], description="Why the indexes are not those of the settings.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return the warnings."""
        return self.warnings

    @property
    def exit_code(self) -> int:
        """Return 1 for a drill that found differences."""
        return DIFFERENCES if self.differences else 0


def _restore(services: Services, reader: BundleReader, bundle: Path) -> RestoreReport:
    vault = services.settings.vault
    with _written(vault):
        make_folder(vault.parent)
        with draft_of(vault) as draft:
            made = _make(services, reader, draft)
            _refuse_content(services, bundle)  # another process may have added notes
            services.discard_vault()
    with open_services(_alone(services.settings, vault), create=False) as opened:
        opened.forgotten_places.agree()
        opened.indexes.keep_up()
        report = _counted(opened)
    settings, config = services.settings, services.settings.config_file
    if made.settings.strip() and not config.exists():
        make_folder(config.parent)
        write_whole(config, made.settings.encode())
        report.config, settings = str(config), load_settings(vault=vault)
    report.warnings = _moved(settings)
    return report


def _moved(settings: Settings) -> list[str]:
    """Move the indexes to the backend of *settings*; return why that failed."""
    if settings.backend is None:
        return []
    with open_services(_alone(settings, settings.vault), create=False) as opened:
        try:
            opened.indexes.move(settings.backend)
        except ClawmemError as error:
            reason = str(error).rstrip(".")
            return [
                f"The indexes are those of a new vault: {reason}. Then run: clawmem rebuild --backend {settings.backend}"
            ]
    return []


def _drill(services: Services, reader: BundleReader, target: Path) -> RestoreReport:
    found = _make(services, reader, target)
    with open_services(_alone(services.settings, target), create=False) as opened:
        then = {question.question: question for question in found.questions}
        report = _counted(opened)
        report.vault, report.drill, report.questions = "", True, len(then)
        report.differences = [
            *opened.verify(),
            *(
                f"The answer to {question.question!r} differs."
                for question in asked(opened.query_without_models, [*then], found.asked_at)
                if question != then[question.question]
            ),
        ]
        return report


def _make(services: Services, reader: BundleReader, target: Path) -> RestoredBundle:
    """Make the new vault *target* with its indexes, and check it."""
    found: RestoredBundle = services.restore_bundle(reader, target)
    with open_services(_alone(services.settings, target), create=False) as made:
        for role in Role:
            made.indexes.rebuild(role)
        if defects := made.vault.storage.check():
            raise BundleDamaged(reader.location, "; ".join(defects))
    return found


def _alone(settings: Settings, vault: Path) -> Settings:
    """Return the settings of *vault* without folders, and with the indexes that a new vault has."""
    return settings.model_copy(update={"vault": vault, "backend": None, "collections": {}})


def _counted(services: Services) -> RestoreReport:
    withdrawn = services.vault.documents.latest(active=False)
    return RestoreReport(
        vault=str(services.settings.vault),
        documents=sum(services.vault.documents.collections().values()),
        forgotten=sum(document.inactive is InactiveReason.FORGOTTEN for document in withdrawn),
    )


def _refuse_content(services: Services, bundle: Path) -> None:
    """
    Refuse to replace a vault with documents.

    Raises:
        VaultError: The vault has documents, served or not; it cannot be written; or a server has it open.
    """
    vault = services.settings.vault
    if services.settings.read_only:
        raise VaultReadOnly(str(vault))
    if is_running(vault):
        raise VaultError(str(vault), f"A server has {vault} open. Run: clawmem serve --stop, then repeat")
    if is_there(vault):
        with open_services(_alone(services.settings, vault), read_only=True) as opened:
            documents = opened.vault.documents
            if count := len(documents.latest()) + len(documents.latest(active=False)):
                reason = (
                    f"{vault} has {count} documents, and a bundle never replaces notes. Nothing was changed. Restore "
                    f"to another file: clawmem --vault new.sqlite import bundle {bundle}"
                )
                raise VaultError(str(vault), reason, code="VAULT_NOT_EMPTY")


def _restored_text(result: RestoreReport) -> Iterator[str]:
    counted = f"{plural(result.documents, 'document')}, {result.forgotten} forgotten"
    if not result.drill:
        yield f"Restored: {result.vault} ({counted})"
        if result.config:
            yield f"Config: {result.config}"
        return
    yield f"Drill: {counted}; {plural(result.questions, 'question')} asked again."
    yield from result.differences or ["No differences: the bundle makes the same vault."]


@operation(
    Effect.ADDS,
    text=_restored_text,
    commands=(Command("import", "TOOL=bundle"),),
    is_tool=False,
    opens=Opening.NOTHING,
    in_own_process=True,
)
def restore(
    services: Services,
    bundle: Annotated[Path, Field(description="A bundle."), Option(metavar="BUNDLE", is_argument=True)],
    drill: Annotated[bool, Field(description="Restore into a temporary place and prove it.")] = False,
) -> RestoreReport:
    """
    Make a vault from a bundle, with the same ids and the same answers.

    A vault that has notes is never replaced. With --drill the vault is made in a temporary place, verified, asked the
    questions of the bundle, and deleted.
    """
    file = bundle.expanduser().absolute()
    if drill:
        with closing(services.bundle(file)) as reader, TemporaryDirectory(prefix="clawmem-") as folder:
            return _drill(services, reader, Path(folder) / "drill.sqlite")
    with closing(services.bundle(file)) as reader:
        _refuse_content(services, bundle)
        return _restore(services, reader, bundle)
