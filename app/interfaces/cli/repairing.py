"""The repair of a damaged vault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.addresses import may_ask
from clawmem.app.interfaces.cli.session import opened, settings_of, wants_json

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.maintenance.repairing import Repair
    from clawmem.app.settings.model import Settings
    from clawmem.ports.salvage import SalvageReport

cli = typer.Typer(rich_markup_mode=None)


@cli.callback()
def _family() -> None:
    """Make the command line a group even with one command."""


_NAMED = 20  # most notes that are listed by name


@cli.command()
def repair(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Repair without asking.")] = False,
) -> None:
    """
    Rebuild a damaged vault from every row that can be read.

    The damaged file is stored next to the new vault. Forgotten notes stay forgotten. Every index is rebuilt, and the
    files of the collections are read again. The command first lists what would be lost, and asks.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json

    settings = settings_of(ctx)
    run = _repair_of(settings)
    if not yes:
        _confirm(ctx, run.preview())
    salvaged, kept = run()
    with opened(ctx) as services:
        salvaged = _completed(services, salvaged)
    if wants_json(ctx):
        show_json({**salvaged._asdict(), "damaged": kept})
    else:
        show("\n".join([*_report(salvaged, "lost"), f"Repaired: {settings.vault}", f"Damaged file: {kept}"]))


def _confirm(ctx: typer.Context, found: SalvageReport) -> None:
    """
    Show what would be lost, and ask for confirmation.

    Raises:
        ConfirmationMissing: The user cannot be asked.
        typer.Abort: The answer is no.
    """
    from clawmem.app.interfaces.cli.rendering import show
    from clawmem.ports.address_errors import ConfirmationMissing

    lines = [*_report(found, "would be lost")]
    if not may_ask(ctx):
        sentences = " ".join(f"{line.rstrip('.')}." for line in lines)
        lost = {"lost": found.lost, "notes": found.notes, "spoilt": found.spoilt}
        raise ConfirmationMissing(f"Nothing was repaired. {sentences} To repair the vault, add --yes.", lost)
    show("\n".join(lines))
    typer.confirm("Repair the vault?", abort=True, err=True)


def _repair_of(settings: Settings) -> Repair:
    """
    Return the repair of the chosen vault.

    Raises:
        VaultError: There is no vault, it is opened for reading only, or a server has it open.
    """
    from clawmem.app.bootstrap.adapters import Adapters
    from clawmem.app.client.probe import is_running
    from clawmem.app.environment.places import is_there
    from clawmem.ports.errors import VaultError, VaultReadOnly

    vault = settings.vault
    if not is_there(vault):
        raise VaultError(str(vault), f"There is no vault at {vault}. Run: clawmem bootstrap PATH")
    if settings.read_only:
        raise VaultReadOnly(str(vault))
    if is_running(vault):
        raise VaultError(
            str(vault), f"A server has {vault} open. Run: clawmem serve --stop, then clawmem repair"
        )
    return Adapters(settings, read_only=False).repair()


def _completed(services: Services, salvaged: SalvageReport) -> SalvageReport:
    """Rebuild the data derived from records and files; return the report without the notes that are served again."""
    from clawmem.app.interfaces.cli.progress import interruption_explained, progress
    from clawmem.app.operations.indexing import read_folders
    from clawmem.app.services.maintenance.repairing import rebuild_all, split_again

    services.forgotten_places.agree(lost_records=bool(salvaged.lost or salvaged.notes or salvaged.spoilt))
    split_again(services.vault)
    with interruption_explained():
        read_folders(services.called_by("cli", progress), services.folders, force=True)
    for sentence in services.forgotten_places.warnings():
        typer.echo(sentence, err=True)
    rebuild_all(services.vault)
    served = {"/".join(place) for place in services.vault.documents.places()}
    return salvaged._replace(
        notes=tuple(one for one in salvaged.notes if one not in served),
        spoilt=tuple(one for one in salvaged.spoilt if one not in served),
    )


def _report(salvaged: SalvageReport, lost: str) -> Iterator[str]:
    kept = ", ".join(f"{name} {count}" for name, count in sorted(salvaged.kept.items()))
    yield f"Kept rows: {kept or 'none'}"
    if not kept:
        yield f"{lost.capitalize()}: pins, the diary, captured memories, and the history of questions and changes"
        yield "Notes are read from your files again."
        return
    for name, count in sorted(salvaged.lost.items()):
        yield f"{name}: {'an unknown number of' if count is None else count} rows {lost}"
    yield from _named(f"Text {lost}", salvaged.notes)
    yield from _named("Text damaged, kept in the archive", salvaged.spoilt)
    if not (salvaged.lost or salvaged.notes or salvaged.spoilt):
        yield "Every record can be read."


def _named(what: str, notes: tuple[str, ...]) -> Iterator[str]:
    if notes:
        more = f" and {len(notes) - _NAMED} more" if len(notes) > _NAMED else ""
        yield f"{what}: {', '.join(notes[:_NAMED])}{more}"
