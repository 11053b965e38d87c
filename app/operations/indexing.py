"""Reading of the folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os.path import abspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.operations.embedding import (
    Force,
    Upkeep,
    embed_after,
    embed_line,
    lagging_indexes,
    model_failed,
    pending_texts,
)
from clawmem.app.operations.fields import listed
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.services.indexing.collections import leftover_sentence
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.file_status import FileState
from clawmem.app.services.indexing.update import PassInterrupted, PassReport
from clawmem.domain.documents.address import unicode_forms
from clawmem.domain.documents.identity import display_path, parse_virtual_path
from clawmem.domain.documents.ignoring import Exclusion
from clawmem.ports.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder


def _file_or_address(text: str) -> Path:
    """Return the absolute path of a file; the relative ``c/a.md`` for an address such as ``clawmem://c/a.md``."""
    if address := parse_virtual_path(text):
        return Path(display_path(*address))
    return Path(abspath(Path(text).expanduser()))  # noqa: PTH100  resolves no links


class FileReport(Result):
    """The status of a file, with the reason and the next step."""

    path: str
    state: FileState
    reason: str
    remedy: str = ""
    collection: str | None = None
    rule: Exclusion | None = None


def _existing(services: Services, path: Path) -> Path:
    """Return *path*, or the file of that address: the name of a collection and a path in it."""
    for form in map(Path, unicode_forms(str(path))):
        if form.is_absolute() and (form.exists() or form.is_symlink()):
            return form
    relative = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    name, *rest = relative.parts or ("",)
    root = services.settings.roots.get(name)
    return Path(root, *rest) if root and rest else path


INCOMPLETE = 1  # exit code
NO_COLLECTIONS = "No collections yet. Run: clawmem collection add PATH"
SOURCES_SHOWN = 5  # files with rules that the summary of a pass names
PERSON = "cli"  # the interface whose user may name any folder

Names = Annotated[
    str | list[str],
    Field(description="Only these collections, in a list or with commas; all without."),
    Option(("-c", "--collection"), tool=None),
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

    @property
    def exit_code(self) -> int:
        """Return 1 where a collection was skipped, a file or folder could not be read, or the model failed."""
        is_whole = not self.failed and not any(report.unread for report in self.collections)
        return 0 if is_whole and not model_failed(self.embed) else INCOMPLETE


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
    wanted = set(listed(names))
    known = [folder.name for folder in services.folders]
    if strangers := sorted(wanted.difference(known)):
        raise NotFound("collection", strangers[0], suggestions=known)
    return [folder for folder in services.folders if not wanted or folder.name in wanted]


def _pulled(services: Services) -> dict[str, str]:
    """Run the update commands of the collections; return the reason for each collection whose command failed."""
    if services.caller != PERSON:
        raise InvalidInput("INVALID_INPUT", "Commands of the config file run on the command line alone.")
    outcomes = {
        name: services.run_command(collection.update, collection.path)
        for name, collection in services.settings.collections.items()
        if collection.update
    }
    return {name: reason for name, reason in outcomes.items() if reason}


def sums_of(services: Services, passes: list[PassReport]) -> dict[str, Any]:
    """Return the fields of a `Reading` that follow from its passes."""
    sums = {
        name: sum(getattr(report, name) for report in passes)
        for name in ("added", "updated", "unchanged", "removed")
    }
    return {
        **sums,
        "collections": passes,
        "leftovers": services.leftovers,
        "pending": pending_texts(services),
        "lagging": lagging_indexes(services),
        "warnings": [*filter(None, [services.lost_vault]), *services.forgotten_places.warnings()],
    }


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
    return f"Excluded files and folders: {shown}{more}. For the reason, run: clawmem doctor FILE"


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
    return "\n".join(lines)


@operation(
    Effect.REPEATABLE,
    text=reading_text,
    route="/update",
    commands=(Command("update"),),
    is_tool=False,
    opens=Opening.CREATED,
    any_vault=False,
)
def update(
    services: Services,
    collection: Names = "",
    pull: Annotated[
        bool, Field(description="Run each collection's update command first."), Option(("--pull",))
    ] = False,
    force: Annotated[
        bool, Field(description="Read also the files that look unchanged."), Option(("--all",))
    ] = False,
    embed: EmbedOrNot = None,
    allow_empty: AllowEmpty = False,
) -> Reading:
    """
    Read new and changed files of every collection, and make the missing vectors if that takes less than a minute.

    With a model server vectors are made only on request or where the config file says autoEmbed.
    """
    failed = _pulled(services) if pull else {}
    folders = [folder for folder in _folders(services, collection) if folder.name not in failed]
    passes = read_folders(services, folders, force=force, allow_empty=allow_empty)
    embedded = embed_after(services, [folder.name for folder in folders], asked=embed)
    return Reading(**sums_of(services, passes), failed=failed, embed=embedded)


@operation(
    Effect.REPEATABLE,
    text=reading_text,
    route="/reindex",
    commands=(),
    opens=Opening.CREATED,
    any_vault=False,
)
def reindex(
    services: Services,
    collection: Names = "",
    force: Force = False,
    allow_empty: AllowEmpty = False,
) -> Reading:
    """
    Read the folders again, with force also the files that look unchanged, and make the missing vectors as update does.
    """
    return update(services, collection, force=force, allow_empty=allow_empty)


@operation(
    Effect.READS,
    text=lambda report: "\n".join(filter(None, [f"{report.path}: {report.reason}", report.remedy])),
    commands=(Command("doctor"),),
    is_tool=False,
    in_own_process=True,
    opens=Opening.IF_PRESENT,
    any_vault=False,
)
def why_not(
    services: Services,
    path: Annotated[
        Path,
        Field(description="Its path; or its collection and path, such as notes/a.md."),
        Option(metavar="FILE", is_argument=True, parser=_file_or_address),
    ],
) -> FileReport:
    """
    Explain whether a file is indexed, and why not.

    It names the rule that excludes a file, with its file and line, and what to do about it.
    """
    file = _existing(services, path)
    printable = os.fsencode(file).decode("utf-8", "backslashreplace")
    return FileReport(path=printable, **services.explain_file(file)._asdict())
