"""Upkeep by itself: lanes status, run, undo."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.cli.command_line import Verbs
from clawmem.app.cli.session import opened, wants_json
from clawmem.domain.maintenance.schedule import LaneName

if TYPE_CHECKING:
    from clawmem.app.services.maintenance.lanes import Ticked
    from clawmem.ports.journal import Run

cli = typer.Typer(rich_markup_mode=None)
lanes = typer.Typer(
    cls=Verbs,
    rich_markup_mode=None,
    help="Upkeep by itself: repeated observations merged, conclusions drawn.",
)
cli.add_typer(lanes, name="lanes")

BY = "cli"
FAILED = 1


@cli.callback()
def _verbs() -> None:
    """One verb, and still a group: the command line loads verbs by their names."""


@lanes.command()
def status(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="How many runs.")] = 10,
) -> None:
    """Who works in which lane, and what was done last or why nothing was."""
    from clawmem.app.cli.rendering import show, show_json, show_table

    with opened(ctx, read_only=True) as services:
        now_ms = services.clock.now_ms()
        held = {one: services.vault.leases.current(one.lease, now_ms=now_ms) for one in LaneName}
        runs = services.vault.journal.runs(limit)
    if wants_json(ctx):
        workers = {one.value: lease.holder if lease else None for one, lease in held.items()}
        show_json({"workers": workers, "runs": [_record(run) for run in runs]})
        return
    for name, lease in held.items():
        show(f"{name}: {f'{lease.holder} works' if lease else 'nobody works'}")
    if runs:
        rows = [
            (
                run.started_at[:16].replace("T", " "),
                run.lane,
                run.phase,
                run.status,
                run.reason,
                run.selected,
                run.created,
                run.rejected,
            )
            for run in runs
        ]
        show_table(("when", "lane", "phase", "status", "reason", "seen", "made", "refused"), rows)


@lanes.command()
def run(
    ctx: typer.Context,
    lane: Annotated[LaneName, typer.Option(help="Small work often, or large work at quiet times.")],
    now: Annotated[bool, typer.Option("--now", help="Whatever the hour, and though questions come.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Let the light lane merge, not only say what.")
    ] = False,
    keep_on: Annotated[
        bool, typer.Option("--keep-on", help="Work on at the lane's pace, until Ctrl-C.")
    ] = False,
) -> None:
    """Let a lane work once, if no other process does. The light lane says what it would merge."""
    from clawmem.app.cli.watch import _until_told

    stop = _until_told() if keep_on else None
    with opened(ctx) as services:
        service = services.lanes(light_applies=apply)
        if stop is not None:
            service.serve(lane, stop, lambda ticked: _show(ctx, ticked))
            return
        ticked = service.tick(lane, now=now)
    _show(ctx, ticked)
    if any(one.status == "failed" for one in ticked.runs):
        raise typer.Exit(FAILED)


@lanes.command()
def undo(
    ctx: typer.Context,
    note: Annotated[
        list[str], typer.Argument(metavar="NOTE...", help="What stands for others: path or #docid.")
    ],
) -> None:
    """Serve again what a note was put in the place of; they are not merged again."""
    from clawmem.app.cli.rendering import show, show_json

    with opened(ctx) as services:
        target = services.find_target(" ".join(note)).sure()
        restored = services.consolidation().restore(target.id, BY)
    paths = [one.display_path for one in restored]
    if wants_json(ctx):
        show_json({"undone": target.display_path, "restored": paths})
    elif paths:
        show(f"{target.display_path} stands for nothing any more. Served again: {', '.join(paths)}")
    else:
        show(f"{target.display_path} was put in the place of nothing.")


def _show(ctx: typer.Context, ticked: Ticked) -> None:
    from clawmem.app.cli.rendering import show, show_json

    groups = ticked.consolidated.groups if ticked.consolidated else ()
    if wants_json(ctx):
        found = [
            {"text": g.text, "why": g.why, "notes": [one.document.display_path for one in g.members]}
            for g in groups
        ]
        show_json({"lane": ticked.lane, "runs": [_record(one) for one in ticked.runs], "groups": found})
        return
    show(ticked.summary)
    for group in groups:
        show(f"  {group.text} ({len(group.members)} notes, {group.why})")


def _record(one: Run) -> dict[str, Any]:
    return asdict(one)
