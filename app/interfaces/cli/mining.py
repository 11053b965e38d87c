"""The command mine; with ``--watch`` it imports again whenever sessions grow, until it is interrupted."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from clawmem.app.interfaces.cli.operations import CALLER, command_of, commands_in
from clawmem.app.interfaces.cli.rendering import progress, stop_event
from clawmem.app.interfaces.cli.session import opened, settings_of, show_outcome
from clawmem.app.operations.importing import Mine, checked, mine, mined_text
from clawmem.app.operations.operation import record_of, with_signature
from clawmem.app.operations.output import as_lines
from clawmem.ports.errors import InvalidInput

EVERY_S = 30.0  # a session that is written at this moment grows for minutes

_mine_once = command_of(mine, mine.commands[0])


def _mine(ctx: typer.Context, *, watch: bool = False, every: float = EVERY_S, **given: Any) -> None:
    if not watch:
        _mine_once(ctx, **given)
        return
    if given["forget"] or given["dry_run"] or given["preview"]:
        raise InvalidInput(
            "INVALID_INPUT", "--watch imports again and again. Leave out --forget, --dry-run and --preview."
        )
    chosen = {name: value for name, value in given.items() if name in mine.request.model_fields}
    request = Mine.model_validate({name: value for name, value in chosen.items() if value is not None})
    checked(settings_of(ctx), request)
    stop = stop_event()
    with opened(ctx, create=True) as services:
        first = True
        while not stop.is_set():
            result = mine.run(services.called_by(CALLER, progress), request)
            if first or result.sources or result.faults:
                show_outcome(ctx, record_of(result), as_lines(mined_text(result)))
            first = False
            stop.wait(every)


_mine.__doc__ = mine.about
_WATCH = Annotated[
    bool, typer.Option("--watch", help="Import again when sessions grow, until Ctrl-C.", show_default=False)
]
_EVERY = Annotated[float, typer.Option("--every", min=1.0, metavar="SECONDS", help="Pause of --watch.")]
run = with_signature(
    _mine,
    [
        *signature(_mine_once).parameters.values(),
        Parameter("watch", Parameter.KEYWORD_ONLY, default=False, annotation=_WATCH),
        Parameter("every", Parameter.KEYWORD_ONLY, default=EVERY_S, annotation=_EVERY),
    ],
)
cli = commands_in(("importing",), "mine", {"mine": run})
