"""Commands for the vault: init, bootstrap, status, index-stats, doctor, verify, path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.interfaces.cli.collections import (
    Folder,
    Name,
    added,
    run_embed,
    run_update,
    update_lines,
    without_vault,
)
from clawmem.app.interfaces.cli.session import (
    kept_up,
    opened,
    settings_of,
    settings_of_usual,
    tell,
    wants_json,
)
from clawmem.app.places import client_folder, client_servers

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.services.maintenance.status import StatusReport
    from clawmem.app.settings import Settings

cli = typer.Typer(rich_markup_mode=None)

DIFFERENCES = 7


@cli.command()
def init(ctx: typer.Context) -> None:
    """Create the vault and the config folder; keep existing ones."""
    from clawmem.app.config_file import make_config_folder
    from clawmem.app.interfaces.cli.rendering import show, show_json

    with opened(ctx, create=True) as services:
        make_config_folder(services.settings.config_file)
        places = _places(services.settings)
    if wants_json(ctx):
        show_json(places)
    else:
        show(f"Vault: {places['vault']}\nConfig: {places['config']}\nNext: clawmem collection add PATH")


@cli.command()
def bootstrap(
    ctx: typer.Context,
    path: Folder,
    name: Name = None,
    skip_embed: Annotated[bool, typer.Option("--skip-embed", help="Make no vectors.")] = False,
    hooks: Annotated[bool, typer.Option("--hooks", help="And: clawmem setup hooks.")] = False,
) -> None:
    """
    Add and index a folder in one step. Safe to repeat.

    Runs init, collection add, update and embed.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json

    settings = settings_of_usual(ctx, "bootstrap")
    lost = without_vault(settings)
    chosen = _remembered(settings, path, name)
    with opened(ctx, create=True) as services:
        reports = run_update(services)
        embedded = None if skip_embed else run_embed(services)
        lines = [*update_lines(services, reports, {}, embedded), *lost, *kept_up(services)]
        lines += _next_steps(chosen, services.vault.documents.collections().get(chosen, 0))
    if hooks:  # client settings are edited only on request
        from clawmem.app.interfaces.cli.setup import installed

        lines += installed(ctx)
    if wants_json(ctx):
        show_json({"name": chosen, "collections": reports, "embed": embedded})
    else:
        show("\n".join(lines))


@cli.command()
def status(ctx: typer.Context) -> None:
    """Show the content of the vault and the state of its vectors."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.model_roles import role_rows
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.operations.output import table
        from clawmem.app.records.stats import status_of

        report, now_ms = status_of(services), services.clock.now_ms()
        if wants_json(ctx):
            return Said([json_part(report)])
        return Said([table(("what", "value"), [*_status_rows(report), *role_rows(report.roles, now_ms)])])

    tell(ctx, say, read_only=False)  # opened for writing, so that an older vault is migrated


@cli.command("index-stats")
def index_stats(ctx: typer.Context) -> None:
    """Show the vault in numbers, and its last sessions."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.operations.output import table
        from clawmem.app.records.stats import stats_of

        found = stats_of(services)
        if wants_json(ctx):
            return Said([json_part(found)])
        rows = {**found, "recent_sessions": ", ".join(one.id[:8] for one in found["recent_sessions"])}
        return Said([table(("what", "value"), rows.items())])

    tell(ctx, say)


@cli.command()
def doctor(ctx: typer.Context) -> None:
    """
    Check the vault and its environment; report remedies.

    It changes one thing: files of the vault, and the config file, are made private if other users can read them.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.interfaces.hooks.surfacing_choices import topics_place
    from clawmem.app.private_files import files_of_vault
    from clawmem.app.services.maintenance.disk_checks import disk_findings
    from clawmem.app.services.maintenance.permissions import permission_finding
    from clawmem.app.services.maintenance.server_checks import client_findings

    folder, servers, project = client_folder(os.environ), client_servers(os.environ), Path.cwd()
    # Checked before the vault is opened, because opening makes its files private without a report.
    settings = settings_of(ctx)
    kept = [*files_of_vault(settings.vault), Path(topics_place(os.environ)), settings.config_file]
    private = permission_finding(kept)
    with opened(ctx, or_read=True) as services:
        full = disk_findings(services.settings.vault)
        findings = [*full, *services.doctor(), private, *client_findings(folder, servers, project)]
    if wants_json(ctx):
        show_json(findings)
    else:
        show("\n".join(_finding_lines(findings)))
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@cli.command()
def verify(ctx: typer.Context) -> None:
    """Compare files, records and indexes; exit code 7 on any difference."""
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.maintenance.skipped import spelled_out

    with opened(ctx, or_read=True) as services:  # for writing, to update lagging indexes
        lag = [] if services.settings.read_only else kept_up(services)
        differences = [*lag, *services.verify()]
        skipped = services.skipped()
    if wants_json(ctx):
        show_json(differences)
    else:
        show("\n".join(differences) or "Files, records and indexes agree.")
    if skipped:
        typer.echo(spelled_out(skipped), err=True)
    raise typer.Exit(DIFFERENCES if differences else 0)


@cli.command()
def path(ctx: typer.Context) -> None:
    """Print the path of the vault."""
    from clawmem.app.interfaces.cli.rendering import show_json

    places = _places(settings_of(ctx))
    if wants_json(ctx):
        show_json(places)
    else:
        typer.echo(places["vault"])


def _places(settings: Settings) -> dict[str, str]:
    return {"vault": str(settings.vault), "config": str(settings.config_file)}


def _remembered(settings: Settings, path: Path, name: str | None) -> str:
    """Return the collection of the folder *path*; add it to the config file if it is new."""
    from clawmem.app.config_file import existing_folder

    folder = existing_folder(path)
    for known, one in settings.collections.items():
        if one.path.resolve() == folder and name in (None, known):
            return known
    return added(settings, folder, name, "**/*.md")


def _next_steps(name: str, documents: int) -> list[str]:
    if documents:
        return ['Ready. Next: clawmem query "what you want to know"']
    nothing = (
        f"Nothing was indexed: no readable file of collection {name} matches its pattern. Check the folder, or run: "
        f"clawmem collection remove {name}, then clawmem collection add PATH --pattern 'GLOB'"
    )
    return [nothing]


def _status_rows(report: StatusReport) -> list[tuple[str, object]]:
    counts = report.embeddings
    vectors = f"{counts.stored} stored, {counts.pending} pending, {counts.failed} failed"
    info = report.info
    return [
        ("vault", f"{info.location} ({info.backend}, schema {info.schema}, {info.size_bytes / 1e6:.1f} MB)"),
        ("documents", report.documents),
        *((f"  {name}", count) for name, count in report.collections.items()),
        ("types", ", ".join(f"{name} {count}" for name, count in report.content_types.items()) or "none"),
        ("newest", report.newest or "none"),
        ("words", info.lexical_method),
        ("vectors", f"{vectors}, {counts.orphaned} orphaned ({info.vector_method})"),
        ("model", _model(report)),
        ("notes", _notes(report)),
        ("relations", ", ".join(f"{kind} {count}" for kind, count in report.relations.items()) or "none"),
        (
            "questions",
            f"{report.recalls} recorded, {report.receipts} receipts ({report.receipt_bytes / 1e3:.1f} kB)",
        ),
    ]


def _notes(report: StatusReport) -> str:
    counts = report.notes
    given_up = f", {counts.given_up} that a model failed on" if counts.given_up else ""
    waiting = f", {counts.waiting} documents wait; run: clawmem enrich" if counts.waiting else ""
    return f"{counts.notes}, {counts.by_model} by a model{given_up}{waiting}"


def _model(report: StatusReport) -> str:
    serving = report.model or "none yet; run: clawmem embed"
    if report.building is None:
        return serving
    new = f"{report.building.fingerprint} is {report.building.share:.0%} made"
    return f"{serving}, until the next one is complete: {new}; run: clawmem embed"


def _finding_lines(findings: list[Any]) -> list[str]:
    lines = []
    for finding in findings:
        way_out = f" {finding.way_out}" if finding.way_out and not finding.ok else ""
        lines.append(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.check}: {finding.detail}{way_out}")
    wrong = sum(not finding.ok for finding in findings)
    return [*lines, f"{wrong} of {len(findings)} checks found something." if wrong else "All is well."]
