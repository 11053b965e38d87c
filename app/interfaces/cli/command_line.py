"""The tree of commands, their lazy import, and the conversion of errors into exit codes."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer
from pydantic import ValidationError
from typer.core import TyperGroup
from typer.main import get_command

from clawmem.app.interfaces.cli.overview import with_vault
from clawmem.app.interfaces.cli.session import GlobalOptions
from clawmem.app.operations.refusals import error_record
from clawmem.app.operations.table import VERBS
from clawmem.app.settings.faults import fault_of
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError, InvalidInput

VAULT, BACKEND, JSON, ALONE = "--vault", "--backend", "--json", "--alone"
FLAGS = frozenset({JSON, ALONE})
VALUED = frozenset({VAULT, BACKEND})


def vault_in(front: Sequence[str]) -> Path | None:
    """Return the vault that the global options name; of several the last."""
    named = [
        text.partition("=")[2] or following
        for text, following in zip_longest(front, front[1:], fillvalue="")
        if text.partition("=")[0] == VAULT
    ]
    return Path(named[-1]) if named and named[-1] else None


def parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split *arguments* into the global options before a ``--`` and all other arguments; both keep their order."""
    front: list[str] = []
    rest: list[str] = []
    waiting = iter(arguments)
    for text in waiting:
        if text == "--":
            rest += [text, *waiting]
        elif text in FLAGS or text.partition("=")[0] in VALUED:
            front += [text, *islice(waiting, int(text in VALUED))]
        else:
            rest.append(text)
    return front, rest


# The module of each verb that is no operation: only the module of the verb in the command line is imported.
CLI, DAEMON = "clawmem.app.interfaces.cli", "clawmem.app.serve.commands"
FAMILIES = {
    f"{CLI}.vault": ("bootstrap",),
    f"{CLI}.bench": ("bench",),
    f"{CLI}.conformance": ("conformance",),
    f"{DAEMON}.surface": ("surface", "hook"),
    f"{CLI}.setup": ("setup",),
    f"{DAEMON}.serve": ("serve",),
    f"{DAEMON}.mcp": ("mcp",),
    f"{DAEMON}.watch": ("watch", "install-service"),
}
EVERYWHERE = "--vault, --backend, --alone and --json may stand here as well; see clawmem --help."

# The class of usage errors. Its name depends on the release of typer, so it is taken from the base classes of
# BadParameter.
USAGE = cast(type[typer.BadParameter], typer.BadParameter.__mro__[2])

EVERY_COMMAND = "clawmem.every_command"  # whether the help shows more than the daily commands
MOST_NAMED = 20  # commands of a group that a message names


class UnknownCommand(ClawmemError):
    """A verb that does not exist in the group *path*."""

    code = "UNKNOWN_COMMAND"
    exit_code = 2

    def __init__(self, name: str, known: Sequence[str], path: str) -> None:
        near = get_close_matches(name, known)
        few = f"Choose: {', '.join(known)}. " if len(known) <= MOST_NAMED else ""
        hint = f"Did you mean: {', '.join(near)}?" if near else f"{few}Run: {path} --help"
        super().__init__(f"There is no command {name!r}. {hint}")


class Verbs(TyperGroup):
    """A command group that shows its help, or runs its default command, when it is called without arguments."""

    default = "--help"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or [self.default])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        args = [args[0].replace("_", "-"), *args[1:]]  # programs write intent_search
        if args[0] not in known:
            raise UnknownCommand(args[0], known, ctx.command_path)
        return super().resolve_command(ctx, args)


class CommandLine(Verbs):
    """The root group: imports commands on demand, accepts global options anywhere, and turns errors into messages."""

    def list_commands(self, ctx: Any) -> list[str]:
        several = (verbs for families in (FAMILIES, VERBS) for verbs in families.values())
        return list(dict.fromkeys(verb for verbs in several for verb in verbs))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the daily commands, or all after ``help --all``. The help texts would import every command."""
        from clawmem.app.interfaces.cli.overview import DAILY, GROUPS

        groups = GROUPS
        if not ctx.meta.get(EVERY_COMMAND):
            known = {name: about for commands in GROUPS.values() for name, about in commands.items()}
            groups = {"Daily commands": {name: known[name] for name in DAILY}}
        for group, commands in groups.items():
            with formatter.section(group):
                formatter.write_dl([*commands.items()])
        if groups is not GROUPS:
            formatter.write_paragraph()
            formatter.write_text("All commands: clawmem help --all")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command_named(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            ctx.meta[EVERY_COMMAND] = "--all" in args
            args = [*(word for word in args[1:] if word != "--all"), "--help"]
        return super().parse_args(ctx, hoisted(args))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # caught here, because typer would exit with 1
            swallow_output()
            raise typer.Exit(BROKEN_PIPE) from None

    def main(self, *positional: Any, **extra: Any) -> Any:
        given = positional[0] if positional else extra.pop("args", None)
        args = sys.argv[1:] if given is None else list(given)
        front = parted(args)[0]
        with _exit_codes(JSON in front, vault_in(front)):
            chosen = {**extra, "prog_name": "clawmem", "standalone_mode": False}
            code = super().main(args, **chosen)
            if code == INTERRUPTED:  # typer returns this code on Ctrl-C and prints no message
                raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)


@cache
def _command_named(verb: str) -> Any:
    """Return the command of *verb*, made once in a process; ``None`` if there is no such verb."""
    commands = _commands_with(verb)
    if commands is None:
        return None
    command = cast(Any, get_command(commands)).commands[verb]
    command.epilog = EVERYWHERE
    return command


def _commands_with(verb: str) -> typer.Typer | None:
    """Return the commands of the module that has *verb*; ``None`` if there is no such verb."""
    for family, verbs in FAMILIES.items():
        if verb in verbs:
            return cast(typer.Typer, import_module(family).cli)
    if modules := [module for module, verbs in VERBS.items() if verb in verbs]:
        from clawmem.app.interfaces.cli.operations import commands_in

        return commands_in(modules, verb)
    return None


def hoisted(args: Sequence[str]) -> list[str]:
    """Return *args* with the global options before a ``--`` moved to the front."""
    front, rest = parted(args)
    return front + rest


@contextmanager
def _exit_codes(as_json: bool, vault: Path | None) -> Iterator[None]:
    with in_order(as_json, vault):
        try:
            yield
        except USAGE as error:
            message = _usage_message(error)
            leave(message, 2, usage_record(message) if as_json else None)
        except typer.Abort:
            raise KeyboardInterrupt from None


def _usage_message(error: typer.BadParameter) -> str:
    if isinstance(error.__cause__, ValidationError):
        error.message = fault_of(error.__cause__.errors()[0])
    message = error.format_message()
    if error.ctx is None or not message.startswith("Got unexpected extra argument"):
        return message
    return f"{message}. Run: {error.ctx.command_path} --help"


cli = typer.Typer(
    cls=CommandLine, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"clawmem {VERSION}")
        raise typer.Exit


def _typed_vault(text: str) -> Path:
    """Return *text* as a path. Raises `InvalidInput` for an empty text, such as an unset variable."""
    if not text.strip():
        raise InvalidInput(
            "INVALID_PATH", "--vault is empty. Give the path or the name of a vault, or leave it out."
        )
    return Path(text)


@cli.callback(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 something failed; 2 bad input or no such command; "
    "3 not found, or not named exactly; "
    "4 configuration; 5 vault; 6 embedding; 7 verify or conformance found differences, "
    "or forget something that is left; 130 interrupted; 141 the reader of a pipe went away.",
)
def root(
    ctx: typer.Context,
    vault: Annotated[
        Path | None,
        typer.Option(
            help="Vault: a file, or a name.", show_default=False, metavar="PATH", parser=_typed_vault
        ),
    ] = None,
    backend: Annotated[str | None, typer.Option(help="Storage of the vault.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    alone: Annotated[bool, typer.Option("--alone", help="Ask no server, even if one runs.")] = False,
    version: Annotated[
        bool, typer.Option("--version", "-V", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """A local memory for AI agents over your own Markdown. Begin with: clawmem bootstrap PATH"""
    ctx.obj = (ctx.obj or GlobalOptions())._replace(vault=vault, backend=backend, json=json, alone=alone)


INTERRUPTED, BROKEN_PIPE = 130, 141  # the exit codes that shells expect of a process ended by a signal


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)
_ABOUT_DISKS = (*_FULL, *_REFUSED, errno.EIO)


def file_trouble(error: OSError) -> str:
    """Return the system's message about a file, with the remedy."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else "A file"
    if error.errno in _FULL:
        return f"The disk is full: {name} could not be written. Free some space and repeat."
    if error.errno in _REFUSED:
        return f"{name} cannot be used: {error.strerror}. Check its permissions, and those of its folder."
    return f"{name} cannot be used: {error.strerror}. Look at it, then repeat."


NO_HOME = "Could not determine home directory"  # as Path.expanduser says it
NOBODY = "A path begins with ~ and the name of nobody on this machine. Write it in full."


@contextmanager
def in_order(as_json: bool = False, vault: Path | None = None) -> Iterator[None]:
    """
    End the process with a message and an exit code on a clawmem error, Ctrl-C or a closed pipe inside the block.

    Args:
        as_json: Whether the caller asked for JSON: then stdout gets an error record, see `error_record`.
        vault: The vault of the command line, for the commands that messages recommend.
    """
    try:
        yield
        sys.stdout.flush()
    except ClawmemError as error:
        message = with_vault(str(error), vault)
        leave(message, error.exit_code, {**error_record(error), "error": message} if as_json else None)
    except KeyboardInterrupt:
        interrupted = "interrupted; what was finished before is kept."
        leave(interrupted, INTERRUPTED, _record(interrupted, "INTERRUPTED") if as_json else None)
    except BrokenPipeError:
        swallow_output()
        sys.exit(BROKEN_PIPE)
    except RuntimeError as error:
        if NO_HOME not in str(error):
            raise
        leave(NOBODY, 2, usage_record(NOBODY) if as_json else None)
    except OSError as error:
        if error.filename is None and error.errno not in _ABOUT_DISKS:
            raise  # a bug of clawmem, which a traceback locates
        message = file_trouble(error)
        leave(message, 1, _record(message, "FILE") if as_json else None)


def leave(message: str, code: int, record: Mapping[str, Any] | None = None) -> NoReturn:
    """End the process with *code* after writing *message* to stderr and *record*, if any, to stdout as JSON."""
    with suppress(BrokenPipeError):
        if record is not None:
            sys.stdout.write(f"{json.dumps(record)}\n")
            sys.stdout.flush()
        sys.stderr.write(f"clawmem: {message}\n")
    sys.exit(code)


def usage_record(message: str) -> dict[str, Any]:
    """Return the record of a command line that cannot be parsed."""
    return _record(message, "INVALID_INPUT")


def _record(message: str, code: str) -> dict[str, Any]:
    return {"error": message, "code": code}


def swallow_output() -> None:
    """Redirect stdout to the null device, so that the interpreter does not report the closed pipe at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
