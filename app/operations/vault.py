"""The vault: its file, and its content in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import make_folder
from clawmem.app.operations.indexing import (
    PERSON,
    AllowEmpty,
    EmbedOrNot,
    Reading,
    embed_after,
    reading_of,
    reading_text,
)
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import size, table, value_text
from clawmem.app.services.indexing.syncing import admitted
from clawmem.app.services.maintenance.status import StatusReport
from clawmem.app.services.models import WITHOUT
from clawmem.app.settings.config_file import fault_of_name, set_value, typed_folder
from clawmem.app.settings.model import of_vault
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings


class Vaults(Result):
    """The file of the vault, the config file, and the files of the named vaults; ``missing`` ones are not there."""

    vault: str
    config: str
    vaults: dict[str, str]
    missing: list[str]


def vaults_of(settings: Settings) -> Vaults:
    """Return the vaults of *settings*; open none."""
    vaults = {name: str(file) for name, file in settings.vaults.items()}
    missing = [name for name, file in settings.vaults.items() if not is_there(file)]
    return Vaults(vault=str(settings.vault), config=str(settings.config_file), vaults=vaults, missing=missing)


LANCEDB_FROM = 200_000  # vectors; above, a scan of the vault's own takes more than a tenth of a second


def _status_rows(report: StatusReport, *, full: bool = False) -> Iterator[tuple[str, object]]:
    info, counts, notes, building = report.info, report.embeddings, report.notes, report.building
    yield "vault", f"{info.location} ({info.backend}, {size(info.size_bytes)})"
    yield "documents", report.documents or "none yet; run: clawmem bootstrap PATH"
    yield from ((f"  {collection.name}", collection.documents) for collection in report.collections)
    yield from (("  not read to its end", f"{name}; run: clawmem update") for name in report.unfinished)
    yield "types", value_text("", report.content_types) or "none"
    yield "newest", (report.newest or "none")[:16]
    yield "words", f"searched by {info.lexical_method}"
    vectors = f"{counts.stored} texts have one, {counts.pending} wait, {counts.failed} failed, {counts.orphaned} unused"
    yield "vectors", f"{vectors} ({info.vector_method})"
    if counts.stored > LANCEDB_FROM and info.backend != "lancedb":
        yield "advice", "LanceDB answers faster with so many vectors; run: clawmem rebuild --backend lancedb"
    yield "model", report.model or "none yet; run: clawmem embed"
    if building:
        yield "next model", f"{building.fingerprint} is {building.share:.0%} made; run: clawmem embed"
    enriched = f"{notes.notes} documents, {notes.by_model} by a model, {notes.given_up} that it failed on"
    waiting = f", {notes.waiting} wait; run: clawmem maintain enrich" if notes.waiting else ""
    yield "enriched", f"{enriched}{waiting}"
    yield "relations", value_text("", report.relations).replace("_", " ") or "none"
    answers = f"{report.receipts} of them explained ({size(report.receipt_bytes)})"
    yield "questions", f"{report.recalls} recorded, {answers}"
    for provider in report.roles:
        yield str(provider.role), f"{provider.chosen}, because {provider.reason}"
        if failure := provider.last_failure:
            since = " It has answered since." if failure.answered_at else ""
            when = f"{failure.model}, {failure.failed_at[:16]}: {failure.reason}"
            yield "  last failure", f"{when}; {WITHOUT[failure.role]}.{since}"
    yield from (("next step", step) for step in report.next_steps)
    if full:
        yield "facts", report.facts
        yield "past review", f"{report.stale_documents} documents"
        yield "uses", f"{report.average_access_count} a document"
        yield "last sessions", ", ".join(session.id[:8] for session in report.recent_sessions) or "none"


@operation(
    Effect.READS, text=lambda report: [table(("what", "value"), _status_rows(report))], route="/status"
)
def status(services: Services) -> StatusReport:
    """Show the content of the vault and the state of its vectors."""
    return services.status()


@operation(
    Effect.READS,
    text=lambda report: [table(("what", "value"), _status_rows(report, full=True))],
    route="/index-stats",
    commands=(Command("status", "--full"),),
)
def index_stats(services: Services) -> StatusReport:
    """Show the vault in numbers, and its last sessions."""
    return services.status()


@operation(Effect.REPEATABLE, commands=(Command("vault init"),), is_tool=False, opens=Opening.CREATED)
def init(services: Services) -> Vaults:
    """Create the vault and the config folder; keep existing ones."""
    make_folder(services.settings.config_file.parent)
    return vaults_of(services.settings)


@operation(
    Effect.READS,
    text=lambda vaults: vaults.vault,
    commands=(Command("vault path"),),
    is_tool=False,
    opens=Opening.NOTHING,
)
def vault_path(services: Services) -> Vaults:
    """Print the path of the vault."""
    return vaults_of(services.settings)


@operation(Effect.READS, commands=(Command("vault list"),), opens=Opening.NOTHING)
def list_vaults(services: Services) -> Vaults:
    """List the named vaults with their files; opens none. The parameter vault of other tools takes their names."""
    return vaults_of(services.settings)


def _allowed(settings: Settings, caller: str) -> Sequence[Path] | None:
    """Return the folders that may be read; ``None`` for a person, who may read every folder of notes."""
    return None if caller == PERSON else settings.folders_for_programs


def named_vault(settings: Settings, request: Any, caller: str) -> Settings:
    """Return the settings of the vault into which a folder is read; give a new vault of the command line its name."""
    name, folder = request.vault, str(request.content_root)
    file, is_new = (settings.vault.parent / f"{name}.sqlite").absolute(), name not in settings.vaults
    if is_new and caller == PERSON:
        if fault := fault_of_name(name, "vault"):
            raise InvalidInput("INVALID_INPUT", fault)
        if is_there(file):
            remedy = f"Choose another name, or add to {settings.config_file}: vaults: {{{name}: {file}}}"
            raise InvalidInput("INVALID_INPUT", f"{file} is there already. {remedy}")
    admitted(folder, settings.home, own=settings.own_files, allowed=_allowed(settings, caller))
    if is_new and caller == PERSON:
        set_value(settings.config_file, ("vaults", name), str(file))
        settings = settings.model_copy(update={"vaults": {**settings.vaults, name: file}})
    return of_vault(settings, name)


@operation(Effect.REPEATABLE, text=reading_text, opens=Opening.CREATED, settings=named_vault)
def vault_sync(
    services: Services,
    vault: Annotated[str, "Name of the vault, see list_vaults; a missing one is created.", argument("NAME")],
    content_root: Annotated[
        Path,
        "An absolute folder of notes.",
        argument("FOLDER", parser=lambda text: typed_folder(text).expanduser().absolute()),
    ],
    pattern: Annotated[str, "Glob of the files that are read."] = "**/*.md",
    collection_name: Annotated[str | None, "Its collection; else NAME.", Option(("--collection",))] = None,
    embed: EmbedOrNot = None,
    allow_empty: AllowEmpty = False,
) -> Reading:
    """
    Read a folder into a named vault; the documents that the collection has of any other folder are removed.

    Programs may read folders below those of `collections:` and `sync_folders:` in the config file. A new vault of the
    command line is a file next to the usual vault, and its name is written to the config file.
    """
    collection = collection_name or vault
    with services.progress(f"Reading {content_root}") as step:
        report = services.sync(
            str(content_root),
            collection,
            pattern,
            allowed=_allowed(services.settings, services.caller),
            allow_empty=allow_empty,
            progress=step,
        )
    reading = reading_of(services, [report], embed_after(services, [collection], wanted=embed))
    if services.is_new:
        reading.remarks.append(f"Made the vault {vault} in {services.settings.vault}.")
    return reading
