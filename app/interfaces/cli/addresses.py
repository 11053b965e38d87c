"""Addresses of notes on the command line, and the choice between candidates on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from clawmem.app.interfaces.cli.session import wants_json

if TYPE_CHECKING:
    from clawmem.ports.errors import Ambiguous, NotFound
    from clawmem.ports.records import Candidate

T = TypeVar("T")

ADDRESS = "A path, #docid, title, alias, [[wikilink]] or path:line."

Named = Annotated[list[str], typer.Argument(metavar="NOTE...", help=ADDRESS, show_default=False)]
Note = Annotated[str, typer.Argument(metavar="NOTE", help=ADDRESS, show_default=False)]
Why = Annotated[str, typer.Option("--why", help="The reason, kept with the act.", show_default=False)]


def named_note(ctx: typer.Context, resolve: Callable[[str], T], words: Sequence[str]) -> T:
    """
    Return the result of *resolve* for the note that *words* name.

    If they name none exactly, the user chooses a candidate on a terminal.

    Raises:
        InvalidInput: *words* are not an exact address, and the user chose no candidate. A command then changes
            nothing.
    """
    from clawmem.ports.errors import Ambiguous, NotFound

    text = " ".join(words)
    try:
        return resolve(text)
    except (NotFound, Ambiguous) as error:
        chosen = chosen_address(ctx, text, error)
        if chosen is None:
            raise
        return resolve(chosen)


def chosen_address(ctx: typer.Context, text: str, error: NotFound | Ambiguous) -> str | None:
    """Return the exact address of the candidate that the user chooses on a terminal; ``None`` without a choice."""
    from clawmem.ports.address_errors import NotServed
    from clawmem.ports.records import Candidate

    if isinstance(error, NotServed):
        return None
    chosen = _chosen(ctx, text, [one for one in error.candidates if isinstance(one, Candidate)])
    return chosen.address if chosen else None


def may_ask(ctx: typer.Context) -> bool:
    """Whether the user can be asked: stdin and stdout are a terminal, and the output is not JSON."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not wants_json(ctx)


def _chosen(ctx: typer.Context, text: str, candidates: Sequence[Candidate]) -> Candidate | None:
    """Ask which of *candidates* is meant; return ``None`` without a terminal or without a choice."""
    from clawmem.app.interfaces.cli.rendering import show

    offered = [one for one in candidates if one.docid]
    if not (offered and may_ask(ctx)):
        return None
    show(f"{text!r} does not name one note exactly. Choose one:")
    for number, one in enumerate(offered, 1):
        show(f"  {number}  {one}")
    said = typer.prompt("Number (Enter for none)", default="", show_default=False).strip()
    number = int(said) if said.isdecimal() else 0
    return offered[number - 1] if 1 <= number <= len(offered) else None
