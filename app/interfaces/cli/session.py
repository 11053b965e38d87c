"""The global options, the settings, the opened vault and the output of every command."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import typer
from pydantic_core import to_jsonable_python

from clawmem.app.bootstrap.lazy import backend_named
from clawmem.app.bootstrap.opening import open_services, require_folder, unopened_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import is_there
from clawmem.app.operations.operation import AnyOperation, Opening, Request
from clawmem.app.operations.output import Part, Verbatim, encodable, printable
from clawmem.app.settings.model import Report, Settings, at_vault, load_settings, refuse_named, set_apart
from clawmem.domain.capture.remembering import MOST_CHARACTERS
from clawmem.ports.errors import ConfigError, InvalidInput

# C1 controls, line separators, and marks of direction or of no width, which JSON allows as they are.
_UNSHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
Progress = Callable[[int, int], None]  # completed, total
MOST_STDIN = 4 * MOST_CHARACTERS  # bytes


def show_json(value: object) -> None:
    """Print *value* as JSON, without NaN, and with escapes for what ends lines, moves the cursor or reorders text."""
    plain = to_jsonable_python(value, inf_nan_mode="null", fallback=dict)
    text = encodable(json.dumps(plain, ensure_ascii=False, indent=2))
    show_part(_UNSHOWN.sub(lambda match: json.dumps(match[0])[1:-1], text))


def show(text: str) -> None:
    """Print a line of text without the terminal escapes that a note may contain."""
    show_part(printable(text))


def show_part(part: Part) -> None:
    """Print one part of the output; in a pipe the columns of a table are aligned with blanks."""
    is_terminal, colour = sys.stdout.isatty(), False if os.environ.get("NO_COLOR") else None
    if isinstance(part, Verbatim):
        typer.echo(printable(part.text) if is_terminal else encodable(part.text).encode())
    elif isinstance(part, str):
        typer.echo(part, color=colour)
    elif not is_terminal:
        typer.echo("\n".join(part.lines()))
    else:
        from rich.console import Console
        from rich.table import Column
        from rich.table import Table as RichTable
        from rich.text import Text

        # Cells are folded, not truncated, so that paths can be copied.
        columns = [Column(name, overflow="fold") for name in part.columns]
        table = RichTable(*columns, box=None, header_style="bold", pad_edge=False)
        for row in part.rows:
            table.add_row(*map(Text, row))
        Console(no_color=bool(os.environ.get("NO_COLOR"))).print(table)


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """Yield a callback that draws a bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class GlobalOptions(NamedTuple):
    """The global options."""

    vault: Path | None = None
    backend: str | None = None
    json: bool = False
    alone: bool = False


def chosen_by(ctx: typer.Context) -> GlobalOptions:
    """Return the global options of a command line."""
    return ctx.obj or GlobalOptions()


def settings_of(ctx: typer.Context, report: Report = None) -> Settings:
    """Return the settings from the command line, the environment and the config file, see `load_settings`."""
    chosen = chosen_by(ctx)
    settings = load_settings(backend=chosen.backend, report=report)
    if chosen.vault:
        settings = at_vault(settings, chosen.vault, report)
    if settings.backend and report is None:
        place = "" if chosen.backend else f" (backend: in {settings.config_file})"
        backend_named(settings.backend, place)  # refused before anything is created or written
    return settings


def settings_of_usual(ctx: typer.Context, what: str) -> Settings:
    """Return `settings_of`; raise `InvalidInput` for a named vault, because the command *what* needs the usual one."""
    settings = settings_of(ctx)
    refuse_named(settings, what)
    if is_there(settings.vault) and not is_there(settings.config_file):
        with open_services(settings, read_only=True):  # what is no vault gets no config file, and no log
            set_apart(settings)
    return settings


@contextmanager
def opened_for(ctx: typer.Context, operation: AnyOperation, request: Request) -> Iterator[Services]:
    """Open the services as *operation* needs them, see `clawmem.app.operations.operation.Opening`."""
    opens, reads = operation.opens, operation.changes_nothing(request)
    # The doctor has a finding for wrong settings.
    settings = settings_of(ctx, list[ConfigError]().append if operation.name == "doctor" else None)
    command = str(ctx.command_path).partition(" ")[2]
    if not operation.any_vault:
        refuse_named(settings, command)
    is_made = opens is Opening.CREATED
    if operation.settings:
        own = operation.settings(settings, request, "cli")
        if own.vault != settings.vault and (vault := chosen_by(ctx).vault):
            raise InvalidInput(
                "INVALID_INPUT", f"{command} uses a vault of its own, not {str(vault)!r}. Leave --vault out."
            )
        is_made = is_made and own.vault == settings.vault  # a vault of its own is made with its folder
        settings = own
    if opens is Opening.NOTHING or (opens is Opening.IF_PRESENT and not is_there(settings.vault)):
        yield unopened_services(settings)
        return
    if is_made:
        require_folder(settings)
    if opens is Opening.ANY_BACKEND:
        settings = settings.model_copy(update={"backend": None})
    or_read = opens in (Opening.CURRENT, Opening.IF_PRESENT)
    create, was_configured = opens is Opening.CREATED, is_there(settings.config_file)
    try:
        with open_services(settings, read_only=reads, create=create, or_read=or_read) as services:
            if is_made:  # what is no vault gets no config file
                set_apart(settings)
            yield services
            report_new(services)
    finally:
        if is_made and not (was_configured or is_there(settings.vault)):
            settings.config_file.unlink(missing_ok=True)


def report_new(services: Services) -> None:
    """Say on stderr that the vault was made for configured collections: it was lost, or its path is mistyped."""
    if services.is_new and services.settings.collections:
        lost = "Pins, the diary and captured memories of an earlier one are only in its backups."
        typer.echo(f"clawmem: Made the vault {services.settings.vault}, which was missing. {lost}", err=True)


def show_outcome(ctx: typer.Context, record: object, text: str) -> None:
    """Print *record* if the output is JSON, else *text*."""
    show_json(record) if chosen_by(ctx).json else show(text)


def one_of(option: str, value: str, known: Sequence[str]) -> str:
    """Return *value*; raise `InvalidInput` if it is not one of *known*."""
    if value not in known:
        near = "".join(f" Did you mean {name}?" for name in get_close_matches(value, known, 1))
        text = f"{option} {value!r} is not known.{near} Choose: {', '.join(known)}."
        raise InvalidInput("INVALID_INPUT", text)
    return value


def typed_parameters(ctx: typer.Context) -> list[str]:
    """Return the options and arguments that were typed, as the help spells them."""
    return [
        max(parameter.opts, key=len) if parameter.param_type_name == "option" else str(parameter.name).upper()
        for parameter in ctx.command.params
        if (source := ctx.get_parameter_source(str(parameter.name))) and source.name == "COMMANDLINE"
    ]


def refuse_with(ctx: typer.Context, option: str, *, except_for: Sequence[str] = ()) -> None:
    """Raise `InvalidInput` if *option* was typed with another option or argument, apart from *except_for*."""
    typed = typed_parameters(ctx)
    for other in sorted(typed, key=str.isupper) if option in typed else ():
        if other not in (option, *except_for):
            raise InvalidInput("INVALID_INPUT", f"{option} and {other} do not go together. Choose one.")


def text_on_stdin() -> str:
    """Return the text on standard input; raise `InvalidInput` if it is too long, or not UTF-8."""
    data = sys.stdin.buffer.read(MOST_STDIN + 1)
    if len(data) > MOST_STDIN:
        raise InvalidInput("INPUT_TOO_LONG", "stdin is too long. Save it as a file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("INVALID_INPUT", "stdin is not UTF-8. Convert it first.") from error


def may_ask(ctx: typer.Context) -> bool:
    """Whether the user can be asked: stdin and stdout are a terminal, and the output is not JSON."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not chosen_by(ctx).json
