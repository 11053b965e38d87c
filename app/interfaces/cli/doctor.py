"""The command doctor, which checks the vault, or repairs it with ``--repair``."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from clawmem.app.interfaces.cli.operations import command_of, commands_in
from clawmem.app.operations.doctor import doctor
from clawmem.app.operations.operation import with_signature
from clawmem.app.operations.repair import repair
from clawmem.ports.errors import InvalidInput

_check = command_of(doctor, doctor.commands[0])
_repair = command_of(repair, repair.commands[0])


def _doctor(ctx: typer.Context, *, repairs: bool, **given: Any) -> None:
    if repairs:
        _repair(ctx, **given)
    elif any(given.values()):
        raise InvalidInput("INVALID_INPUT", "A check asks nothing. To repair the vault, add --repair.")
    else:
        _check(ctx)


_doctor.__doc__ = f"{doctor.about}\n\nWith --repair: {repair.about}"
_FLAG = Annotated[bool, typer.Option("--repair", help="Rebuild a damaged vault from what can be read.")]
_ctx, *_confirmation = signature(_repair).parameters.values()
check_or_repair = with_signature(
    _doctor,
    [_ctx, Parameter("repairs", Parameter.KEYWORD_ONLY, default=False, annotation=_FLAG), *_confirmation],
)
cli = commands_in(("doctor",), "doctor", {"doctor": check_or_repair})
