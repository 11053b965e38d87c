"""The confirmation of operations that cannot be undone: the options ``--yes`` and ``--preview``, and the question."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, TypeVar

import typer

from clawmem.app.interfaces.cli import addresses
from clawmem.app.interfaces.cli.session import wants_json
from clawmem.app.operations.operation import Request
from clawmem.ports.address_errors import ConfirmationMissing

T = TypeVar("T")

DECLINED = 1  # exit code: the user did not confirm
CONFIRM = "confirm"  # the parameter of a request
# The options that take the place of the parameter `CONFIRM`.
OPTIONS = tuple(
    Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, option])
    for name, option in (
        ("yes", typer.Option("--yes", "-y", help="Do it without asking; for programs.")),
        ("preview", typer.Option("--preview", help="Show what would be removed, change nothing.")),
    )
)


def run_confirmed(
    ctx: typer.Context, run: Callable[[Request], T], request: Request, *, agreed: bool, only_preview: bool
) -> T:
    """
    Return the result of *run*; if it needs a confirmation, ask the user for it unless the user *agreed* already.

    Raises:
        ConfirmationMissing: The user cannot be asked.
        typer.Exit: The user declined, or wants *only_preview*.
    """
    try:
        return run(request)
    except ConfirmationMissing as missing:
        if only_preview:
            _show_preview(ctx, missing)
            raise typer.Exit from None
        if not agreed:
            _ask(ctx, missing)
        return run(request.model_copy(update=missing.confirmed))


def _ask(ctx: typer.Context, missing: ConfirmationMissing) -> None:
    from clawmem.app.interfaces.cli.rendering import show

    if not addresses.may_ask(ctx):
        raise ConfirmationMissing(missing.message, missing.would_remove, remedy="To confirm, add --yes.")
    _show_preview(ctx, missing)
    try:
        agreed = typer.confirm(missing.question, default=False)
    except typer.Abort:  # Ctrl-C or the end of the input
        agreed = False
        show("")
    if not agreed:
        show("Nothing was changed.")
        raise typer.Exit(DECLINED)


def _show_preview(ctx: typer.Context, missing: ConfirmationMissing) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json

    if wants_json(ctx):
        show_json({"action": "preview", **missing.would_remove})
        return
    for line in missing.preview:
        show(line)
