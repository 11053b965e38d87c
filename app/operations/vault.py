"""The vault: its file, and its content in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import make_folder
from clawmem.app.operations.collections import Collection, list_collections
from clawmem.app.operations.embedding import embed_after
from clawmem.app.operations.indexing import PERSON, AllowEmpty, Embed, Reading, reading_text, sums_of
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import Table, plural, table
from clawmem.app.services.indexing.syncing import admitted
from clawmem.app.services.maintenance.status import Statistics
from clawmem.app.services.models import WITHOUT, Provider
from clawmem.app.settings.config_file import set_value, typed_folder
from clawmem.app.settings.vaults import new_vault, of_vault
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.maintenance.embedding_policy import LANCEDB_ADVICE, wants_lancedb
from clawmem.ports.indexes import EmbeddingBuild, EmbeddingCounts
from clawmem.ports.knowledge import NoteCounts
from clawmem.ports.storage import VaultInfo

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings


UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60))


class VaultStatus(Result):
    """The content of the vault and the state of its vectors, at the time ``at``."""

    at: str
    info: VaultInfo
    documents: int
    collections: list[Collection]
    embeddings: EmbeddingCounts = Field(description="Texts with vectors, waiting, failed, no longer needed.")
    model: str | None = Field(
        default=None, description="The model of the vectors; null while there are none."
    )
    building: EmbeddingBuild | None = Field(
        default=None, description="Vectors of another model that are being made."
    )
    content_types: dict[str, int]
    newest: str | None = Field(default=None, description="When the latest document was written.")
    recalls: int = Field(description="Recorded questions.")
    receipts: int
    receipt_bytes: int
    roles: list[Provider] = Field(description="The model of each role, and its last failure.")
    notes: NoteCounts = Field(description="Documents with generated notes, and those that wait for them.")
    relations: dict[str, int]


class VaultPath(Result):
    """The file of the vault, and the config file."""

    vault: str
    config: str


def _status_rows(result: VaultStatus) -> Iterator[tuple[str, object]]:
    info, counts = result.info, result.embeddings
    size = f"{info.backend}, schema {info.schema}, {info.size_bytes / 1e6:.1f} MB"
    vectors = f"{counts.stored} stored, {counts.pending} pending, {counts.failed} failed"
    yield "vault", f"{info.location} ({size})"
    yield "documents", result.documents
    for collection in result.collections:
        yield f"  {collection.name}", collection.documents
    yield "types", _counted(result.content_types)
    yield "newest", result.newest or "none"
    yield "words", info.lexical_method
    yield "vectors", f"{vectors}, {counts.orphaned} orphaned ({info.vector_method})"
    if wants_lancedb(counts.stored, info.backend):
        yield "advice", LANCEDB_ADVICE
    model, building, notes = result.model or "none yet; run: clawmem embed", result.building, result.notes
    if building:
        share = f"{building.fingerprint} is {building.share:.0%} made"
        model = f"{model}, until the next one is complete: {share}; run: clawmem embed"
    yield "model", model
    failed = f", {notes.given_up} that a model failed on" if notes.given_up else ""
    waiting = f", {notes.waiting} wait; run: clawmem maintain enrich" if notes.waiting else ""
    yield "enriched", f"{notes.notes} documents, {notes.by_model} by a model{failed}{waiting}"
    yield "relations", _counted(result.relations)
    receipts = f"{result.receipts} receipts ({result.receipt_bytes / 1e3:.1f} kB)"
    yield "questions", f"{result.recalls} recorded, {receipts}"
    for provider in result.roles:
        yield str(provider.role), f"{provider.chosen}, because {provider.reason}"
        yield from (("  passed over", reason) for reason in provider.passed_over)
        if failure := provider.last_failure:
            since = " It has answered since." if failure.answered_at else ""
            when = f"{failure.model}, {_ago(failure.failed_at, result.at)}"
            yield "  last failure", f"{when}: {failure.reason}; {WITHOUT[failure.role]}.{since}"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _ago(moment: str, now: str) -> str:
    """Return the time from *moment* to *now* in its largest unit; ``just now`` for a time in the future."""
    seconds = max(0, (parse_iso(now) or 0) - (parse_iso(moment) or 0)) // 1000
    for unit, length in UNITS:
        if seconds >= length:
            return f"{plural(seconds // length, unit)} ago"
    return "just now"


def _statistics_text(result: Statistics) -> list[Table]:
    sessions = ", ".join(session.id[:8] for session in result.recent_sessions)
    values = {**asdict(result), "recent_sessions": sessions}.items()
    rows = [(name, _counted(value) if isinstance(value, dict) else value) for name, value in values]
    return [table(("what", "value"), rows)]


NO_NAMES = "No vault has a name. Make one: clawmem vault sync NAME FOLDER"


class NamedVaults(Result):
    """Files of vaults by name; the usual vault has none. ``missing`` are the names without a file."""

    vaults: dict[str, str]
    missing: list[str]


class Synced(Reading):
    """A pass over a folder for a named vault; ``made`` is the file of a new vault."""

    vault: str
    collection: str
    made: str | None = None


def named_vault(settings: Settings, request: Any, caller: str) -> Settings:
    """Return the settings of the vault into which a folder is read; give a new vault of the command line its name."""
    name = request.vault
    is_new = caller == PERSON and name not in settings.vaults
    file = new_vault(settings, name) if is_new else None
    allowed = _allowed(settings, caller)
    admitted(_place(request.content_root, caller), settings.home, own=settings.own_files, allowed=allowed)
    if file:
        set_value(settings.config_file, ("vaults", name), str(file))
        settings = settings.model_copy(update={"vaults": {**settings.vaults, name: file}})
    return of_vault(settings, name)


def _allowed(settings: Settings, caller: str) -> Sequence[Path] | None:
    """Return the folders that may be read; ``None`` for a person, who may read every folder of notes."""
    return None if caller == PERSON else settings.folders_for_programs


def _place(folder: Path, caller: str) -> str:
    """Return *folder* as text; a relative path of the command line is made absolute."""
    return str(folder.expanduser().absolute() if caller == PERSON else folder)


def _vaults_text(result: NamedVaults) -> str | list[Table]:
    if not result.vaults:
        return NO_NAMES
    rows = [(name, vault_path, name not in result.missing) for name, vault_path in result.vaults.items()]
    return [table(("name", "path", "exists"), rows)]


def _synced_text(result: Synced) -> str:
    made = f"\nMade the vault {result.vault} in {result.made}." if result.made else ""
    return f"{reading_text(result, result.vault)}{made}"


@operation(
    Effect.READS,
    text=lambda result: [table(("what", "value"), _status_rows(result))],
    route="/status",
    opens=Opening.CURRENT,
)
def status(services: Services) -> VaultStatus:
    """Show the content of the vault and the state of its vectors."""
    report, now = services.status(), iso_utc(services.clock.now_ms())
    # Reads open the vault for reading, which says nothing about the vault itself.
    info = replace(report.info, read_only=services.settings.read_only)
    known = {name: getattr(report, name) for name in VaultStatus.model_fields if hasattr(report, name)}
    return VaultStatus(**{**known, "at": now, "info": info, "collections": list_collections(services)})


@operation(Effect.READS, text=_statistics_text, route="/index-stats", commands=(Command("status", "--full"),))
def index_stats(services: Services) -> Statistics:
    """Show the vault in numbers, and its last sessions."""
    return services.status.statistics()


@operation(
    Effect.REPEATABLE,
    text=lambda one: f"Vault: {one.vault}\nConfig: {one.config}\nNext: clawmem collection add PATH",
    commands=(Command("vault init"),),
    is_tool=False,
    opens=Opening.CREATED,
)
def init(services: Services) -> VaultPath:
    """Create the vault and the config folder; keep existing ones."""
    make_folder(services.settings.config_file.parent)
    return vault_path(services)


@operation(
    Effect.READS,
    text=lambda result: result.vault,
    commands=(Command("vault path"),),
    is_tool=False,
    opens=Opening.NOTHING,
)
def vault_path(services: Services) -> VaultPath:
    """Print the path of the vault."""
    settings = services.settings
    return VaultPath(vault=str(settings.vault), config=str(settings.config_file))


@operation(Effect.READS, text=_vaults_text, commands=(Command("vault list"),), opens=Opening.NOTHING)
def list_vaults(services: Services) -> NamedVaults:
    """List the named vaults with their files; opens none. The parameter vault of other tools takes their names."""
    vaults = services.settings.vaults
    missing = [name for name, vault_path in vaults.items() if not is_there(vault_path)]
    return NamedVaults(vaults={name: str(vault_path) for name, vault_path in vaults.items()}, missing=missing)


@operation(Effect.REPEATABLE, text=_synced_text, opens=Opening.CREATED, settings=named_vault)
def vault_sync(
    services: Services,
    vault: Annotated[
        str,
        Field(description="Name of the vault, see list_vaults; a missing vault is created."),
        Option(metavar="NAME", is_argument=True),
    ],
    content_root: Annotated[
        Path,
        Field(description="An absolute folder of notes."),
        Option(metavar="FOLDER", is_argument=True, parser=typed_folder),
    ],
    pattern: Annotated[str, Field(description="Glob of the files that are read.")] = "**/*.md",
    collection_name: Annotated[
        str | None, Field(description="Its collection; called as the vault, else."), Option(("--collection",))
    ] = None,
    embed: Embed = False,
    allow_empty: AllowEmpty = False,
) -> Synced:
    """
    Read a folder into a named vault; the documents that the collection has of any other folder are removed.

    Programs may read folders below those of `collections:` and `sync_folders:` in the config file. A new vault of the
    command line is a file next to the usual vault, and its name is written to the config file.
    """
    folder, collection = _place(content_root, services.caller), collection_name or vault
    with services.progress(f"Reading {folder}") as step:
        report = services.sync(
            folder,
            collection,
            pattern,
            allowed=_allowed(services.settings, services.caller),
            allow_empty=allow_empty,
            progress=step,
        )
    embedded = embed_after(services, [collection], asked=embed or None)
    made = str(services.settings.vault) if services.is_new else None
    read = sums_of(services, [report])
    return Synced(**read, vault=vault, collection=collection, made=made, embed=embedded)
