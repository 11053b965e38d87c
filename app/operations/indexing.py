"""Reading of the folders, and the vectors of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.fields import CollectionNames, listed
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import few
from clawmem.app.services.indexing.collections import leftover_sentence
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.file_status import FileStatus
from clawmem.app.services.indexing.update import PassReport
from clawmem.ports.errors import EmbeddingError, InvalidInput, ModelError, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder

INCOMPLETE = 1  # exit code
QUICK_MS = 60_000  # of embedding that nobody asked for
PERSON = "cli"  # the interface whose user may name any folder

Force = Annotated[bool, Field(description="Start over."), Option(("-f", "--force"), tool=None)]
Collections = Annotated[CollectionNames, Option(("-c", "--collection"), tool=None)]
AllowEmpty = Annotated[
    bool,
    Field(description="Also remove every document of an emptied folder."),
    Option(("--allow-empty",), tool=None),
]
EmbedOrNot = Annotated[
    bool | None,
    Field(description="Then make the missing vectors, or never; by default for at most a minute."),
    Option(("--embed/--no-embed",), tool=None),
]


class Reading(Result):
    """Passes over folders, and their sums; ``pending`` texts wait for vectors."""

    collections: list[PassReport]
    added: int
    updated: int
    unchanged: int
    removed: int
    pending: int
    embed: EmbedReport | None = None
    remarks: list[str] = Field(default=[], description="Sentences about the vault and its indexes.")

    @property
    def exit_code(self) -> int:
        """Return 1 where a collection was skipped, a file or folder could not be read, or the model failed."""
        is_whole = not any(report.unread for report in self.collections)
        return 0 if is_whole and (self.embed is None or self.embed.is_whole) else INCOMPLETE


def index_faults(services: Services) -> list[str]:
    """Update the indexes from the records; return a sentence for each index that still lags."""
    if not services.settings.read_only:
        with services.progress("Indexing") as step:
            services.indexes.keep_up(step)
    return [
        f"The {role} index lags, what is new is found all the same: {reason}"
        for role, reason in services.indexes.lagging.items()
    ]


def embed_after(
    services: Services, collections: Iterable[str] = (), *, wanted: bool | None = None
) -> EmbedReport | None:
    """
    Embed the texts without vectors after documents of *collections* changed, if *wanted* or the settings say so.

    If neither says anything, a model of this machine does it for at most a minute. A model server may charge for the
    texts, and another model than that of the vault takes long.
    """
    if wanted is None and collections:
        wanted = services.settings.embeds(collections)
    waiting, clock = services.vault.embeddings.counts().pending, services.clock
    if wanted is False or (wanted is None and (services.settings.embed_server or not waiting)):
        return None
    end_ms = clock.now_ms() + QUICK_MS
    try:
        if wanted is None and not services.embed.serves:
            return None
        with services.progress("Embedding") as step:
            return services.embed(
                progress=step,
                go_on=lambda done, total: bool(wanted) or clock.now_ms() < end_ms,
            )
    except (EmbeddingError, ModelError) as error:
        return EmbedReport(stopped=True, error=str(error)) if wanted else None


def embed_new(services: Services) -> str:
    """Embed new notes if the vault has vectors; return what is to be done about those that have none."""
    if services.vault.embeddings.fingerprint() is None:
        return ""
    settings = services.settings
    report = embed_after(services, wanted=settings.embeds(settings.collections) or None)
    fault = f"{report.error.rstrip('.')}. " if report and report.error else ""
    return f"{fault}Next: clawmem embed" if services.vault.embeddings.counts().pending else ""


@operation(Effect.REPEATABLE, text=str, route="/embed")
def embed(services: Services, force: Force = False) -> EmbedReport:
    """
    Embed new and changed text, so that it is found by meaning; with force, embed all of it again.

    Vectors of another model, or of a run with force, replace the old vectors when they are complete.
    """
    with services.progress("Embedding") as step:
        report = services.embed(force=force, progress=step)
    if report.stopped:
        raise EmbeddingError(
            f"Vectors: {report.embedded} made, then it ended: {(report.error or '').rstrip('.')}. What was made is kept. "
            "To go on, run: clawmem embed"
        )
    report.remarks = index_faults(services)
    return report


def read_folders(
    services: Services, folders: Iterable[Folder], *, force: bool = False, allow_empty: bool = False
) -> list[PassReport]:
    """Run one pass over each folder."""
    reports = []
    for folder in folders:
        with services.progress(f"Reading {folder.name}") as step:
            reports.append(services.update(folder, force=force, allow_empty=allow_empty, progress=step))
    return reports


def reading_of(services: Services, passes: list[PassReport], embedded: EmbedReport | None) -> Reading:
    """Return the *passes* with their sums and the state of the vault."""
    return Reading(
        collections=passes,
        added=sum(report.added for report in passes),
        updated=sum(report.updated for report in passes),
        unchanged=sum(report.unchanged for report in passes),
        removed=sum(report.removed for report in passes),
        pending=services.vault.embeddings.counts().pending,
        embed=embedded,
        remarks=[
            *services.forgotten_places.warnings(),
            *(leftover_sentence(name, documents) for name, documents in services.leftovers.items()),
            *index_faults(services),
        ],
    )


def reading_text(result: Reading) -> Iterator[str]:
    """Yield lines with the results of the passes and the next step."""
    for report in result.collections:
        yield str(report)
        if report.excluded:
            rules = few([f"{count} by {rule}" for rule, count in report.excluded.items()], 5)
            yield f"  Excluded files and folders: {rules}. For the reason, run: clawmem doctor FILE"
        yield from (f"  {problem}" for problem in report.problems)
    if not result.collections:
        yield "No collections yet. Run: clawmem bootstrap PATH"
    if result.embed:
        yield str(result.embed)
    if result.pending and (result.embed is None or result.embed.paused):
        yield f"{result.pending} texts wait for vectors. Next: clawmem embed"


@operation(
    Effect.REPEATABLE,
    name="reindex",
    text=reading_text,
    route="/reindex",
    commands=(Command("update"),),
    opens=Opening.CREATED,
)
def update(
    services: Services,
    collection: Collections = "",
    pull: Annotated[
        bool, "Run each collection's update command first.", Option(("--pull",), tool=None)
    ] = False,
    force: Annotated[bool, "Read also the files that look unchanged.", Option(("--all",), tool=None)] = False,
    embed: EmbedOrNot = None,
    allow_empty: AllowEmpty = False,
) -> Reading:
    """
    Read new and changed files of every collection, and make missing vectors for at most a minute.

    With a model server vectors are made only on request or where the config file says autoEmbed.
    """
    if pull and services.caller != PERSON:
        raise InvalidInput("INVALID_INPUT", "Commands of the config file run on the command line alone.")
    known = {folder.name: folder for folder in services.folders}
    names = listed(collection) or [*known]
    if strangers := [name for name in names if name not in known]:
        raise NotFound("collection", strangers[0], suggestions=[*known])
    passes = []
    for name in names:
        command, place = services.settings.collections[name].update, services.settings.collections[name].path
        if pull and command and (fault := services.run_command(command, place)):
            passes.append(PassReport(name, unread=1, problems=[f"skipped: {fault}"]))
        else:
            passes += read_folders(services, [known[name]], force=force, allow_empty=allow_empty)
    return reading_of(services, passes, embed_after(services, names, wanted=embed))


@operation(
    Effect.READS,
    commands=(Command("doctor"),),
    is_tool=False,
    in_own_process=True,
    opens=Opening.IF_PRESENT,
)
def why_not(
    services: Services,
    path: Annotated[str, "Its path; or its collection and path, such as notes/a.md.", argument("FILE")],
) -> FileStatus:
    """
    Explain whether a file is indexed, and why not.

    It names the rule that excludes a file, with its file and line, and what to do about it.
    """
    return services.explain_file(path)
