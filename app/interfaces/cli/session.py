"""Functions that every command starts with: the global options, the settings and the opened vault."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from clawmem.app.bootstrap.lazy import backend_named
from clawmem.app.bootstrap.opening import open_services, unopened_services
from clawmem.app.environment.places import is_there
from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.operations.operation import AnyOperation, Opening, Request
from clawmem.app.settings.model import at_vault, load_settings, refuse_named, set_apart
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings


class GlobalOptions(NamedTuple):
    """The global options."""

    vault: Path | None = None
    backend: str | None = None
    json: bool = False
    alone: bool = False


def chosen_by(ctx: typer.Context) -> GlobalOptions:
    """Return the global options of a command line."""
    return ctx.obj or GlobalOptions()


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
    """Return `settings_of`; raise `InvalidInput` for a named vault, because the command *what* needs the usual one."""
    settings = settings_of(ctx)
    refuse_named(settings, what)
    if is_there(settings.vault):
        set_apart(settings)
    return settings


def opened_for(
    ctx: typer.Context, operation: AnyOperation, request: Request
) -> AbstractContextManager[Services]:
    """Open the services as *operation* needs them, see `clawmem.app.operations.operation.Opening`."""
    opens, settings, reads = operation.opens, settings_of(ctx), operation.changes_nothing(request)
    command = str(ctx.command_path).partition(" ")[2]
    if not operation.any_vault:
        refuse_named(settings, command)
    if operation.settings:
        own = operation.settings(settings, request, "cli")
        if own.vault != settings.vault and (vault := chosen_by(ctx).vault):
            raise InvalidInput(
                "INVALID_INPUT", f"{command} uses a vault of its own, not {str(vault)!r}. Leave --vault out."
            )
        settings = own
    if opens is Opening.NOTHING or (opens is Opening.IF_PRESENT and not is_there(settings.vault)):
        return nullcontext(unopened_services(settings))
    if opens is Opening.CREATED:
        set_apart(settings)
    if opens is Opening.ANY_BACKEND:
        settings = settings.model_copy(update={"backend": None})
    return open_services(
        settings,
        read_only=reads,
        create=opens is Opening.CREATED,
        or_read=opens in (Opening.CURRENT, Opening.IF_PRESENT),
    )


def show_outcome(ctx: typer.Context, record: object, text: str) -> None:
    """Print *record* if the output is JSON, else *text*."""
    show_json(record) if wants_json(ctx) else show(text)


def one_of(option: str, value: str, known: Sequence[str]) -> str:
    """Return *value*; raise `InvalidInput` if it is not one of *known*."""
    if value not in known:
        raise InvalidInput("INVALID_INPUT", f"{option} {value!r} is not known. Choose: {', '.join(known)}.")
    return value


def may_ask(ctx: typer.Context) -> bool:
    """Whether the user can be asked: stdin and stdout are a terminal, and the output is not JSON."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not wants_json(ctx)
