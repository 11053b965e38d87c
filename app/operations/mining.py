"""Conversations imported from exports of chat programs and from sessions of agents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.environment.places import session_places
from clawmem.app.operations.embedding import (
    Upkeep,
    embed_after,
    embed_line,
    lagging_indexes,
    model_failed,
)
from clawmem.app.operations.fields import Confirm
from clawmem.app.operations.indexing import PERSON, EmbedOrNot
from clawmem.app.operations.lifecycle import (
    BYTES_REMAIN,
    TRACE_FOUND,
    ForgottenSource,
    forget_source,
    forgotten_source_text,
)
from clawmem.app.operations.operation import Effect, Opening, Option, Request, Result, operation
from clawmem.app.operations.output import Part, one_line, plural, table
from clawmem.app.services.conversations.mining import (
    MiningInterrupted,
    MiningOptions,
    MiningReport,
    SourceCounts,
)
from clawmem.app.services.conversations.sources import ImportedSource, imported_sources
from clawmem.app.services.conversations.synthesis import MOST_ASKED, SynthesisReport
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.lifecycle.proof import SAME_TEXT
from clawmem.app.settings.config_file import fault_of_name
from clawmem.domain.conversations.places import COLLECTION, checked_source
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.errors import InvalidInput, SourceMissing

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

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
        Option(metavar="[PATHS]", is_argument=True),
    ] = None
    collection: Annotated[
        str,
        Field(description=f"Collection, {COLLECTION} by default; --forget looks in every one."),
        Option(("-c", "--collection")),
    ] = ""
    source: Annotated[
        str, Field(description="Name of the source; that of the format otherwise."), Option(("--source",))
    ] = ""
    since: Annotated[
        str, Field(description="Import only exchanges from this day on, YYYY-MM-DD."), Option(("--since",))
    ] = ""
    dry_run: Annotated[bool, Field(description="Count what would be imported."), Option(("--dry-run",))] = (
        False
    )
    embed: EmbedOrNot = None
    synthesize: Annotated[
        bool,
        Field(description="Then draw decisions, preferences, problems and milestones from them."),
        Option(("--synthesize",)),
    ] = False
    synthesis_max_docs: Annotated[
        int, Field(ge=1, le=10_000, description="Conversations that a model is asked about in one run.")
    ] = MOST_ASKED
    forget: Annotated[
        str,
        Field(description="Forget everything imported from this source, and prove it."),
        Option(("--forget",)),
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
    def remarks(self) -> Sequence[str]:
        """Return a warning for each source whose conversations are in the collection under another name."""
        return [
            f"{plural(source.repeated, 'conversation')} of {name} came from another source before, so that each is found "
            f"twice. To see them, run: clawmem list --where source={name}"
            for name, source in self.sources.items()
            if source.repeated
        ]

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


class Sources(Result):
    """Sources of imported conversations and memories."""

    sources: list[ImportedSource]


def checked(settings: Settings, request: Mine, interface: str = "") -> Settings:
    """
    Return *settings*, before a wrong call creates a vault.

    Raises:
        InvalidInput: an option is wrong or does not go with --forget, or there is nothing to import.
        SourceMissing: none of the paths exists.
    """
    if request.forget:
        if request.paths or request.source or request.since or request.dry_run or request.synthesize:
            raise InvalidInput(
                "INVALID_INPUT",
                f"--forget {request.forget} forgets every document of that source. Leave out paths and other options "
                "except -c.",
            )
    else:
        if request.confirm is False:
            raise InvalidInput(
                "INVALID_INPUT", "Nothing was imported. To count what would be imported, use --dry-run."
            )
        _options(settings, request)
        paths = _paths(request)
        if not any(map(os.path.lexists, paths)):
            raise SourceMissing(paths[0], "it does not exist")
    return settings


def _options(settings: Settings, request: Mine) -> MiningOptions:
    collection = request.collection or COLLECTION
    if fault := fault_of_name(collection):
        raise InvalidInput("INVALID_INPUT", fault)
    if collection in settings.collections:
        raise InvalidInput(
            "INVALID_INPUT",
            f"{collection} is a collection of files, and imported conversations have none. Choose another name "
            f"with -c, such as {COLLECTION}.",
        )
    since = parse_iso(request.since) if request.since else None
    if request.since and since is None:
        raise InvalidInput("INVALID_INPUT", f"{request.since!r} is no day. Write YYYY-MM-DD.")
    source = checked_source(request.source) if request.source else ""
    return MiningOptions(collection, source, since, request.dry_run)


def _paths(request: Mine) -> list[str]:
    paths = [str(Path(path).expanduser()) for path in request.paths or ()]
    if not paths:
        paths = list(map(str, session_places(os.environ)))
    if not paths:
        raise InvalidInput(
            "INVALID_INPUT", "No agent has recorded sessions here. Name an export: clawmem mine PATH"
        )
    return paths


def _imported(services: Services, paths: Sequence[str], options: MiningOptions) -> MiningReport:
    try:
        with services.progress("Importing") as step:
            return services.mining(paths, options, step)
    except MiningInterrupted as stopped:
        lines = [line for line in mined_text(Mined(**_counts(stopped.report))) if isinstance(line, str)]
        stopped.add_note("\n".join([*lines, "Not finished. Run the same command again to continue."]))
        raise


def _synthesized(services: Services, request: Mine) -> SynthesisReport:
    with services.progress("Drawing facts") as step:
        return services.synthesize_facts(request.collection or COLLECTION, request.synthesis_max_docs, step)


def _counts(report: MiningReport) -> dict[str, Any]:
    return {name: getattr(report, name) for name in ("files", "skipped", "sources", "foreign", "faults")}


def mined_text(result: Mined) -> Iterable[Part]:
    """Return a line for each source, faults, and the next step."""
    if result.forgotten:
        return forgotten_source_text(result.forgotten)
    lines: list[Part] = [
        f"{name}: {_counted(source, is_dry=result.dry_run)}" for name, source in result.sources.items()
    ]
    if result.skipped:
        lines.append(f"{plural(result.skipped, 'file')} unchanged since the last import.")
    lines += _some(result.faults)
    if result.foreign:
        lines.append(f"{plural(len(result.foreign), 'file')} without a conversation:")
        lines += [f"  {verbatim}" for verbatim in _some(result.foreign)]
        lines.append(CHAT_NEEDS)
        if not result.sources and any(text.endswith(".md") for text in result.foreign):
            lines.append(NOTES_NEED)
    if not result.sources and not result.skipped:
        lines.append("No conversations were found.")
    if result.synthesis:
        lines.append(_synthesis_line(result.synthesis))
    if result.embed:
        lines.append(embed_line(result.embed))
    return lines


def _synthesis_line(one: SynthesisReport) -> str:
    links = one.linksResolved + one.linksUnresolved
    said = (
        f"Facts: {one.factsSaved} saved of {one.factsExtracted} found in {plural(one.docsScanned, 'document')} "
        f"({one.docsWithNoFacts} without any, {plural(one.llmFailures, 'failure')}); "
        f"{one.linksResolved} of {plural(links, 'link')} resolved."
    )
    return f"{said} It ended early: {one.stopped}" if one.stopped else said


def _counted(one: SourceCounts, *, is_dry: bool) -> str:
    said = f"{plural(one.conversations, 'conversation')}, {plural(one.messages, 'message')}"
    would = "would be " if is_dry else ""
    changes = (
        f"{plural(one.added, 'document')} {would}added, {one.updated:,} updated, {one.removed:,} removed"
    )
    short = f", {one.too_short:,} too short" if one.too_short else ""
    forgotten = f", {one.forgotten:,} forgotten before" if one.forgotten else ""
    earlier = f" {plural(one.earlier, 'conversation')} before that day left out." if one.earlier else ""
    return f"{said}: {changes}, {one.unchanged:,} unchanged{short}{forgotten}.{earlier}"


def _some(sentences: Sequence[str]) -> list[Part]:
    more = len(sentences) - SHOWN
    return [*map(one_line, sentences[:SHOWN]), *([f"and {more:,} more; see --json."] if more > 0 else [])]


def _sources_text(result: Sources) -> list[Part]:
    if not result.sources:
        return ["Nothing was imported yet. Run: clawmem mine PATH, or clawmem import TOOL"]
    rows = [
        (
            source.source,
            source.collection,
            source.conversations or "",
            source.documents,
            *(moment[:10] for moment in (source.first, source.last, source.imported_at)),
        )
        for source in result.sources
    ]
    return [table(("source", "collection", "conversations", "documents", "from", "to", "imported"), rows)]


@operation(Effect.DESTROYS, text=mined_text, is_tool=False, opens=Opening.CREATED, settings=checked)
def mine(services: Services, request: Mine) -> Mined:
    """
    Import conversations: chat exports (ChatGPT, Claude.ai, Gemini, Slack), sessions of agents, and chats as text.

    Formats are recognised by content, also in ZIP files. A repetition adds and changes only new exchanges.
    """
    if services.caller != PERSON:
        raise InvalidInput("INVALID_INPUT", "Conversations are imported on the command line alone.")
    checked(services.settings, request)
    if request.forget:
        confirm = request.confirm
        return Mined(forgotten=forget_source(services, request.forget, request.collection, confirm=confirm))
    options = _options(services.settings, request)
    report = _imported(services, _paths(request), options)
    if request.dry_run:
        return Mined(dry_run=True, **_counts(report))
    drawn = _synthesized(services, request) if request.synthesize else None
    embedded = embed_after(services, [options.collection], asked=request.embed)
    return Mined(**_counts(report), synthesis=drawn, embed=embedded, lagging=lagging_indexes(services))


@operation(Effect.READS, text=_sources_text, route="/sources", is_tool=False)
def sources(services: Services) -> Sources:
    """List the programs whose conversations or memories were imported, with the numbers of their documents."""
    return Sources(sources=imported_sources(services.vault.documents, services.settings.collections))
