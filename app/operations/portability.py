"""Copies of the vault that leave this machine, and vaults that are made from them."""

from __future__ import annotations

from collections.abc import Iterator
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

NAMES = {"bundle": "clawmem-bundle.zip", "markdown": "clawmem-notes", "jsonl": "memories.jsonl"}
Force = Annotated[bool, Field(description="Replace an existing file.")]


class Export(Result):
    """A new file or folder, and the number of its documents."""

    file: str
    documents: int
    renamed: dict[str, str] = Field(
        default={}, description="Files of a folder whose name is not that of their note, by its place."
    )


class Restored(Result):
    """A vault that was made from a bundle; ``forgotten`` notes are still forgotten."""

    vault: str = Field(default="", description="The new vault; empty after a drill.")
    documents: int
    forgotten: int
    config: str | None = Field(default=None, description="The new config file, null if there was one.")
    drill: bool = False
    questions: int = Field(default=0, description="Questions that a drill asked again.")
    differences: list[str] = Field(default=[], description="Differences from the bundle, found by a drill.")
    remarks: list[str] = Field(default=[], description="Why the indexes are not those of the settings.")

    @property
    def exit_code(self) -> int:
        """Return 1 for a drill that found differences."""
        return int(bool(self.differences))


@contextmanager
def _new_file(services: Services, file: Path, *, force: bool, is_folder: bool = False) -> Iterator[Path]:
    """
    Yield the draft of the new *file*, or of a folder of new files.

    Raises:
        InvalidInput: The file exists and is not to be replaced, or is a note or a file of the vault, or the folder is
            indexed.
        FileNotCreated: It cannot be written.
    """
    target, reason = file.expanduser().absolute(), ""
    place = target.resolve()
    if place in {path.resolve() for path in files_of_vault(services.settings.vault)}:
        reason = "belongs to the vault itself"
    for folder in services.folders:
        root = Path(folder.root).resolve()
        if place.is_relative_to(root):
            note = services.vault.documents.at(folder.name, place.relative_to(root).as_posix())
            if note and note.inactive is None:
                reason = "is one of your notes"
            elif target.is_dir():
                reason = (
                    f"belongs to the collection {folder.name}, which would index the new files as more notes"
                )
    if reason:
        raise InvalidInput("INVALID_INPUT", f"{target} {reason}. Choose another place.")
    if target.is_file() and not force:
        raise InvalidInput(
            "FILE_EXISTS", f"{target} exists and was not changed. Choose another file, or add --force."
        )
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
    file: Annotated[Path, Field(description="The new file."), Option(metavar="FILE", is_argument=True)],
    force: Force = False,
) -> Export:
    """
    Copy the vault to one file while programs use it.

    The copy is a consistent state of the vault, and it is checked before it gets its name. It is a vault itself: use it
    with --vault FILE, or put it in the place of a lost vault.
    """
    with _new_file(services, file, force=force) as draft:
        documents = services.back_up(str(draft))
    return Export(file=str(file.expanduser().absolute()), documents=documents)


@operation(Effect.READS, is_tool=False, in_own_process=True)
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
    selection, vault = Selection(names, iso_utc(first) if since else ""), services.vault
    target = output or Path(NAMES[form])
    result = Export(file=str(target.expanduser().absolute()), documents=0)
    with _new_file(services, target, force=force, is_folder=form == "markdown") as draft:
        if form == "bundle":
            result.documents = _write_bundle(services.settings, selection, draft, receipts=receipts)
        elif form == "jsonl":
            lines = [*memory_lines(vault.documents, vault.triples, vault.relations, selection)]
            draft.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
            result.documents = len(lines)
        else:
            for document, file in selected_files(vault.documents, selection):
                place = draft / file.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.text.encode("utf-8", "surrogatepass"))
                result.documents += 1
                if file.name != document.display_path:
                    result.renamed[document.display_path] = file.name
    return result


def _write_bundle(settings: Settings, selection: Selection, draft: Path, *, receipts: bool) -> int:
    """Write the bundle of a copy of the vault to *draft*, and return its number of documents."""
    config = settings.config_file
    with open_copy(settings) as copied:
        documents, questions = copied.vault.documents, list[str]()
        at = newest_moment(documents)
        if selection.is_everything:
            questions = recorded_questions(documents, copied.vault.receipts if receipts else None)
        with closing(copied.vault_records()) as records, closing(copied.new_bundle(draft)) as writer:
            return write_bundle(
                writer,
                documents,
                records,
                selection,
                settings=redact(config.read_text("utf-8")) if config.is_file() else "",
                questions=asked(copied.query, questions, at),
                asked_at=at,
                receipts=receipts,
            )


# -- restored -------------------------------------------------------------------------------------------


def _alone(settings: Settings, vault: Path) -> Settings:
    """Return the settings of *vault* without folders, and with the indexes that a new vault has."""
    return settings.model_copy(update={"vault": vault, "backend": None, "collections": {}})


def _make(services: Services, reader: BundleReader, target: Path) -> RestoredBundle:
    """Make the new vault *target* with its indexes, and check it."""
    bundle: RestoredBundle = services.restore_bundle(reader, target)
    with open_services(_alone(services.settings, target), create=False) as made:
        for role in Role:
            made.indexes.rebuild(role)
        if defects := made.vault.storage.check():
            raise BundleDamaged(reader.location, "; ".join(defects))
    return bundle


def _counted(services: Services) -> Restored:
    inactive = services.vault.documents.latest(active=False)
    return Restored(
        documents=sum(services.vault.documents.collections().values()),
        forgotten=sum(document.inactive is InactiveReason.FORGOTTEN for document in inactive),
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


@operation(
    Effect.ADDS,
    commands=(Command("import", "TOOL=bundle"),),
    is_tool=False,
    opens=Opening.NOTHING,
    in_own_process=True,
)
def restore(
    services: Services,
    bundle: Annotated[Path, Field(description="A bundle."), Option(metavar="BUNDLE", is_argument=True)],
    drill: Annotated[bool, Field(description="Restore into a temporary place and prove it.")] = False,
) -> Restored:
    """
    Make a vault from a bundle, with the same ids and the same answers.

    A vault that has notes is never replaced. With --drill the vault is made in a temporary place, verified, asked the
    questions of the bundle, and deleted.
    """
    with closing(services.bundle(bundle.expanduser().absolute())) as reader:
        if drill:
            with TemporaryDirectory(prefix="clawmem-") as folder:
                return _drill(services, reader, Path(folder) / "drill.sqlite")
        settings = services.settings
        vault, config = settings.vault, settings.config_file
        _refuse_content(services, bundle)
        with _written(vault):
            make_folder(vault.parent)
            with draft_of(vault) as draft:
                restored = _make(services, reader, draft)
                _refuse_content(services, bundle)  # another process may have added notes
                services.discard_vault()
        is_configured = config.exists() or not restored.settings.strip()
        if not is_configured:
            make_folder(config.parent)
            write_whole(config, restored.settings.encode())
            settings = load_settings(vault=vault)
    with open_services(_alone(settings, vault), create=False) as opened:
        opened.forgotten_places.agree()
        opened.indexes.keep_up()
        report = _counted(opened)
        report.vault, report.config = str(vault), None if is_configured else str(config)
        try:
            opened.indexes.move(settings.backend or opened.indexes.backend)
        except ClawmemError as error:
            report.remarks.append(
                f"The indexes are those of a new vault: {str(error).rstrip('.')}. Then run: clawmem rebuild --backend "
                f"{settings.backend}"
            )
    return report


def _drill(services: Services, reader: BundleReader, target: Path) -> Restored:
    """Make the vault *target*, and compare it with itself and its answers with those of the bundle."""
    restored = _make(services, reader, target)
    with open_services(_alone(services.settings, target), create=False) as opened:
        report, before = _counted(opened), {question.question: question for question in restored.questions}
        report.drill, report.questions = True, len(before)
        report.differences = opened.verify() + [
            f"The answer to {question.question!r} differs."
            for question in asked(opened.query_without_models, [*before], restored.asked_at)
            if question != before[question.question]
        ]
    return report
