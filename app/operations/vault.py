"""The vault: its file, and its content in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from clawmem.app.operations.collections import Collection, list_collections
from clawmem.app.operations.operation import Command, Effect, NoParameters, Opening, Operation, Result
from clawmem.app.operations.output import Table, plural, table
from clawmem.app.services.maintenance.status import numbers
from clawmem.app.services.models.selection import WITHOUT, Provider
from clawmem.app.settings.config_file import make_config_folder
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.ports.embeddings import EmbeddingBuild, EmbeddingCounts
from clawmem.ports.model_records import ModelFailure
from clawmem.ports.notes import NoteCounts
from clawmem.ports.sessions import Session
from clawmem.ports.vault import VaultInfo

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

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


class Statistics(Result):
    """The vault in numbers; ``collections`` is their number."""

    total_documents: int
    needs_embedding: int
    has_vectors: bool
    collections: int
    content_types: dict[str, int]
    stale_documents: int = Field(description="Past their review date.")
    average_access_count: float
    notes: int = Field(description="Documents with generated notes.")
    facts: int = Field(description="Facts that hold.")
    relations: dict[str, int]
    recorded_questions: int
    receipts: int
    recent_sessions: list[Session] = Field(description="The latest sessions, newest first.")


class VaultPath(Result):
    """The file of the vault, and the config file."""

    vault: str
    config: str


def status(services: Services, request: NoParameters) -> VaultStatus:
    """Show the content of the vault and the state of its vectors."""
    report, now = services.status(), iso_utc(services.clock.now_ms())
    # Reads open the vault for reading, which says nothing about the vault itself.
    info = replace(report.info, read_only=services.settings.read_only)
    known = {name: getattr(report, name) for name in VaultStatus.model_fields if hasattr(report, name)}
    return VaultStatus(**{**known, "at": now, "info": info, "collections": list_collections(services)})


def index_stats(services: Services, request: NoParameters) -> Statistics:
    """Show the vault in numbers, and its last sessions."""
    found = numbers(services.vault, services.clock, services.status)
    report = found.status
    return Statistics(
        total_documents=report.documents,
        needs_embedding=report.embeddings.pending,
        has_vectors=report.embeddings.stored > 0,
        collections=len(report.collections),
        content_types=report.content_types,
        stale_documents=found.stale,
        average_access_count=found.mean_accesses,
        notes=report.notes.notes,
        facts=sum(services.vault.triples.counts().values()),
        relations=report.relations,
        recorded_questions=report.recalls,
        receipts=report.receipts,
        recent_sessions=found.sessions,
    )


def path(services: Services, request: NoParameters) -> VaultPath:
    """Print the path of the vault."""
    settings = services.settings
    return VaultPath(vault=str(settings.vault), config=str(settings.config_file))


def init(services: Services, request: NoParameters) -> VaultPath:
    """Create the vault and the config folder; keep existing ones."""
    make_config_folder(services.settings.config_file)
    return path(services, request)


def _status_text(result: VaultStatus) -> list[Table]:
    return [table(("what", "value"), [*_status_rows(result), *_role_rows(result)])]


def _status_rows(result: VaultStatus) -> Iterator[tuple[str, object]]:
    info, counts = result.info, result.embeddings
    size = f"{info.backend}, schema {info.schema}, {info.size_bytes / 1e6:.1f} MB"
    vectors = f"{counts.stored} stored, {counts.pending} pending, {counts.failed} failed"
    yield "vault", f"{info.location} ({size})"
    yield "documents", result.documents
    for one in result.collections:
        yield f"  {one.name}", one.documents
    yield "types", _counted(result.content_types)
    yield "newest", result.newest or "none"
    yield "words", info.lexical_method
    yield "vectors", f"{vectors}, {counts.orphaned} orphaned ({info.vector_method})"
    yield "model", _model_text(result)
    yield "notes", _notes_text(result.notes)
    yield "relations", _counted(result.relations)
    kept = f"{result.receipts} receipts ({result.receipt_bytes / 1e3:.1f} kB)"
    yield "questions", f"{result.recalls} recorded, {kept}"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _notes_text(counts: NoteCounts) -> str:
    given_up = f", {counts.given_up} that a model failed on" if counts.given_up else ""
    waiting = f", {counts.waiting} documents wait; run: clawmem enrich" if counts.waiting else ""
    return f"{counts.notes}, {counts.by_model} by a model{given_up}{waiting}"


def _model_text(result: VaultStatus) -> str:
    serving = result.model or "none yet; run: clawmem embed"
    if result.building is None:
        return serving
    new = f"{result.building.fingerprint} is {result.building.share:.0%} made"
    return f"{serving}, until the next one is complete: {new}; run: clawmem embed"


def _role_rows(result: VaultStatus) -> Iterator[tuple[str, str]]:
    """Yield a row for each role with its model and the reason, then the models passed over and the last failure."""
    for provider in result.roles:
        yield str(provider.role), f"{provider.chosen}, because {provider.reason}"
        yield from (("  passed over", reason) for reason in provider.passed_over)
        if provider.last_failure:
            yield "  last failure", failure_line(provider.last_failure, result.at)


def failure_line(failure: ModelFailure, now: str) -> str:
    """Return a line with the time and reason of a failure of a model, and what answers lacked because of it."""
    line = f"{failure.model}, {ago(failure.failed_at, now)}: {failure.reason}; {WITHOUT[failure.role]}"
    return f"{line}. It has answered since." if failure.answered_at else f"{line}."


def ago(moment: str, now: str) -> str:
    """Return the time from *moment* to *now* in its largest unit; ``just now`` for a time in the future."""
    seconds = max(0, (parse_iso(now) or 0) - (parse_iso(moment) or 0)) // 1000
    for unit, length in UNITS:
        if seconds >= length:
            return f"{plural(seconds // length, unit)} ago"
    return "just now"


def _statistics_text(result: Statistics) -> list[Table]:
    sessions = ", ".join(one.id[:8] for one in result.recent_sessions)
    rows = {**dict(result), "recent_sessions": sessions}.items()
    return [
        table(
            ("what", "value"), [(name, _counted(one) if isinstance(one, dict) else one) for name, one in rows]
        )
    ]


_reads = partial(Operation, effect=Effect.READS)
OPERATIONS = (
    _reads(
        name="status",
        run=status,
        route="/status",
        commands=(Command("status"),),
        text=_status_text,
        opens=Opening.CURRENT,
    ),
    _reads(
        name="index_stats",
        run=index_stats,
        route="/index-stats",
        commands=(Command("index-stats"),),
        text=_statistics_text,
    ),
    Operation(
        name="init",
        run=init,
        effect=Effect.REPEATABLE,
        commands=(Command("init"),),
        text=lambda one: f"Vault: {one.vault}\nConfig: {one.config}\nNext: clawmem collection add PATH",
        is_tool=False,
        opens=Opening.CREATED,
    ),
    _reads(
        name="vault_path",
        run=path,
        commands=(Command("path"),),
        text=lambda result: result.vault,
        is_tool=False,
        opens=Opening.NOTHING,
    ),
)
