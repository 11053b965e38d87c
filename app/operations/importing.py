"""Conversations and memories of other programs, and issues of Beads projects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from clawmem.app.bootstrap.lazy import imported_object
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import session_places
from clawmem.app.operations.embedding import Upkeep, embed_after, embed_line, lagging_indexes, model_failed
from clawmem.app.operations.fields import Confirm
from clawmem.app.operations.indexing import PERSON, EmbedOrNot
from clawmem.app.operations.lifecycle import (
    BYTES_REMAIN,
    TRACE_FOUND,
    ForgottenSource,
    forget_source,
    forgotten_source_text,
)
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Request, Result, operation
from clawmem.app.operations.output import one_line, plural
from clawmem.app.services.conversations.mining import (
    MiningInterrupted,
    MiningOptions,
    MiningReport,
    SourceCounts,
)
from clawmem.app.services.conversations.sources import ImportedSource, imported_sources
from clawmem.app.services.conversations.synthesis import MOST_ASKED, SynthesisReport
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.issues import COLLECTION as ISSUES
from clawmem.app.services.issues import IssueReport
from clawmem.app.services.lifecycle.proof import SAME_TEXT
from clawmem.app.settings.config_file import fault_of_name
from clawmem.app.settings.model import Settings
from clawmem.domain.conversations.places import COLLECTION, checked_source
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.errors import InvalidInput, NotFound, SourceMissing, StoreUnreadable
from clawmem.ports.imports import ForeignStore

NOTHING_READ = 1  # exit code
CHAT_NEEDS = (
    "A chat in text needs four turns marked as 'User:' and 'Assistant:' or with times, or six marked with names; "
    "a chat in JSON, objects with role and content."
)
NOTES_NEED = "If these are notes, index their folder instead: clawmem collection add PATH"
SHOWN = 10  # faults and foreign files that a person is shown


class Mine(Request):
    """The files to import, or the source to forget."""

    paths: Annotated[
        list[str] | None,
        Field(description="Exports, sessions and folders of them; without any, the sessions of agents here."),
        Option(metavar="PATH...", is_argument=True),
    ] = None
    collection: Annotated[
        str,
        Field(description=f"Collection, {COLLECTION} by default; --forget looks in every one."),
        Option(("-c", "--collection")),
    ] = ""
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
    forget: Annotated[
        str, Field(description="Forget everything imported from this source, and prove it.")
    ] = ""
    confirm: Confirm = None


class Mined(Upkeep):
    """
    Results of an import by source.

    ``files`` were read, ``skipped`` ones are unchanged since the last import, ``foreign`` ones hold no conversation.
    ``faults`` are sentences about files that were not read, or not completely.
    """

    dry_run: bool = False
    files: int = 0
    skipped: int = 0
    sources: dict[str, SourceCounts] = Field(default_factory=dict)
    foreign: list[str] = Field(default_factory=list)
    faults: list[str] = Field(default_factory=list)
    embed: EmbedReport | None = None
    synthesis: SynthesisReport | None = None
    forgotten: ForgottenSource | None = None

    @property
    def exit_code(self) -> int:
        """
        Return 1 where no conversation could be read, a model failed or bytes remain; 7 where a probe found a trace.

        A document of another source with the same text is no trace.

        A file that cannot be read, such as one of many in a ZIP file, is reported and does not change the code.
        """
        if self.forgotten:
            found = any(paths for probe, paths in self.forgotten.probes.items() if probe != SAME_TEXT)
            return TRACE_FOUND if found else BYTES_REMAIN if self.forgotten.left else 0
        is_empty = bool(self.foreign or self.faults) and not (self.sources or self.skipped)
        failed = model_failed(self.embed) or bool(self.synthesis and self.synthesis.llmFailures)
        return NOTHING_READ if is_empty or failed else 0


def checked(settings: Settings, request: Mine, interface: str = "") -> Settings:
    """
    Return *settings*, before a wrong call creates a vault.

    Raises:
        InvalidInput: an option is wrong or does not go with --forget, or there is nothing to import.
        SourceMissing: none of the paths exists.
    """
    if request.forget:
        if request.paths or request.source or request.since or request.dry_run or request.synthesize:
            raise _refused(
                f"--forget {request.forget} forgets every document of that source. Leave out paths and other options "
                "except -c."
            )
        return settings
    if request.confirm is False:
        raise _refused("Nothing was imported. To count what would be imported, use --dry-run.")
    _options(settings, request)
    paths = _paths(request)
    if not any(map(os.path.lexists, paths)):
        raise SourceMissing(paths[0], "it does not exist")
    return settings


def _refused(reason: str) -> InvalidInput:
    return InvalidInput("INVALID_INPUT", reason)


def _options(settings: Settings, request: Mine) -> MiningOptions:
    collection = request.collection or COLLECTION
    if fault := fault_of_name(collection):
        raise _refused(fault)
    if collection in settings.collections:
        raise _refused(
            f"{collection} is a collection of files, and imported conversations have none. Choose another name "
            f"with -c, such as {COLLECTION}."
        )
    since = parse_iso(request.since) if request.since else None
    if request.since and since is None:
        raise _refused(f"{request.since!r} is no day. Write YYYY-MM-DD.")
    source = checked_source(request.source) if request.source else ""
    return MiningOptions(collection, source, since, request.dry_run)


def _paths(request: Mine) -> list[str]:
    paths = [str(Path(path).expanduser()) for path in request.paths or session_places(os.environ)]
    if not paths:
        raise _refused("No agent has recorded sessions here. Name an export: clawmem mine PATH")
    return paths


def _counts(report: MiningReport) -> dict[str, Any]:
    return {field.name: getattr(report, field.name) for field in fields(report)}


def _mined_text(result: Mined) -> Iterator[str]:
    """Yield a line for each source, faults, and the next step."""
    if result.forgotten:
        yield from forgotten_source_text(result.forgotten)
        return
    for name, source in result.sources.items():
        yield f"{name}: {_source_line(source, would='would be ' if result.dry_run else '')}"
    if result.skipped:
        yield f"{plural(result.skipped, 'file')} unchanged since the last import."
    yield from _first(result.faults)
    if result.foreign:
        yield f"{plural(len(result.foreign), 'file')} without a conversation:"
        yield from (f"  {line}" for line in _first(result.foreign))
        yield CHAT_NEEDS
        if not result.sources and any(text.endswith(".md") for text in result.foreign):
            yield NOTES_NEED
    if not result.sources and not result.skipped:
        yield "No conversations were found."
    if facts := result.synthesis:
        ended = f" It ended early: {facts.stopped}" if facts.stopped else ""
        yield (
            f"Facts: {facts.factsSaved} saved of {facts.factsExtracted} found in "
            f"{plural(facts.docsScanned, 'document')} ({facts.docsWithNoFacts} without any, "
            f"{plural(facts.llmFailures, 'failure')}).{ended}"
        )
    if result.embed:
        yield embed_line(result.embed)


def _source_line(source: SourceCounts, would: str) -> str:
    read = f"{plural(source.conversations, 'conversation')}, {plural(source.messages, 'message')}"
    changes = f"{plural(source.added, 'document')} {would}added, {source.updated:,} updated, {source.removed:,} removed"
    short = f", {source.too_short:,} too short" if source.too_short else ""
    forgotten = f", {source.forgotten:,} forgotten before" if source.forgotten else ""
    earlier = f" {plural(source.earlier, 'conversation')} before that day left out." if source.earlier else ""
    return f"{read}: {changes}, {source.unchanged:,} unchanged{short}{forgotten}.{earlier}"


def _first(sentences: Sequence[str]) -> list[str]:
    more = len(sentences) - SHOWN
    return [*map(one_line, sentences[:SHOWN]), *([f"and {more:,} more; see --json."] if more > 0 else [])]


@operation(
    Effect.DESTROYS,
    text=_mined_text,
    commands=(Command("mine", repeats=True),),
    is_tool=False,
    opens=Opening.CREATED,
    settings=checked,
)
def mine(services: Services, request: Mine) -> Mined:
    """
    Import conversations: chat exports (ChatGPT, Claude.ai, Gemini, Slack), sessions of agents, and chats as text.

    Formats are recognised by content, also in ZIP files. A repetition adds and changes only new exchanges.
    """
    if services.caller != PERSON:
        raise _refused("Conversations are imported on the command line alone.")
    checked(services.settings, request)
    if request.forget:
        confirm = request.confirm
        return Mined(forgotten=forget_source(services, request.forget, request.collection, confirm=confirm))
    options = _options(services.settings, request)
    try:
        with services.progress("Importing") as step:
            report = services.mining(_paths(request), options, step)
    except MiningInterrupted as stopped:
        lines = _mined_text(Mined(**_counts(stopped.report)))
        stopped.add_note("\n".join([*lines, "Not finished. Run the same command again to continue."]))
        raise
    mined = Mined(dry_run=request.dry_run, **_counts(report))
    if request.dry_run:
        return mined
    if request.synthesize:
        with services.progress("Drawing facts") as step:
            mined.synthesis = services.synthesize_facts(options.collection, request.synthesis_max_docs, step)
    mined.embed = embed_after(services, [options.collection], asked=request.embed)
    mined.lagging = lagging_indexes(services)
    return mined


@operation(
    Effect.READS,
    columns="source collection conversations documents first=from last=to imported_at",
    empty="Nothing was imported yet. Run: clawmem mine PATH, or clawmem import TOOL",
    items="sources",
    route="/sources",
    commands=(Command("mine", "--sources"),),
    is_tool=False,
)
def sources(services: Services) -> list[ImportedSource]:
    """List the programs whose conversations or memories were imported, with the numbers of their documents."""
    return imported_sources(services.vault.documents, services.settings.collections)


# -- memories of other tools ----------------------------------------------------------------------------

STORES: Mapping[str, ForeignStore] = imported_object("adapters.imports.stores:STORES")
COUNTED = {
    "updated": "updated",
    "unchanged": "unchanged",
    "duplicates": "duplicates of notes",
    "forgotten": "forgotten or archived here, not imported",
    "pinned": "pinned",
    "snoozed": "snoozed",
    "redacted": "with replaced secrets",
    "suspicious": "give orders, and are not injected",
    "facts": "facts",
    "relations": "relations",
}


class ImportedMemories(Result):
    """Counts of an import; ``unmatched`` are items without a counterpart by kind, ``suspicious`` look like orders."""

    tool: str
    place: str
    dry_run: bool
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    forgotten: int = Field(default=0, description="Not imported: forgotten or archived in this vault.")
    facts: int = 0
    relations: int = 0
    pinned: int = 0
    snoozed: int = 0
    redacted: int = Field(default=0, description="Memories with replaced secrets.")
    suspicious: int = Field(default=0, description="Memories that hooks do not inject: they give orders.")
    unmatched: dict[str, int]
    embed: EmbedReport | None = None


def _imported_text(result: ImportedMemories) -> Iterator[str]:
    verb = "Would import" if result.dry_run else "Imported"
    yield f"{verb} {plural(result.imported, 'memory')} of {result.tool} from {result.place}."
    counts = {about: getattr(result, name) for name, about in COUNTED.items()}
    yield from (f"  {count:,} {about}" for about, count in counts.items() if count)
    yield from (f"  no counterpart: {count} × {what}" for what, count in result.unmatched.items())
    if result.embed:
        yield embed_line(result.embed)


@operation(
    Effect.REPEATABLE,
    text=_imported_text,
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
    dry_run: Annotated[bool, Field(description="Report, and import nothing.")] = False,
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
    store, home = STORES[tool], services.settings.home
    if not path and not store.usual:
        raise StoreUnreadable(tool, "its usual place", "it has none")
    usual = [home / name for name in store.usual]
    place = path.expanduser().absolute() if path else next(filter(Path.exists, usual), usual[0])
    report = services.memory_import(caller=services.caller)(
        store.name, store.read(str(place)), dry_run=dry_run
    )
    return ImportedMemories(
        tool=tool,
        place=str(place),
        dry_run=dry_run,
        unmatched=dict(sorted(report.unmatched.items())),
        embed=None if dry_run else embed_after(services, [OWN_COLLECTION]),
        **report.outcomes,
        **report.details,
    )


# -- issues ---------------------------------------------------------------------------------------------


def _issues_text(report: IssueReport) -> Iterator[str]:
    yield (
        f"{report.project_dir}: {plural(report.synced, 'issue')} ({report.source}), {report.created} new, "
        f"{report.updated} updated, {report.removed} removed; {plural(report.relations, 'relation')} changed."
    )
    if report.unresolved:
        yield f"  {report.unresolved} dependencies on unknown issues were left out."
    if report.embed:
        yield embed_line(report.embed)


@operation(
    Effect.REPEATABLE,
    text=_issues_text,
    route="/beads/sync",
    commands=(Command("beads"),),
    opens=Opening.CREATED,
    in_own_process=True,
)
def beads_sync(
    services: Services,
    project_path: Annotated[
        str,
        Field(description="Folder of the project, or one below it."),
        Option(metavar="PROJECT", is_argument=True),
    ] = ".",
    allow_empty: Annotated[
        bool, Field(description="Also remove every issue of a project that lists none."), Option(tool=None)
    ] = False,
) -> IssueReport:
    """
    Make documents of the issues of a Beads project, with relations by dependency.

    It asks `bd`, or reads the files in .beads where there is no `bd`. Repeat it any time; the watcher does it after
    changes in .beads. Find issues by their properties: --where status=open.
    """
    report = services.issue_sync(project_path, allow_empty=allow_empty)
    return replace(report, embed=embed_after(services, [ISSUES]))
