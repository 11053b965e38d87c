"""Collections and their indexing: collection, update, embed, reindex."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.config_file import typed_folder
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import (
    Force,
    chosen_by,
    kept_up,
    opened,
    settings_of,
    settings_of_usual,
    tell,
    wants_json,
)

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.operations.enriching import Enriched
    from clawmem.app.operations.output import Part
    from clawmem.app.records.collections import Collection
    from clawmem.app.services.indexing.embed import EmbedReport
    from clawmem.app.services.indexing.update import PassReport
    from clawmem.app.settings import Settings
    from clawmem.ports.documents import DocumentStore

cli = typer.Typer(rich_markup_mode=None)
collection = typer.Typer(cls=Verbs, rich_markup_mode=None, help="The folders that are remembered.")
cli.add_typer(collection, name="collection")

MODEL_FAILED = 6

Folder = Annotated[Path, typer.Argument(help="A folder of Markdown.", metavar="PATH", parser=typed_folder)]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Also remove every document of an emptied folder.")
]
Name = Annotated[
    str | None, typer.Option(help="Its name; made from the folder's otherwise.", show_default=False)
]
Pattern = Annotated[str, typer.Option(help="Which files below it are read.")]


@collection.command("add")
def add(
    ctx: typer.Context,
    path: Folder,
    name: Name = None,
    pattern: Pattern = "**/*.md",
    move: Annotated[
        bool, typer.Option("--move", help="The collection of that name was moved to this folder.")
    ] = False,
) -> None:
    """Add a folder as a collection; 'clawmem update' then reads it."""
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.indexing.leftovers import distrust_stamps

    settings = settings_of_usual(ctx, "collection add")
    chosen = added(settings, path, name, pattern, moved=move)
    if move and settings.vault.exists():
        with opened(ctx) as services:
            distrust_stamps(services.vault, chosen)
    if wants_json(ctx):
        show_json({"name": chosen, "path": path.expanduser().resolve(), "pattern": pattern})
    else:
        show(f"Collection {chosen}: {path.expanduser().resolve()} ({pattern}). Next: clawmem update")


@collection.command("list")
def list_all(ctx: typer.Context) -> None:
    """List the collections with their folders and numbers of documents."""
    from clawmem.app.interfaces.cli.rendering import Said, show_part
    from clawmem.app.records.collections import collections_of

    def part(settings: Settings, documents: DocumentStore | None) -> Part:
        from clawmem.app.interfaces.cli.rendering import json_part

        rows = collections_of(settings, documents)
        return json_part(rows) if wants_json(ctx) else _list_part(rows)

    def say(services: Services) -> Said:
        return Said([part(services.settings, services.vault.documents)])

    if chosen_by(ctx).hand_on or settings_of(ctx).vault.exists():
        tell(ctx, say)
    else:
        show_part(part(settings_of(ctx), None))


@collection.command("remove")
def remove(ctx: typer.Context, name: Annotated[str, typer.Argument(help="Its name.")]) -> None:
    """Remove a collection: its files stay, its documents are no longer found."""
    from clawmem.app.config_file import remove_collection
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.ports.errors import NotFound

    settings = settings_of_usual(ctx, "collection remove")
    try:
        remove_collection(settings.config_file, name)
    except NotFound:
        if not settings.vault.exists() or not (withdrawn := _withdraw(ctx, name, leftover=True)):
            raise
    else:
        withdrawn = _withdraw(ctx, name) if settings.vault.exists() else 0
    if wants_json(ctx):
        show_json({"name": name, "withdrawn": withdrawn})
    else:
        show(f"Collection {name} removed; {withdrawn} of its documents were served until now.")


@cli.command()
def update(
    ctx: typer.Context,
    pull: Annotated[bool, typer.Option("--pull", help="Run each collection's update command first.")] = False,
    embed: Annotated[bool, typer.Option("--embed", help="Then make the vectors that are missing.")] = False,
    allow_empty: AllowEmpty = False,
) -> None:
    """Read new and changed files of every collection."""
    lost = without_vault(settings_of_usual(ctx, "update"))
    with opened(ctx, create=True) as services:
        failed = _pull_all(services.settings) if pull else {}
        reports = run_update(services, skip=failed, allow_empty=allow_empty)
        embedded = run_embed(services) if embed else None
        _show_update(ctx, services, reports, failed, embedded)
        show_lag([*lost, *kept_up(services)])
    raise typer.Exit(1 if failed else 0)


@cli.command()
def reindex(
    ctx: typer.Context,
    force: Force = False,
    enrich: Annotated[
        bool, typer.Option("--enrich", help="Then enrich what waits or another model made.")
    ] = False,
    allow_empty: AllowEmpty = False,
) -> None:
    """Read every collection again; with --force also the files that look unchanged."""
    lost = without_vault(settings_of_usual(ctx, "reindex"))
    with opened(ctx, create=True) as services:
        reports = run_update(services, force=force, allow_empty=allow_empty)
        enriched = _enrich(services) if enrich else None
        _show_update(ctx, services, reports, {}, None, enriched)
        show_lag([*lost, *kept_up(services)])


@cli.command("embed")
def embed_pending(ctx: typer.Context, force: Force = False) -> None:
    """
    Embed new and changed text; with --force embed all of it again.

    Vectors of another model, or of a run with --force, replace the old vectors when they are complete.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json

    with opened(ctx) as services:
        report = run_embed(services, force=force)
        lag = kept_up(services)
    if wants_json(ctx):
        show_json(report)
    else:
        show(embed_line(report))
    show_lag(lag)
    raise typer.Exit(MODEL_FAILED if report.stopped or report.waiting_for else 0)


def added(settings: Settings, path: Path, name: str | None, pattern: str, *, moved: bool = False) -> str:
    """
    Write a collection into the config file and return its name.

    A folder that is the home folder, or contains it, causes a warning, and on a terminal a question.
    """
    from clawmem.app.config_file import (
        add_collection,
        breadth_warning,
        existing_folder,
        name_for,
        refuse_second,
    )

    folder = existing_folder(path)
    taken = {name: one.path for name, one in settings.collections.items()}
    chosen = name_for(folder, name, taken, moved=moved)
    known = {name: (one.path, one.pattern) for name, one in settings.collections.items()}
    refuse_second(folder, pattern, chosen, known)
    warning = breadth_warning(folder, Path.home().resolve())
    if warning and sys.stdin.isatty() and sys.stderr.isatty():
        typer.confirm(f"{warning} Add it all the same?", abort=True, err=True)
    add_collection(settings.config_file, chosen, folder, pattern)
    if warning:
        typer.echo(f"warning: {warning} Undo: clawmem collection remove {chosen}", err=True)
    return chosen


def run_update(
    services: Services,
    *,
    force: bool = False,
    skip: dict[str, str] | None = None,
    allow_empty: bool = False,
) -> list[PassReport]:
    """
    Run one pass over every collection that is not in *skip*.

    Ctrl-C prints the committed counts on stderr, and the exception propagates to the caller.
    """
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.services.indexing.update import PassInterrupted

    reports: list[PassReport] = []
    for folder in services.folders:
        if folder.name in (skip or {}):
            continue
        try:
            with progress(f"Reading {folder.name}") as step:
                reports.append(services.update(folder, force=force, allow_empty=allow_empty, progress=step))
        except PassInterrupted as stopped:
            kept = "\n".join(map(update_line, [*reports, stopped.report]))
            typer.echo(f"{kept}\nNot finished. Run the same command again to continue.", err=True)
            raise
    for sentence in services.forgotten_places.warnings():
        typer.echo(sentence, err=True)
    return reports


def run_embed(services: Services, *, force: bool = False) -> EmbedReport:
    """Embed the texts that have no vectors yet."""
    from clawmem.app.interfaces.cli.progress import progress

    with progress("Embedding") as step:
        return services.embed(force=force, progress=step)


def update_line(report: PassReport) -> str:
    """Return the counts of one pass as a line."""
    counts = f"{report.added} added, {report.updated} updated, {report.removed} removed"
    return f"{report.collection}: {counts}, {report.unchanged} unchanged"


def embed_line(report: EmbedReport) -> str:
    """Return the result of one embedding run as a line."""
    failed = f", {report.failed} attempts failed ({report.error})" if report.failed else ""
    if report.stopped:
        why = (report.error or "").rstrip(".")
        failed = f", then it ended: {why}. What was made is kept. To go on, run: clawmem embed"
    cleaned = f", {report.cleaned} no longer needed" if report.cleaned else ""
    taken = f" They took the place of those of {report.replaced!r}." if report.replaced else ""
    if report.waiting_for:
        taken = f" Those of {report.waiting_for!r} go on answering: {report.error}. Look with: clawmem doctor"
    sketched = f", and sketches of {report.sketched} lines" if report.sketched else ""
    said = f"Vectors: {report.embedded} made{sketched}{cleaned}{failed}"
    return said if report.stopped else f"{said}.{taken}"


def without_vault(settings: Settings) -> list[str]:
    """Return the sentence that a new vault replaces a lost one; an empty list without remains of a lost vault."""
    from clawmem.app.places import is_there

    if is_there(settings.vault) or not any(settings.vault.parent.glob(f"{settings.vault.name}*")):
        return []
    sentence = (
        f"The vault {settings.vault} was lost; a new one was made. Pins, snoozes, the diary and captured memories "
        "of the lost vault are not in it: they return only with a copy of that file."
    )
    return [sentence]


def show_lag(sentences: list[str]) -> None:
    """Print sentences about the vault on stderr: a new vault, an index that could not be brought up to date."""
    for sentence in sentences:
        typer.echo(sentence, err=True)


def _show_update(
    ctx: typer.Context,
    services: Services,
    reports: list[PassReport],
    failed: dict[str, str],
    embedded: EmbedReport | None,
    enriched: Enriched | None = None,
) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json

    if wants_json(ctx):
        more = {"enrich": enriched.model_dump()} if enriched else {}
        show_json({"collections": reports, "failed": failed, "embed": embedded, **more})
        return
    for line in update_lines(services, reports, failed, embedded):
        show(line)
    if enriched:
        from clawmem.app.operations.enriching import enriched_text

        show(enriched_text(enriched))


def update_lines(
    services: Services,
    reports: list[PassReport],
    failed: dict[str, str],
    embedded: EmbedReport | None,
) -> list[str]:
    """Return lines with the results of a pass and the next step."""
    from clawmem.app.services.indexing.leftovers import leftover_sentence

    lines = [f"{name}: skipped: {reason}" for name, reason in failed.items()]
    for report in reports:
        lines += [update_line(report), *(f"  {problem}" for problem in report.problems)]
    lines += [leftover_sentence(name, documents) for name, documents in services.leftovers.items()]
    if not reports and not failed:
        lines.append("No collections yet. Run: clawmem collection add PATH")
    pending = services.vault.embeddings.counts().pending
    if embedded:
        lines.append(embed_line(embedded))
    elif pending:
        lines.append(f"{pending} texts wait for vectors. Next: clawmem embed")
    return lines


def _enrich(services: Services) -> Enriched:
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.operations.enriching import EnrichRequest, enrich

    result = enrich(services.called_by("cli", progress), EnrichRequest(all=True))
    for remark in result.remarks:
        typer.echo(remark, err=True)
    return result


def _pull_all(settings: Settings) -> dict[str, str]:
    """Run the update commands of the collections; return the reason for each collection whose command failed."""
    commands = {name: one for name, one in settings.collections.items() if one.update}
    outcomes = {name: _pull(str(one.update), one.path) for name, one in commands.items()}
    return {name: reason for name, reason in outcomes.items() if reason}


def _pull(command: str, folder: Path) -> str | None:
    import subprocess

    try:
        done = subprocess.run(
            command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        return f"{command!r} could not be run: {error.strerror}"
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return (
        f"{command!r} ended with {done.returncode}: {said[-1] if said else ''}" if done.returncode else None
    )


def _list_part(rows: list[Collection]) -> Part:
    from clawmem.app.operations.output import table

    if not rows:
        return "No collections yet. Run: clawmem collection add PATH"
    lines = [
        (one["name"], one["documents"], one["trust"], one["pattern"] or "", one["path"] or "") for one in rows
    ]
    return table(("name", "documents", "trust", "pattern", "path"), lines)


def _withdraw(ctx: typer.Context, name: str, *, leftover: bool = False) -> int:
    """
    Stop serving a collection and return the number of its documents.

    With *leftover*, only a collection that is no longer configured is removed.
    """
    from clawmem.app.services.indexing.leftovers import withdraw_collection

    with opened(ctx) as services:
        if leftover and name not in services.leftovers:
            return 0
        return withdraw_collection(services.vault, name)
