"""Memories of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.bootstrap.lazy import imported_object
from clawmem.app.operations.embedding import embed_after, embed_line
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.errors import NotFound, StoreUnreadable

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.imports import ForeignStore

STORES: Mapping[str, ForeignStore] = imported_object("adapters.imports.stores:STORES")


class ImportedMemories(Result):
    """Counts of an import; ``unmatched`` are items without a counterpart by kind, ``suspicious`` look like orders."""

    tool: str
    place: str
    dry_run: bool
    imported: int
    updated: int
    unchanged: int
    duplicates: int
    forgotten: int = Field(description="Not imported: forgotten or archived in this vault.")
    facts: int
    relations: int
    pinned: int
    snoozed: int
    redacted: int = Field(description="Memories with replaced secrets.")
    suspicious: int = Field(description="Memories that hooks do not inject, because they give orders.")
    unmatched: dict[str, int]
    embed: EmbedReport | None = None


def _usual(home: Path, tool: str) -> Path:
    usual = STORES[tool].usual
    if not usual:
        raise StoreUnreadable(tool, "its usual place", "it has none")
    return next((home / text for text in usual if (home / text).exists()), home / usual[0])


def _text(result: ImportedMemories) -> Iterator[str]:
    verb = "Would import" if result.dry_run else "Imported"
    yield f"{verb} {plural(result.imported, 'memory')} of {result.tool} from {result.place}."
    named = (("fact", result.facts), ("relation", result.relations))
    counted = {
        "updated": result.updated,
        "unchanged": result.unchanged,
        "duplicates of notes": result.duplicates,
        "forgotten or archived here, not imported": result.forgotten,
        "pinned": result.pinned,
        "snoozed": result.snoozed,
        "with replaced secrets": result.redacted,
        "give orders, and are not injected": result.suspicious,
    }
    yield from (f"  {count:,} {what}" for what, count in counted.items() if count)
    yield from (f"  {plural(count, noun)}" for noun, count in named if count)
    yield from (f"  no counterpart: {count} × {what}" for what, count in result.unmatched.items())
    if result.embed:
        yield embed_line(result.embed)


@operation(
    Effect.REPEATABLE,
    text=_text,
    commands=(Command("import"),),
    is_tool=False,
    opens=Opening.CREATED,
    in_own_process=True,
)
def import_memories(
    services: Services,
    tool: Annotated[
        str, Field(description=f"{', '.join(STORES)}."), Option(metavar="TOOL", is_argument=True)
    ],
    path: Annotated[
        Path | None,
        Field(description="The store: a folder or file; by default where the tool has it."),
        Option(metavar="PATH", is_argument=True),
    ] = None,
    dry_run: Annotated[
        bool, Field(description="Report, and import nothing."), Option(("--dry-run",))
    ] = False,
) -> ImportedMemories:
    """
    Import the memories of another tool, whose store is only read.

    Original times stay, secrets are replaced, and imported texts are quoted and not trusted. Repeat it any time: only new
    and changed memories are imported.
    """
    if tool not in STORES:
        near = get_close_matches(tool.lower(), STORES)
        remark = f"Tools: {', '.join(STORES)}. To import conversations, run: clawmem mine PATH"
        raise NotFound("tool", tool, suggestions=near, remark=remark)
    store = STORES[tool]
    place = path.expanduser().absolute() if path else _usual(services.settings.home, tool)
    bring = services.memory_import(caller=services.caller)
    report = bring(store.name, store.read(str(place)), dry_run=dry_run)
    counts = {**report.outcomes, **report.details}
    names = (name for name, field in ImportedMemories.model_fields.items() if field.annotation is int)
    embedded = None if dry_run else embed_after(services, [OWN_COLLECTION])
    return ImportedMemories(
        tool=tool,
        place=str(place),
        dry_run=dry_run,
        unmatched=dict(sorted(report.unmatched.items())),
        embed=embedded,
        **{name: counts.get(name, 0) for name in names},
    )
