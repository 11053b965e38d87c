"""
Questions on a terminal: the choice between candidates, and the confirmation of operations that cannot be undone.

The options ``--yes`` and ``--preview`` answer the second one in advance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import typer

from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.interfaces.cli.session import wants_json
from clawmem.app.operations.operation import Request
from clawmem.ports.errors import Ambiguous, ConfirmationMissing, NotFound, NotServed
from clawmem.ports.records import Candidate

T = TypeVar("T")
Q = TypeVar("Q", bound=Request)

DECLINED = 1  # exit code: the user did not confirm


def run_confirmed(
    ctx: typer.Context, run: Callable[[Q], T], request: Q, *, agreed: bool, only_preview: bool
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
    if not may_ask(ctx):
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
    if wants_json(ctx):
        show_json({"action": "preview", **missing.would_remove})
        return
    for line in missing.preview:
        show(line)


def chosen_address(ctx: typer.Context, text: str, error: NotFound | Ambiguous) -> str | None:
    """Return the exact address of the candidate that the user chooses on a terminal; ``None`` without a choice."""
    if isinstance(error, NotServed):
        return None
    chosen = _chosen(
        ctx, text, [candidate for candidate in error.candidates if isinstance(candidate, Candidate)]
    )
    return chosen.address if chosen else None


def may_ask(ctx: typer.Context) -> bool:
    """Whether the user can be asked: stdin and stdout are a terminal, and the output is not JSON."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not wants_json(ctx)


def _chosen(ctx: typer.Context, text: str, candidates: Sequence[Candidate]) -> Candidate | None:
    """Ask which of *candidates* is meant; return ``None`` without a terminal or without a choice."""
    offered = [candidate for candidate in candidates if candidate.docid]
    if not (offered and may_ask(ctx)):
        return None
    show(f"{text!r} does not name one note exactly. Choose one:")
    for number, candidate in enumerate(offered, 1):
        show(f"  {number}  {candidate}")
    said = typer.prompt("Number (Enter for none)", default="", show_default=False).strip()
    number = int(said) if said.isdecimal() else 0
    return offered[number - 1] if 1 <= number <= len(offered) else None
