"""Reading of the folders, and the vectors of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.operations.enriching import Enriched, EnrichRequest, enrich, enriched_text
from clawmem.app.operations.operation import Command, Effect, Opening, Operation, Option, Request, Result
from clawmem.app.services.indexing.collections import leftover_sentence
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.update import PassInterrupted, PassReport
from clawmem.domain.maintenance.quick_embedding import EmbeddingPace
from clawmem.ports.errors import EmbeddingError, InvalidInput, ModelError, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder

PULL_FAILED = 1
MODEL_FAILED = 6
NO_COLLECTIONS = "No collections yet. Run: clawmem collection add PATH"
SOURCES_SHOWN = 5  # files with rules that the summary of a pass names
PERSON = "cli"  # the interface whose user may name any folder

Names = Annotated[
    str | list[str],
    Field(description="Only these collections, in a list or with commas; all without."),
    Option(tool=None),
]
AllowEmpty = Annotated[
    bool,
    Field(description="Also remove every document of an emptied folder."),
    Option(("--allow-empty",), tool=None),
]
Embed = Annotated[
    bool, Field(description="Then make the vectors that are missing."), Option(("--embed",), tool=None)
]
EmbedOrNot = Annotated[
    bool | None,
    Field(
        description="Then make the missing vectors, or never; by default if that takes less than a minute."
    ),
    Option(("--embed/--no-embed",), tool=None),
]
Force = Annotated[bool, Field(description="Start over."), Option(("-f", "--force"), tool=None)]


class Update(Request):
    """The collections to read, and whether their texts are embedded."""

    collection: Names = ""
    pull: Annotated[
        bool, Field(description="Run each collection's update command first."), Option(("--pull",))
    ] = False
    embed: EmbedOrNot = None
    allow_empty: AllowEmpty = False


class Reindex(Request):
    """The collections to read again, and whether their documents are enriched."""

    collection: Names = ""
    force: Force = False
    enrich: Annotated[
        bool,
        Field(description="Then enrich new and changed documents, and those that another model described."),
        Option(("--enrich",)),
    ] = False
    allow_empty: AllowEmpty = False


class EmbedRequest(Request):
    """Whether all texts are embedded, or those without vectors."""

    force: Force = False


class Upkeep(Result):
    """Changes of the vault; ``lagging`` are the indexes that could not be updated, with reasons."""

    lagging: dict[str, str] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list, description="Sentences about the vault as a whole.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return sentences about the vault and its indexes."""
        return [*self.warnings, *lag_sentences(self.lagging)]


class Reading(Upkeep):
    """
    Passes over folders, and their sums.

    ``failed`` are collections that were skipped because their update command failed. ``leftovers`` are collections
    that are served but no longer configured, with their documents; ``pending`` texts wait for vectors.
    """

    collections: list[PassReport]
    added: int
    updated: int
    unchanged: int
    removed: int
    failed: dict[str, str] = Field(default_factory=dict)
    leftovers: dict[str, int] = Field(default_factory=dict)
    pending: int
    embed: EmbedReport | None = None
    enrich: Enriched | None = None

    @property
    def exit_code(self) -> int:
        """Return 1 where a collection was skipped."""
        return PULL_FAILED if self.failed else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return sentences about the vault, its indexes and its enrichment."""
        return [*super().remarks, *(self.enrich.remarks if self.enrich else ())]


class Embedded(Upkeep):
    """
    One run of the embedder: texts embedded, failed and waiting, and unused vectors that were deleted.

    ``replaced`` is the model whose vectors were replaced, ``waiting_for`` one whose vectors could not be.
    """

    embedded: int
    failed: int
    pending: int
    cleaned: int
    sketched: int
    error: str | None = None
    replaced: str | None = None
    waiting_for: str | None = None

    @property
    def exit_code(self) -> int:
        """Return 6 where the vectors of another model go on answering."""
        return MODEL_FAILED if self.waiting_for else 0


def update(services: Services, request: Update) -> Reading:
    """
    Read new and changed files of every collection, and make the missing vectors if that takes less than a minute.

    With a model server vectors are made only on request or where the config file says autoEmbed.
    """
    failed = _pulled(services) if request.pull else {}
    folders = [one for one in _folders(services, request.collection) if one.name not in failed]
    passes = read_folders(services, folders, allow_empty=request.allow_empty)
    wanted = (
        services.settings.embeds([one.name for one in folders]) if request.embed is None else request.embed
    )
    embedded = embed_quickly(services) if wanted is None else embed_texts(services) if wanted else None
    return Reading(**sums_of(services, passes), failed=failed, embed=embedded)


def reindex(services: Services, request: Reindex) -> Reading:
    """
    Read the folders again, with force also the files that look unchanged.

    It makes vectors only where the config file says autoEmbed, see embed.
    """
    folders = _folders(services, request.collection)
    passes = read_folders(services, folders, force=request.force, allow_empty=request.allow_empty)
    enriched = enrich(services, EnrichRequest(all=True)) if request.enrich else None
    embedded = embed_after(services, [one.name for one in folders])
    return Reading(**sums_of(services, passes), embed=embedded, enrich=enriched)


def embed(services: Services, request: EmbedRequest) -> Embedded:
    """
    Embed new and changed text, so that it is found by meaning; with force, embed all of it again.

    Vectors of another model, or of a run with force, replace the old vectors when they are complete.
    """
    report = embed_texts(services, force=request.force)
    if report.stopped:
        raise EmbeddingError(embed_line(report))
    counts = {name: getattr(report, name) for name in Embedded.model_fields if hasattr(report, name)}
    return Embedded(**counts, pending=_pending(services), lagging=lagging_indexes(services))


def read_folders(
    services: Services, folders: Iterable[Folder], *, force: bool = False, allow_empty: bool = False
) -> list[PassReport]:
    """
    Run one pass over each folder. A note of an interrupt has the committed counts.

    Raises:
        PassInterrupted: Ctrl-C; the next run continues.
    """
    reports: list[PassReport] = []
    for folder in folders:
        try:
            with services.progress(f"Reading {folder.name}") as step:
                reports.append(services.update(folder, force=force, allow_empty=allow_empty, progress=step))
        except PassInterrupted as stopped:
            done = "\n".join(map(update_line, [*reports, stopped.report]))
            stopped.add_note(f"{done}\nNot finished. Run the same command again to continue.")
            raise
    return reports


def _folders(services: Services, names: str | list[str]) -> list[Folder]:
    several = names.split(",") if isinstance(names, str) else names
    wanted = {name.strip() for name in several} - {""}
    known = [folder.name for folder in services.folders]
    if strangers := sorted(wanted.difference(known)):
        raise NotFound("collection", strangers[0], suggestions=known)
    return [folder for folder in services.folders if not wanted or folder.name in wanted]


def _pulled(services: Services) -> dict[str, str]:
    """Run the update commands of the collections; return the reason for each collection whose command failed."""
    if services.caller != PERSON:
        raise InvalidInput("INVALID_INPUT", "Commands of the config file run on the command line alone.")
    commands = {name: one for name, one in services.settings.collections.items() if one.update}
    outcomes = {
        name: services.adapters.run_command(str(one.update), one.path) for name, one in commands.items()
    }
    return {name: reason for name, reason in outcomes.items() if reason}


def sums_of(services: Services, passes: list[PassReport]) -> dict[str, Any]:
    """Return the fields of a `Reading` that follow from its passes."""
    sums = {
        name: sum(getattr(one, name) for one in passes)
        for name in ("added", "updated", "unchanged", "removed")
    }
    return {
        **sums,
        "collections": passes,
        "leftovers": services.leftovers,
        "pending": _pending(services),
        "lagging": lagging_indexes(services),
        "warnings": [*filter(None, [services.lost_vault]), *services.forgotten_places.warnings()],
    }


def _pending(services: Services) -> int:
    return services.vault.embeddings.counts().pending


def embed_texts(services: Services, *, force: bool = False) -> EmbedReport:
    """Embed the texts without vectors, or all with *force*."""
    with services.progress("Embedding") as step:
        return services.embed(force=force, progress=step)


def embed_after(
    services: Services, collections: Sequence[str], *, is_asked: bool = False
) -> EmbedReport | None:
    """Embed the texts without vectors after *collections* were read, if it *is_asked* or set for one of them."""
    return embed_texts(services) if is_asked or services.settings.embeds(collections) else None


def embed_quickly(services: Services) -> EmbedReport | None:
    """
    Embed the texts without vectors if a model of this machine does so within a minute; the second batch shows its pace.

    Return ``None`` without such texts, for a model server, which may charge for them, and if the vault has vectors of
    another model.
    """
    if services.settings.embed_server or not _pending(services):
        return None
    clock = services.clock
    pace = EmbeddingPace(clock.now_ms())
    try:
        embed = services.embed
        if not embed.serves:
            return None
        with services.progress("Embedding") as step:
            return embed(
                progress=step,
                go_on=lambda done, total: pace.is_quick(done, total, clock.now_ms()),
            )
    except (EmbeddingError, ModelError):  # the texts wait, and the answer says so
        return None


def embed_new(services: Services) -> str:
    """
    Embed the texts without vectors if the vault has vectors; return why they could not be embedded, if so.

    As after `update`, a model server makes them only where the config file says autoEmbed.
    """
    if services.vault.embeddings.fingerprint() is None:
        return ""
    if services.settings.embed_server and not services.settings.embeds(services.settings.collections):
        return "A model server makes vectors only on request."
    try:
        return embed_texts(services).error or ""
    except (EmbeddingError, ModelError) as error:
        return str(error)


def lagging_indexes(services: Services) -> dict[str, str]:
    """Update the indexes from the records; return the reason for each index that still lags."""
    if not services.settings.read_only:
        with services.progress("Indexing") as step:
            services.vault.keep_up(step)
    return {str(role): reason for role, reason in services.vault.lagging.items()}


def lag_sentences(lagging: Mapping[str, str]) -> list[str]:
    """Return a sentence for each index that could not be brought up to date."""
    return [
        f"The {role} index lags, what is new is found all the same: {reason}"
        for role, reason in lagging.items()
    ]


def update_line(report: PassReport) -> str:
    """Return the counts of one pass as a line."""
    counts = f"{report.added} added, {report.updated} updated, {report.removed} removed"
    return f"{report.collection}: {counts}, {report.unchanged} unchanged"


def excluded_line(report: PassReport) -> str:
    """Return how many files and folders each rule left out, most first; empty if none."""
    if not report.excluded:
        return ""
    counts = [f"{count} by {source}" for source, count in report.excluded.items()]
    more = "" if len(counts) <= SOURCES_SHOWN else f", and by {len(counts) - SOURCES_SHOWN} more files"
    shown = ", ".join(counts[:SOURCES_SHOWN])
    return f"Excluded files and folders: {shown}{more}. For the reason, run: clawmem why-not PATH"


def reading_text(result: Reading, vault: str = "") -> str:
    """Return lines with the results of the passes and the next step, for the usual vault or that of the name."""
    chosen = f"--vault {vault} " if vault else ""
    lines = [f"{name}: skipped: {reason}" for name, reason in result.failed.items()]
    for report in result.collections:
        below = [*filter(None, [excluded_line(report)]), *report.problems]
        lines += [update_line(report), *(f"  {sentence}" for sentence in below)]
    lines += [leftover_sentence(name, documents) for name, documents in result.leftovers.items()]
    if not result.collections and not result.failed:
        lines.append(NO_COLLECTIONS)
    if result.embed:
        lines.append(embed_line(result.embed))
    if result.pending and (result.embed is None or result.embed.paused):
        lines.append(f"{result.pending} texts wait for vectors. Next: clawmem {chosen}embed")
    if result.enrich:
        lines.append(enriched_text(result.enrich))
    return "\n".join(lines)


def embed_line(report: EmbedReport | Embedded) -> str:
    """Return the result of one embedding run as a line."""
    failed = f", {report.failed} attempts failed ({report.error})" if report.failed else ""
    sketched = f", and sketches of {report.sketched} lines" if report.sketched else ""
    cleaned = f", {report.cleaned} no longer needed" if report.cleaned else ""
    done = f"Vectors: {report.embedded} made{sketched}{cleaned}{failed}"
    if isinstance(report, EmbedReport) and report.stopped:
        why = (report.error or "").rstrip(".")
        return f"{done}, then it ended: {why}. What was made is kept. To go on, run: clawmem embed"
    if report.waiting_for:
        still = f"Those of {report.waiting_for!r} go on answering: {report.error}."
        return f"{done}. {still} Look with: clawmem doctor"
    return f"{done}. They took the place of those of {report.replaced!r}." if report.replaced else f"{done}."


OPERATIONS = (
    Operation(
        name="update",
        request=Update,
        result=Reading,
        run=update,
        effect=Effect.REPEATABLE,
        route="/update",
        commands=(Command("update", fixed={"collection": ""}),),
        text=reading_text,
        is_tool=False,
        opens=Opening.CREATED,
        any_vault=False,
    ),
    Operation(
        name="reindex",
        request=Reindex,
        result=Reading,
        run=reindex,
        effect=Effect.REPEATABLE,
        route="/reindex",
        commands=(Command("reindex", fixed={"collection": ""}),),
        text=reading_text,
        opens=Opening.CREATED,
        any_vault=False,
    ),
    Operation(
        name="embed",
        request=EmbedRequest,
        result=Embedded,
        run=embed,
        effect=Effect.REPEATABLE,
        route="/embed",
        commands=(Command("embed"),),
        text=embed_line,
    ),
)
