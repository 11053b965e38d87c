"""Conversations and memories of other programs, and issues of Beads projects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.lazy import imported_object
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import session_places
from clawmem.app.environment.private_files import transcript_folder
from clawmem.app.operations.indexing import EmbedOrNot, embed_after, index_faults
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Request, argument, operation
from clawmem.app.operations.output import counts_text
from clawmem.app.services.conversations.mining import MiningOptions, MiningReport
from clawmem.app.services.conversations.synthesis import MOST_ASKED
from clawmem.app.services.issues import COLLECTION as ISSUES
from clawmem.app.services.issues import IssueReport
from clawmem.app.services.portability.importing import ImportedSource, ImportReport, imported_sources
from clawmem.app.settings.config_file import fault_of_name
from clawmem.app.settings.model import Settings
from clawmem.domain.conversations.units import COLLECTION, checked_source
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.errors import InvalidInput, NotFound, SourceMissing, StoreUnreadable
from clawmem.ports.imports import ForeignStore
from clawmem.ports.records import one_line

CHAT_NEEDS = (
    "A chat in text needs four turns marked as 'User:' and 'Assistant:' or with times, or six marked with names. "
    "If these are notes, run: clawmem collection add PATH"
)
SHOWN = 10  # faults and foreign files that a person is shown
STORES: Mapping[str, ForeignStore] = imported_object("adapters.imports.stores:STORES")


class Mine(Request):
    """The files to import."""

    paths: Annotated[
        list[str] | None,
        Field(description="Exports, sessions and folders of them; without any, the sessions of agents here."),
        Option(metavar="PATH...", is_argument=True),
    ] = None
    collection: Annotated[
        str, Field(description="Collection of the documents."), Option(("-c", "--collection"))
    ] = COLLECTION
    source: Annotated[str, Field(description="Name of the source; that of the format otherwise.")] = ""
    since: Annotated[str, Field(description="Import only exchanges from this day on, YYYY-MM-DD.")] = ""
    dry_run: Annotated[bool, Field(description="Count what would be imported.")] = False
    embed: EmbedOrNot = None
    synthesize: Annotated[
        bool, Field(description="Then draw decisions, preferences, problems and milestones from them.")
    ] = False
    synthesis_max_docs: Annotated[
        int, Field(ge=1, le=10_000, description="Conversations that a model is asked about in one run.")
    ] = MOST_ASKED

    def places(self, vault: Path) -> list[str]:
        """Return the absolute paths; without any, those of the sessions here, and of the archive of *vault*."""
        usual = [*session_places(os.environ), *filter(Path.is_dir, [transcript_folder(vault)])]
        return [str(Path(path).expanduser()) for path in self.paths or usual]


def _checked(settings: Settings, request: Mine, caller: str) -> Settings:
    """Return *settings*; refuse a wrong call before it creates a vault."""
    fault, places = fault_of_name(request.collection) or "", request.places(settings.vault)
    if request.collection in settings.collections:
        fault = f"{request.collection} is a collection of files. Choose another name with -c, such as {COLLECTION}."
    elif request.since and parse_iso(request.since) is None:
        fault = f"{request.since!r} is no day. Write YYYY-MM-DD."
    elif not places:
        fault = "No agent has recorded sessions here. Name an export: clawmem mine PATH"
    if fault:
        raise InvalidInput("INVALID_INPUT", fault)
    if not any(map(os.path.lexists, places)):
        raise SourceMissing(places[0], "it does not exist")
    return settings


def _mined_text(report: MiningReport) -> Iterator[str]:
    done = asdict(report)
    yield from counts_text({"dry run": report.dry_run, **done["sources"], "unchanged files": report.skipped})
    for what, lines in {"Faults": report.faults, "Files without a conversation": report.foreign}.items():
        yield from [f"{what}: {len(lines):,}", *map(one_line, lines[:SHOWN])] if lines else ()
    if report.foreign:
        yield CHAT_NEEDS
    elif not report.sources and not report.skipped:
        yield "No conversations were found."
    yield from counts_text({"Facts": done["synthesis"]})
    if report.embed:
        yield str(report.embed)


@operation(
    Effect.REPEATABLE,
    text=_mined_text,
    commands=(Command("mine"),),
    is_tool=False,
    opens=Opening.CREATED,
    settings=_checked,
)
def mine(services: Services, request: Mine) -> MiningReport:
    """
    Import conversations: chat exports (ChatGPT, Claude.ai, Slack), sessions of agents, and chats as text.

    Formats are recognised by content, also in ZIP files. A repetition adds and changes only new exchanges.
    """
    source = checked_source(request.source) if request.source else ""
    options = MiningOptions(
        request.collection, source, parse_iso(request.since, services.clock.zone()), request.dry_run
    )
    with services.progress("Importing") as step:
        report = services.mining(request.places(services.settings.vault), options, step)
    if request.dry_run:
        return report
    if request.synthesize:
        with services.progress("Drawing facts") as step:
            report.synthesis = services.synthesize_facts(request.collection, request.synthesis_max_docs, step)
    report.embed = embed_after(services, [request.collection], wanted=request.embed)
    report.remarks += index_faults(services)
    return report


@operation(
    Effect.READS,
    columns="source collection documents first=from last=to imported_at",
    empty="Nothing was imported yet. Run: clawmem mine PATH, or clawmem import TOOL",
    items="sources",
    route="/sources",
    commands=(Command("mine", "--sources"),),
    is_tool=False,
)
def sources(services: Services) -> list[ImportedSource]:
    """List the programs whose conversations or memories were imported, with the numbers of their documents."""
    return imported_sources(services.vault.documents, services.settings.collections)


@operation(
    Effect.REPEATABLE,
    text=counts_text,
    commands=(Command("import"),),
    is_tool=False,
    opens=Opening.CREATED,
)
def import_memories(
    services: Services,
    tool: Annotated[str, f"{', '.join(STORES)}.", argument("TOOL")] = "",
    path: Annotated[
        Path | None, "The store: a folder or file; by default where the tool has it.", argument("PATH")
    ] = None,
    dry_run: Annotated[bool, "Report, and import nothing."] = False,
) -> ImportReport:
    """
    Import the memories of another tool, whose store is only read.

    Original times stay, secrets are replaced, and imported texts are quoted and not trusted. Repeat it any time: only new
    and changed memories are imported.
    """
    if tool not in STORES:
        remark = f"Tools: {', '.join(STORES)}. To import conversations, run: clawmem mine PATH"
        if not tool:
            raise InvalidInput("INVALID_INPUT", f"Name the tool whose memories to import. {remark}")
        raise NotFound("tool", tool, suggestions=get_close_matches(tool.lower(), STORES), remark=remark)
    store = STORES[tool]
    usual = [services.settings.home / name for name in store.usual]
    if not (path or usual):
        raise StoreUnreadable(tool, "its usual place", "it has none")
    place = path.expanduser().absolute() if path else next(filter(Path.exists, usual), usual[0])
    report = services.memory_import(caller=services.caller)(tool, store.read(str(place)), dry_run=dry_run)
    report.place = str(place)
    report.embed = None if dry_run else embed_after(services, [OWN_COLLECTION])
    return report


@operation(
    Effect.REPEATABLE,
    text=counts_text,
    route="/beads/sync",
    commands=(Command("beads"),),
    opens=Opening.CREATED,
)
def beads_sync(
    services: Services,
    project_path: Annotated[str, "Folder of the project, or one below it.", argument("PROJECT")] = ".",
    allow_empty: Annotated[
        bool, "Also remove every issue of a project that lists none.", Option(tool=None)
    ] = False,
) -> IssueReport:
    """
    Make documents of the issues of a Beads project, with relations by dependency.

    It asks `bd`, or reads the files in .beads where there is no `bd`. Repeat it any time; the watcher does it after
    changes in .beads. Find issues by their properties: --where status=open.
    """
    report = services.issue_sync(project_path, allow_empty=allow_empty)
    return replace(report, embed=embed_after(services, [ISSUES]))
