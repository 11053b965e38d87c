"""Functions that every command starts with: the global options, the settings and the opened vault."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.bootstrap.opening import open_services, unopened_services
from clawmem.app.environment.places import is_there
from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.operations.operation import AnyOperation, Opening
from clawmem.app.settings.model import load_settings
from clawmem.app.settings.vaults import at_vault, refuse_named, set_apart
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.operations.operation import Request
    from clawmem.app.settings.model import Settings


class GlobalOptions(NamedTuple):
    """The global options."""

    vault: Path | None = None
    backend: str | None = None
    json: bool = False
    alone: bool = False


def command_group() -> typer.Typer:
    """Return a command line that is a group even with one command."""
    cli = typer.Typer(rich_markup_mode=None)
    cli.callback()(lambda: None)
    return cli


def wants_json(ctx: typer.Context) -> bool:
    """Whether the output is JSON."""
    return chosen_by(ctx).json


def settings_of(ctx: typer.Context) -> Settings:
    """Return the settings from the command line, the environment and the config file."""
    chosen = chosen_by(ctx)
    settings = load_settings(backend=chosen.backend)
    if chosen.vault:
        settings = at_vault(settings, chosen.vault)
    if settings.backend:
        backend_named(settings.backend)  # refused before anything is created or written
    return settings


def settings_of_usual(ctx: typer.Context, what: str) -> Settings:
    """
    Return `settings_of`; raise `InvalidInput` for a named vault, because *what*, the command, needs the usual one.
    """
    settings = settings_of(ctx)
    refuse_named(settings, what)
    if is_there(settings.vault):
        set_apart(settings)
    return settings


def opened(
    ctx: typer.Context, *, read_only: bool = False, create: bool = False, or_read: bool = False
) -> AbstractContextManager[Services]:
    """
    Open the services over the chosen vault; a missing vault is created only with *create*.

    With *or_read* a vault that cannot be written now is opened for reading.
    """
    return open_services(settings_of(ctx), read_only=read_only, create=create, or_read=or_read)


def opened_for(
    ctx: typer.Context, operation: AnyOperation, request: Request
) -> AbstractContextManager[Services]:
    """Open the services as *operation* needs them, see `clawmem.app.operations.operation.Opening`."""
    opens, settings = operation.opens, settings_of(ctx)
    if not operation.any_vault:
        refuse_named(settings, str(ctx.command_path).partition(" ")[2])
    if operation.settings:
        own = operation.settings(settings, request, "cli")
        if own.vault != settings.vault:
            _refuse_vault(ctx)
        settings = own
    if opens is Opening.NOTHING or (opens is Opening.IF_PRESENT and not is_there(settings.vault)):
        return nullcontext(unopened_services(settings))
    if opens is Opening.CREATED:
        set_apart(settings)
    if opens is Opening.ANY_BACKEND:
        settings = settings.model_copy(update={"backend": None})
    return open_services(
        settings,
        read_only=operation.changes_nothing(request) and opens is not Opening.CURRENT,
        create=opens is Opening.CREATED,
        or_read=operation.changes_nothing(request) or opens in (Opening.CURRENT, Opening.IF_PRESENT),
    )


def _refuse_vault(ctx: typer.Context) -> None:
    """Raise `InvalidInput` if the command line names a vault for an operation that chooses its own."""
    if vault := chosen_by(ctx).vault:
        command = str(ctx.command_path).partition(" ")[2]
        raise InvalidInput(
            "INVALID_INPUT", f"{command} uses a vault of its own, not {str(vault)!r}. Leave --vault out."
        )


def show_outcome(ctx: typer.Context, record: object, text: str) -> None:
    """Print *record* if the output is JSON, else *text*."""
    show_json(record) if wants_json(ctx) else show(text)


def note_read_only(vault: Path) -> None:
    """Report on stderr that the user has no right to write *vault*; questions are then not recorded."""
    effective = os.access in os.supports_effective_ids
    if not all(os.access(place, os.W_OK, effective_ids=effective) for place in (vault, vault.parent)):
        typer.echo(f"{vault} is read-only: it was only read, and the question was not recorded.", err=True)


def one_of(option: str, value: str, known: Sequence[str]) -> str:
    """Return *value*; raise `InvalidInput` if it is not one of *known*."""
    if value not in known:
        raise InvalidInput("INVALID_INPUT", f"{option} {value!r} is not known. Choose: {', '.join(known)}.")
    return value


def chosen_by(ctx: typer.Context) -> GlobalOptions:
    """Return the global options of a command line."""
    return ctx.obj if isinstance(ctx.obj, GlobalOptions) else GlobalOptions()
