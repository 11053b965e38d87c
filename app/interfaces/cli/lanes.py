"""Scheduled maintenance: lanes status, journal, run, undo."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.interfaces.cli.addresses import Named, named_note
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import opened, settings_of, tell, wants_json
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import CommandOutput
    from clawmem.app.operations.output import Part
    from clawmem.app.services.maintenance.account import RunDescription
    from clawmem.app.services.maintenance.lanes import LaneTick
    from clawmem.ports.journal import Run

cli = typer.Typer(rich_markup_mode=None)
lanes = typer.Typer(
    cls=Verbs,
    rich_markup_mode=None,
    help="Scheduled maintenance: enrich notes, merge repeated observations, draw conclusions.",
)
cli.add_typer(lanes, name="lanes")

BY = "cli"
FAILED = 1

HowMany = Annotated[int, typer.Option("-n", "--limit", min=1, help="Number of runs.")]


@cli.callback()
def _verbs() -> None:
    """Make the command line a group even with one command."""


@lanes.command()
def status(ctx: typer.Context, limit: HowMany = 10) -> None:
    """
    Show the lanes: workers, next runs, trends of merged notes.

    The last runs follow.
    """

    def say(services: Services) -> CommandOutput:
        from clawmem.app.interfaces.cli.rendering import CommandOutput, json_part

        told, runs = _told(services), services.vault.journal.runs(limit)
        if wants_json(ctx):
            return CommandOutput([json_part({**told, "runs": [asdict(run) for run in runs]})])
        return CommandOutput([*_status_parts(told), *([_runs_part(runs)] if runs else [])])

    tell(ctx, say)


@lanes.command()
def journal(
    ctx: typer.Context,
    limit: HowMany = 20,
    lane: Annotated[LaneName | None, typer.Option(help="Of one lane.", show_default=False)] = None,
) -> None:
    """
    List the runs, newest first, with each decision and its reason.

    A run without work is listed with the reason.
    """

    def say(services: Services) -> CommandOutput:
        from clawmem.app.interfaces.cli.rendering import CommandOutput, json_part
        from clawmem.app.operations.output import printable
        from clawmem.app.services.maintenance.account import describe_run

        runs = services.vault.journal.runs(limit, lane.value if lane else "")
        accounts = [describe_run(services.vault, run) for run in runs]
        if wants_json(ctx):
            return CommandOutput([json_part({"runs": [_record(one) for one in accounts]})])
        return CommandOutput([*map(printable, map(_journal_text, accounts))])

    tell(ctx, say)


@lanes.command()
def run(
    ctx: typer.Context,
    lane: Annotated[LaneName, typer.Option(help="Small work often, or large work at quiet times.")],
    now: Annotated[
        bool, typer.Option("--now", help="Run outside of the quiet hours and while questions are asked.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the effects of the rules; write nothing.")
    ] = False,
    keep_on: Annotated[
        bool, typer.Option("--keep-on", help="Work on at the lane's pace, until Ctrl-C.")
    ] = False,
) -> None:
    """
    Run a lane once, unless another process works in it.

    With --dry-run it works on a temporary copy of the vault, by rules alone.
    """
    if dry_run:
        _rehearse(ctx, lane, now=now, keep_on=keep_on)
        return
    from clawmem.app.interfaces.cli.progress import stop_event

    stop = stop_event() if keep_on else None
    with opened(ctx) as services:
        service = services.lanes()
        if stop is not None:
            service.serve(lane, stop, lambda ticked: _show(ctx, services, ticked))
            return
        ticked = service.tick(lane, now=now)
        _show(ctx, services, ticked)
    _fail_if_failed(ticked)


@lanes.command()
def undo(
    ctx: typer.Context,
    note: Named,
) -> None:
    """
    Undo a merge: serve the original notes again.

    The notes are not merged again.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json

    with opened(ctx) as services:
        target = named_note(ctx, services.lookup.target, note)
        restored = services.consolidation().restore(target.id, BY)
    paths = [one.display_path for one in restored]
    if wants_json(ctx):
        show_json({"undone": target.display_path, "restored": paths})
    elif paths:
        show(f"{target.display_path} stands for nothing any more. Served again: {', '.join(paths)}")
    else:
        show(f"{target.display_path} was put in the place of nothing.")


def _rehearse(ctx: typer.Context, lane: LaneName, *, now: bool, keep_on: bool) -> None:
    """Run one tick on a copy of the vault and show its result."""
    from clawmem.app.bootstrap.opening import open_copy
    from clawmem.app.interfaces.cli.rendering import show

    if keep_on:
        raise InvalidInput("INVALID_INPUT", "--dry-run shows one tick. Leave out --keep-on.")
    with open_copy(settings_of(ctx)) as services:
        ticked = services.lanes(asks_models=False).tick(lane, now=now)
        if not wants_json(ctx):
            show("Dry run: nothing was written, and no model was asked.")
        marked = (replace(one, metrics={**one.metrics, "dry_run": True}) for one in ticked.runs)
        _show(ctx, services, ticked._replace(runs=tuple(marked)), dry_run=True)
    _fail_if_failed(ticked)


def _fail_if_failed(ticked: LaneTick) -> None:
    if any(one.status == "failed" for one in ticked.runs):
        raise typer.Exit(FAILED)


def _told(services: Services) -> dict[str, Any]:
    """Return the state of the lanes."""
    from collections import Counter

    from clawmem.app.services.maintenance.choosing import ObservationSelector
    from clawmem.app.services.maintenance.lane_plan import read_plan
    from clawmem.app.services.maintenance.trends import trends
    from clawmem.domain.documents.times import iso_utc

    plan, vault, now_ms = read_plan(services.settings.lanes), services.vault, services.clock.now_ms()
    held = {one.value: vault.leases.current(one.lease, now_ms=now_ms) for one in LaneName}
    service = services.lanes()
    found = trends(vault, ObservationSelector(vault).newest(0).among, now_ms)
    return {
        "workers": {name: lease.holder if lease else None for name, lease in held.items()},
        "on": [one.value for one in plan.hosted],
        "due_s": {one.value: round(service.left_ms(one) / 1000) for one in LaneName},
        "calls_today": vault.ledger.calls_on(iso_utc(now_ms)[:10]),
        "daily_calls": plan.daily_calls,
        "trends": dict(Counter(one.trend.value for one in found)),
    }


def _status_parts(told: dict[str, Any]) -> Iterator[Part]:
    for name, holder in told["workers"].items():
        due = f", due in {told['due_s'][name]} s" if name in told["on"] else ", off"
        yield f"{name}: {f'{holder} works' if holder else 'nobody works'}{due}"
    yield f"calls of models today: {told['calls_today']} of {told['daily_calls']}"
    if told["trends"]:
        trends = ", ".join(f"{count} {name}" for name, count in told["trends"].items())
        yield f"notes that stand for others: {trends}"


def _runs_part(runs: Sequence[Run]) -> Part:
    from clawmem.app.operations.output import table

    rows = [
        (_when(r.started_at), r.lane, r.phase, r.status, r.reason, r.selected, r.created, r.rejected)
        for r in runs
    ]
    return table(("when", "lane", "phase", "status", "reason", "seen", "made", "refused"), rows)


def _journal_text(one: RunDescription) -> str:
    first, *rest = one.lines()
    return "\n".join([f"{_when(one.run.started_at)} {one.run.lane} {first}", *rest])


def _show(ctx: typer.Context, services: Services, ticked: LaneTick, *, dry_run: bool = False) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.maintenance.account import describe_run

    accounts = [describe_run(services.vault, one) for one in ticked.runs]
    if wants_json(ctx):
        more = {"dry_run": True} if dry_run else {}
        show_json({"lane": ticked.lane, **more, "runs": [_record(one) for one in accounts]})
        return
    show(ticked.summary)
    for one in accounts:
        for line in list(one.lines())[1:]:
            show(line)


def _record(one: RunDescription) -> dict[str, Any]:
    return {**asdict(one.run), "decisions": one.decisions}


def _when(at: str) -> str:
    return at[:16].replace("T", " ")
