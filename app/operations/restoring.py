"""Vaults that are made from bundles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.bootstrap.opening import open_services, unopened_services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import draft_of, make_folder, write_whole
from clawmem.app.operations.operation import Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.portability.bundle import asked
from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import (
    BundleDamaged,
    ClawmemError,
    FileNotCreated,
    VaultError,
    VaultReadOnly,
)
from clawmem.ports.records import InactiveReason, Role
from clawmem.ports.storage import BundleReader

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.portability.bundle import RestoredBundle
    from clawmem.app.settings.model import Settings

NAMED = 3  # forgotten notes that a warning names
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

    forgotten_since: list[str] = Field(
        default=[], description="Notes of the bundle that another vault of this machine has forgotten."
    )
    warnings: list[str] = Field(default=[], description="Why the indexes are not those of the settings.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return the warnings, with one about notes that were forgotten elsewhere."""
        if not self.forgotten_since:
            return self.warnings
        said = forgotten_sentence(self.forgotten_since, "the bundle")
        remedy = "To forget a note in the restored vault as well, run: clawmem --vault FILE forget NOTE"
        return [*self.warnings, f"{said} {remedy}"]

    @property
    def exit_code(self) -> int:
        """Return 1 for a drill that found differences."""
        return DIFFERENCES if self.differences else 0


def _restore(services: Services, reader: BundleReader, bundle: Path) -> RestoreReport:
    vault = services.settings.vault
    try:
        make_folder(vault.parent)
        with draft_of(vault) as draft:
            found = _make(services, reader, draft)
            _refuse_content(services, bundle)  # another process may have added notes
            services.discard_vault()
    except OSError as error:
        raise FileNotCreated(str(vault), (error.strerror or type(error).__name__).lower()) from error
    with open_services(_alone(services.settings, vault), create=False) as opened:
        opened.forgotten_places.agree()
        opened.indexes.keep_up()
        report = _counted(opened, services.settings)
    config = _write_config(services.settings, found)
    settings = load_settings(vault=vault) if config else services.settings
    return report.model_copy(update={"config": config, "warnings": _moved(settings)})


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
                f"The indexes are those of a new vault: {reason}. Then run: clawmem migrate --to {settings.backend}"
            ]
    return []


def _drill(services: Services, reader: BundleReader, target: Path) -> RestoreReport:
    found = _make(services, reader, target)
    with open_services(_alone(services.settings, target), create=False) as opened:
        then = {question.question: question for question in found.questions}
        now = asked(opened.query_without_models, [*then], found.asked_at)
        changed = [
            f"The answer to {question.question!r} differs."
            for question in now
            if question != then[question.question]
        ]
        return _counted(opened, services.settings).model_copy(
            update={
                "vault": "",
                "drill": True,
                "questions": len(now),
                "differences": [*opened.verify(), *changed],
            }
        )


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


def _counted(services: Services, settings: Settings) -> RestoreReport:
    withdrawn = services.vault.documents.latest(active=False)
    return RestoreReport(
        forgotten_since=forgotten_elsewhere(services, settings),
        vault=str(services.settings.vault),
        documents=sum(services.vault.documents.collections().values()),
        forgotten=sum(document.inactive is InactiveReason.FORGOTTEN for document in withdrawn),
    )


def forgotten_elsewhere(services: Services, settings: Settings) -> list[str]:
    """Return the served documents that another vault of this machine has forgotten."""
    others = {load_settings().vault, settings.vault, *settings.vaults.values()} - {services.settings.vault}
    return sorted({text for other in others for text in _forgotten_in(_alone(settings, other), services)})


def forgotten_sentence(files: Sequence[str], whole: str) -> str:
    """Return the sentence that another vault has forgotten *files* of *whole*."""
    more = len(files) - NAMED
    named = ", ".join(files[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"Another vault of this machine has forgotten {plural(len(files), 'note')} of {whole}: {named}."


def _forgotten_in(other: Settings, services: Services) -> Iterator[str]:
    """Yield the served documents whose place, later than their last change, or text the vault of *other* has forgotten."""
    places = {
        (place.collection, place.path): place.at
        for place in unopened_services(other).forget_log.read().places
    }
    left = []
    for document in every_served(services.vault.documents):
        if places.get((document.collection, document.path), "") > document.indexed_at:
            yield document.display_path
        else:
            left.append(document)
    if is_there(other.vault):
        with (
            suppress(ClawmemError),
            open_services(other, read_only=True) as opened,
        ):  # doctor examines a damaged vault
            yield from (
                document.display_path
                for document in left
                if opened.vault.forgotten_texts.holds(services.vault.documents.body(document.id) or "")
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
                    f"to another file: clawmem --vault NEW_FILE restore {bundle}"
                )
                raise VaultError(str(vault), reason, code="VAULT_NOT_EMPTY")


def _write_config(settings: Settings, found: RestoredBundle) -> str | None:
    """Write the config file of the bundle, if there is none; return its path."""
    if settings.config_file.exists() or not found.settings.strip():
        return None
    make_folder(settings.config_file.parent)
    write_whole(settings.config_file, found.settings.encode())
    return str(settings.config_file)


def _text(result: RestoreReport) -> Iterator[str]:
    counted = f"{plural(result.documents, 'document')}, {result.forgotten} forgotten"
    if not result.drill:
        yield f"Restored: {result.vault} ({counted})"
        if result.config:
            yield f"Config: {result.config}"
        return
    yield f"Drill: {counted}; {plural(result.questions, 'question')} asked again."
    yield from result.differences or ["No differences: the bundle makes the same vault."]


@operation(Effect.ADDS, text=_text, is_tool=False, opens=Opening.NOTHING, in_own_process=True)
def restore(
    services: Services,
    bundle: Annotated[Path, Field(description="A bundle."), Option(metavar="BUNDLE", is_argument=True)],
    drill: Annotated[
        bool, Field(description="Restore into a temporary place and prove it."), Option(("--drill",))
    ] = False,
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
