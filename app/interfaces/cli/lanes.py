"""Commands of the lanes; with ``--keep-on`` a command serves a lane until it is interrupted."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from clawmem.app.interfaces.cli.operations import command_of, commands_in
from clawmem.app.interfaces.cli.rendering import stop_event
from clawmem.app.interfaces.cli.session import opened, show_outcome
from clawmem.app.operations.lanes import lanes_run, report_of, report_text
from clawmem.app.operations.operation import record_of, with_signature
from clawmem.app.operations.output import as_lines
from clawmem.app.services.maintenance.lanes import LaneTick
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import InvalidInput

_run_once = command_of(lanes_run, lanes_run.commands[0])


def _run(ctx: typer.Context, *, keep_on: bool = False, **given: Any) -> None:
    if not keep_on:
        _run_once(ctx, **given)
        return
    if given["dry_run"]:
        raise InvalidInput("INVALID_INPUT", "--dry-run shows one tick. Leave out --keep-on.")

    lane = given["lane"]
    stop = stop_event()
    with opened(ctx) as services:

        def tell(ticked: LaneTick) -> None:
            report = report_of(services, ticked)
            show_outcome(ctx, record_of(report), as_lines(report_text(report)))

        services.lanes.serve(LaneName(lane), stop, tell)


_run.__doc__ = lanes_run.about
_KEEP_ON = Annotated[
    bool, typer.Option("--keep-on", help="Work on at the lane's pace, until Ctrl-C.", show_default=False)
]
_parameters = signature(_run_once).parameters.values()
run = with_signature(
    _run, [*_parameters, Parameter("keep_on", Parameter.KEYWORD_ONLY, default=False, annotation=_KEEP_ON)]
)
cli = commands_in(("lanes",), "lanes", {"lanes run": run})
