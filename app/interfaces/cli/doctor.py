"""The command doctor, which checks the vault, or repairs it with ``--repair``."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from clawmem.app.interfaces.cli.operations import command_of, commands_in
from clawmem.app.operations.doctor import DOCTOR
from clawmem.app.operations.operation import with_signature
from clawmem.app.operations.repair import REPAIR
from clawmem.ports.errors import InvalidInput

_check = command_of(DOCTOR, DOCTOR.commands[0])
_repair = command_of(REPAIR, REPAIR.commands[0])


def _doctor(ctx: typer.Context, *, repair: bool, **given: Any) -> None:
    if repair:
        _repair(ctx, **given)
    elif any(given.values()):
        raise InvalidInput("INVALID_INPUT", "A check asks nothing. To repair the vault, add --repair.")
    else:
        _check(ctx)


_doctor.__doc__ = f"{DOCTOR.about}\n\nWith --repair: {REPAIR.about}"
_FLAG = Annotated[bool, typer.Option("--repair", help="Rebuild a damaged vault from what can be read.")]
_ctx, *_confirmation = signature(_repair).parameters.values()
doctor = with_signature(
    _doctor,
    [_ctx, Parameter("repair", Parameter.KEYWORD_ONLY, default=False, annotation=_FLAG), *_confirmation],
)
cli = commands_in(("doctor",), "doctor", {"doctor": doctor})
