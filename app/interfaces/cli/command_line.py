"""The tree of commands, their lazy import, and the conversion of errors into exit codes."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO, cast

import typer
from pydantic import ValidationError
from typer.core import TyperGroup
from typer.main import get_group

from clawmem.app.environment.places import below_home
from clawmem.app.interfaces.cli.session import GlobalOptions
from clawmem.app.operations.operation import error_record
from clawmem.app.operations.output import encodable
from clawmem.app.operations.table import VERBS, all_operations
from clawmem.app.settings.model import fault_of
from clawmem.app.version import VERSION
from clawmem.domain.text.words import words
from clawmem.ports.errors import ClawmemError, FileUnusable, InvalidInput

JSON, ALONE = "--json", "--alone"
VAULT, BACKEND = "--vault", "--backend"  # with a value

# The module of each verb that is no operation: only the module of the verb in the command line is imported.
CLI = "clawmem.app.interfaces.cli"
FAMILIES = {
    f"{CLI}.measurement": ("bench", "conformance"),
    f"{CLI}.setup": ("setup",),
    "clawmem.app.serve.commands": ("serve", "ui", "mcp", "surface", "hook", "watch", "install-service"),
}
GROUPS = {
    "First steps": "bootstrap setup status doctor",
    "Questions": "query search timeline sessions why",
    "Documents": "list get links tags entities remember diary profile reflect",
    "Care": "pin snooze forget archive restore undo trust maintain",
    "Folders and files": "collection update embed watch mine import export backup beads vault rebuild",
    "Clients and server": "ui serve mcp hook surface focus openclaw install-service",
    "Measurement": "models report bench conformance",
}
OF_NO_VAULT = {"vault", "openclaw"}  # verbs that refuse --vault
EVERYWHERE = "--vault, --backend, --alone and --json may stand here as well; see clawmem --help."

# The class of usage errors. Its name depends on the release of typer, so it is taken from the base classes of
# BadParameter.
USAGE = cast(type[typer.BadParameter], typer.BadParameter.__mro__[2])

STDOUT = 1
LEAST_LIKE = 0.75  # similarity of a slip to a command: "serch", but not "delete" and "reflect"
INTERRUPTED, BROKEN_PIPE = 130, 141  # the exit codes that shells expect of a process ended by a signal


class Verbs(TyperGroup):
    """A command group that shows its help without arguments, and refuses an option with two values or an empty one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_values(self, ctx, args)
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if command and not isinstance(command, Verbs):
            own = command.context_class(command, info_name=name, parent=ctx, **command.context_settings)
            _refuse_values(command, own, rest)
        return name, command, rest


def _refuse_values(command: Any, ctx: Any, args: Sequence[str]) -> None:
    values, _, order = command.make_parser(ctx).parse_args([*args])  # each parameter as often as it is given
    for parameter in order:  # an empty one may be an unset variable
        value = values.get(parameter.name)
        if not all(str(text).strip(" ,") for text in (value if isinstance(value, list | tuple) else [value])):
            is_argument = parameter.param_type_name == "argument"
            name = parameter.metavar or parameter.name.upper() if is_argument else "/".join(parameter.opts)
            raise InvalidInput("INVALID_INPUT", f"{name} is empty. Give it a value, or leave it out.")
    for parameter, count in Counter(order).items():
        if count > 1 and not (parameter.nargs != 1 or parameter.multiple or parameter.is_flag):
            name = "/".join(parameter.opts)
            raise InvalidInput("INVALID_INPUT", f"{name} takes one value, not {count}. Choose one.")
        opposites = [name for name in (*parameter.opts, *parameter.secondary_opts) if name in args]
        if count > 1 and {*opposites} & {*parameter.secondary_opts} and len(opposites) > 1:
            raise InvalidInput("INVALID_INPUT", f"{' and '.join(opposites)} do not go together. Choose one.")


@contextmanager
def _ending_with_the_reader() -> Iterator[None]:
    """End with `BROKEN_PIPE` when the reader of the output goes away; typer would end with 1."""
    try:
        yield
    except BrokenPipeError:
        _swallow_output(sys.stdout)
        raise typer.Exit(BROKEN_PIPE) from None


class CommandLine(Verbs):
    """The root group: imports commands on demand, accepts global options anywhere, and turns errors into messages."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [verb for verbs in GROUPS.values() for verb in verbs.split()]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for group, verbs in GROUPS.items():
            commands = [(verb, _command_named(verb).get_short_help_str(200)) for verb in verbs.split()]
            with formatter.section(group):
                formatter.write_dl(commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command_named(cmd_name)

    @_ending_with_the_reader()
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*(text for text in args[1:] if text not in ("help", "--all")), "--help"]
        front, rest = parted(args)
        verbs = self.list_commands(ctx)
        for name, value in pairwise([*front, None]):
            if name in (VAULT, BACKEND) and value is None:
                raise InvalidInput("INVALID_INPUT", f"{name} has no value. Give it one, or leave it out.")
            if name in (VAULT, BACKEND) and value in verbs and not {*rest[:1]} & {*verbs, "help"}:
                fault = f"{name} took {value!r} as its value. Write: clawmem {name} VALUE {value} ..."
                raise InvalidInput("INVALID_INPUT", fault)
        return super().parse_args(ctx, front + rest)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not self.get_command(ctx, args[0]):
            near = ", ".join(map(repr, self._commands_like(args[0])))
            ctx.fail(f"No such command {args[0]!r}.{f' Did you mean {near}?' if near else ''}")
        return super().resolve_command(ctx, args)

    def _commands_like(self, word: str) -> list[str]:
        """Return the commands of the operation *word* or of what it returns; else those of a like name, or so described."""
        name = word.replace("-", "_").casefold()
        operations = [each for each in all_operations() if name in (each.name, each.items)]
        if lines := [command.line for each in operations for command in each.commands]:
            return lines
        summaries = {
            verb: _command_named(verb).get_short_help_str(200)
            for group in GROUPS.values()
            for verb in group.split()
        }
        described = [verb for verb, summary in summaries.items() if name in words(summary)]
        return get_close_matches(word, summaries, 3, LEAST_LIKE) or described[:3]

    @_ending_with_the_reader()
    def invoke(self, ctx: Any) -> Any:
        return super().invoke(ctx)

    def main(self, *positional: Any, **extra: Any) -> Any:
        given = positional[0] if positional else extra.pop("args", None)
        typed = sys.argv[1:] if given is None else given
        args = [encodable(text) for text in typed]
        with in_order(args):
            for text, shown in zip(typed, args, strict=True):
                if text != shown:  # it would name another file, or lose letters
                    fault = f"{shown} is not UTF-8. Convert it; if it is the name of a file, rename that."
                    with suppress(UnicodeDecodeError):
                        os.fsencode(text).decode()
                        fault = "The locale of this shell is not UTF-8. Choose one: export LC_ALL=C.UTF-8"
                    raise InvalidInput("INVALID_INPUT", fault)
            code = super().main(args, **{**extra, "prog_name": "clawmem", "standalone_mode": False})
            if code == INTERRUPTED:  # typer returns this code on Ctrl-C and prints no message
                raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)


@cache
def _command_named(verb: str) -> Any:
    """Return the command of *verb*, made once in a process; ``None`` if there is no such verb."""
    modules = [module for module, verbs in VERBS.items() if verb in verbs]
    family = next((family for family, verbs in FAMILIES.items() if verb in verbs), None)
    if modules:
        from clawmem.app.interfaces.cli.operations import commands_in

        commands = commands_in(modules, verb)
    elif family:
        commands = import_module(family).cli
    else:
        return None
    command: Any = get_group(commands).commands[verb]
    command.epilog = EVERYWHERE
    return command


def parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split *arguments* into the global options before a ``--`` and all other arguments; both keep their order."""
    front: list[str] = []
    rest: list[str] = []
    waiting = iter(arguments)
    for text in waiting:
        if text == "--":
            rest += [text, *waiting]
        elif text in (JSON, ALONE) or text.partition("=")[0] in (VAULT, BACKEND):
            front += [text, *islice(waiting, int(text in (VAULT, BACKEND)))]
        else:
            rest.append(text)
    return front, rest


cli = typer.Typer(
    cls=CommandLine, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"clawmem {VERSION}")
        raise typer.Exit


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
        str | None, typer.Option(help="A file, or a name.", show_default=False, metavar="PATH")
    ] = None,
    backend: Annotated[str | None, typer.Option(help="Storage of the vault.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    alone: Annotated[bool, typer.Option("--alone", help="Ask no server, even if one runs.")] = False,
    version: Annotated[
        bool, typer.Option("--version", "-V", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """A local memory for AI agents over your own Markdown. Begin with: clawmem bootstrap PATH"""
    place = below_home(vault) if vault else None
    is_path = vault and vault.startswith("./")  # also of a word, which may be a name
    ctx.obj = GlobalOptions(place.absolute() if place and is_path else place, backend, json, alone)


@contextmanager
def in_order(arguments: Sequence[str]) -> Iterator[None]:
    """End the process with a message and an exit code on an error, with ``--json`` in *arguments* also a record."""
    options = parted(arguments)[0]
    is_json = JSON in options
    named = next((value for name, value in pairwise(options) if name == VAULT), "")
    named = named or next((text.partition("=")[2] for text in options if text.startswith(f"{VAULT}=")), "")

    def leave(message: str, code: int, record: Mapping[str, Any]) -> NoReturn:
        message = advised(message, named)
        line = f"{json.dumps({**record, 'error': message})}\n" if is_json else ""
        for stream, text in ((sys.stdout, line), (sys.stderr, f"clawmem: {message}\n")):
            try:
                stream.write(text)
                stream.flush()
            except OSError:
                _swallow_output(stream)
        sys.exit(code)

    try:
        yield
        sys.stdout.flush()
    except ClawmemError as error:
        leave(str(error), error.exit_code, error_record(error))
    except USAGE as error:
        if isinstance(error.__cause__, ValidationError):
            error.message = fault_of(error.__cause__.errors()[0])
        message = error.format_message().rstrip()
        if error.ctx:
            option = getattr(error, "option_name", "no option")
            is_text = re.fullmatch(r"-\d*|-.*\s.*|---.*", option, re.DOTALL)  # "- [ ] call Bo"
            usage = f"Run: {error.ctx.command_path} --help"
            advice = "Write -- before a text that begins with -" if is_text else usage
            message += f"{'' if message.endswith(('.', '?')) else '.'} {advice}"
        leave(message, 2, {"code": "INVALID_INPUT"})
    except (KeyboardInterrupt, typer.Abort):
        message = "interrupted. To do it, or the rest of it, run the same command again."
        leave(message, INTERRUPTED, {"code": "INTERRUPTED"})
    except BrokenPipeError:
        _swallow_output(sys.stdout)
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        if error.strerror is None:
            raise  # a bug of clawmem, which a traceback locates
        try:
            sys.stdout.flush()
            os.write(STDOUT, b"")
        except OSError:
            error.filename = error.filename or "standard output"
        failure = FileUnusable(error)
        leave(str(failure), failure.exit_code, error_record(failure))


def advised(text: str, vault: str | Path | None) -> str:
    """
    Return *text*, whose commands to run next work on the *vault* that was chosen, if any.

    They follow a colon, or a word that joins them; a title that tells of a command stays as it is. A variable chooses
    the vault of the next command, too; only one that may empty a collection does not depend on the shell.
    """
    emptying = "" if vault else ".*--allow-empty"
    if not vault and (vault := os.environ.get("INDEX_PATH")):
        text = text.replace("another --vault", "another INDEX_PATH")
    verbs = {*" ".join(GROUPS.values()).split()} - OF_NO_VAULT
    command = f"clawmem {VAULT} {shlex.quote(str(vault))} "
    before = r"^|(?:[a-z]: |,\s+|\b(?:and|by|or|see|that|then|until|with)\s+|\((?=clawmem why))['\"]?"
    pattern = rf"({before})clawmem (?=(?:{'|'.join(verbs)})\b{emptying})"
    return re.sub(pattern, lambda match: match[1] + command, text) if vault else text


def _swallow_output(stream: TextIO) -> None:
    """Redirect *stream* to the null device, so that the interpreter does not report a closed pipe or a full disk at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
