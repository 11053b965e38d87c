"""Commands derived from operations: options from the fields of the request, output from the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import opened_for, tell, wants_json
from clawmem.app.operations.fields import ADDRESS
from clawmem.app.operations.operation import (
    Command,
    Flag,
    Operation,
    Option,
    Request,
    Result,
    option_of,
)
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.operations.signatures import parameters_of, with_signature
from clawmem.app.operations.table import operations_in

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said

CALLER = "cli"


def commands_in(
    modules: Sequence[str], more: Mapping[str, Callable[..., None]] = MappingProxyType({})
) -> typer.Typer:
    """
    Return the commands of the operations in *modules*, including command groups.

    Args:
        more: Commands that are no operations, by their words.
    """
    cli = typer.Typer(rich_markup_mode=None)
    cli.callback()(_verbs)
    operations = [one for module in modules for one in operations_in(module)]
    commands = [(operation, command) for operation in operations for command in operation.commands]
    defaults = dict(command.words.split() for _, command in commands if command.is_default)
    functions = {command.words: _function(operation, command) for operation, command in commands}
    groups: dict[str, typer.Typer] = {}
    for words, function in {**functions, **more}.items():
        *group, word = words.split()
        place = groups.setdefault(group[0], _group(modules[0], defaults.get(group[0]))) if group else cli
        place.command(word)(function)
    for name, one in groups.items():
        cli.add_typer(one, name=name)
    return cli


def _verbs() -> None:
    """Make the command line a group even with one command."""


def _group(module: str, default: str | None) -> typer.Typer:
    group = type("Group", (Verbs,), {"default": default}) if default else Verbs
    return typer.Typer(cls=group, rich_markup_mode=None, help=operations_about(module))


def operations_about(module: str) -> str:
    """Return the first line of the docstring of the operations in *module*."""
    from importlib import import_module

    return (import_module(f"clawmem.app.operations.{module}").__doc__ or "").partition("\n")[0]


def _function(operation: Operation[Any, Any], command: Command) -> Any:
    def run(ctx: typer.Context, **given: Any) -> None:
        if command.otherwise and any(given[name] is None for name in required):
            _answer(ctx, command.otherwise, command.otherwise.request())
            return
        request = _request(operation, {**given, **command.fixed})
        if operation.reads:
            _answer(ctx, operation, request)
        else:
            _execute(ctx, operation, request)

    required = [name for name, field in operation.request.model_fields.items() if field.is_required()]
    run.__doc__ = command.about or operation.about
    ctx = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    absent = [name for name, field in operation.request.model_fields.items() if _may_lack_words(field)]
    absent += required if command.otherwise else []
    defaults = {**dict.fromkeys(absent), **command.defaults}
    flags = _flags(operation.request)
    options = parameters_of(
        operation.request,
        lambda name, field: _annotated(name, field, defaults.get(name, field.default)),
        without={*command.fixed, *flags.values()},
        defaults=defaults,
    )
    return with_signature(run, [ctx, *options, *map(_flag_parameter, flags)])


def _flags(request: type[Request]) -> dict[Flag, str]:
    """Return the flags of *request*, each with the name of the list to which it adds a value."""
    return {flag: name for name, field in request.model_fields.items() for flag in option_of(field).flags}


def _flag_parameter(flag: Flag) -> Parameter:
    annotation = Annotated[bool, typer.Option(flag.name, help=flag.about)]
    return Parameter(_parameter_of(flag), Parameter.KEYWORD_ONLY, default=False, annotation=annotation)


def _parameter_of(flag: Flag) -> str:
    return flag.name.strip("-").replace("-", "_")


def _answer(ctx: typer.Context, operation: Operation[Any, Any], request: Request) -> None:
    """Write the result of an operation that reads; a server may run it."""
    tell(
        ctx,
        lambda services: _said(ctx, operation, operation.run(services.called_by(CALLER), request)),
        lambda: opened_for(ctx, operation, request),
    )


def _execute(ctx: typer.Context, operation: Operation[Any, Any], request: Request) -> None:
    """Run an operation that changes the vault, write its result, and exit with its exit code."""
    from clawmem.app.interfaces.cli.progress import interruption_explained, progress
    from clawmem.app.interfaces.cli.rendering import show_said

    with opened_for(ctx, operation, request) as services, interruption_explained():
        confirm(services, operation, request)
        result = _run(ctx, services.called_by(CALLER, progress), operation, request)
    show_said(_said(ctx, operation, result))
    for remark in result.remarks:
        typer.echo(remark, err=True)
    raise typer.Exit(result.exit_code)


def confirm(services: Services, operation: Operation[Any, Any], request: Request) -> None:
    """Ask the question of the operation on a terminal; anything but yes ends the command."""
    if operation.question and sys.stdin.isatty() and sys.stderr.isatty():
        question = operation.question(services, request)
        if question:
            typer.confirm(question, abort=True, err=True)


def _may_lack_words(field: FieldInfo) -> bool:
    return _has_words(field) and not field.is_required()


def _has_words(field: FieldInfo) -> bool:
    """Whether the parameter is a text that stands on the command line as several words."""
    option = option_of(field)
    return option.is_argument and "..." in (option.metavar or "") and field.annotation is str


def _annotated(name: str, field: FieldInfo, default: object) -> Any:
    option = option_of(field)
    about = field.description or ""
    if option.is_argument:
        metavar = option.metavar or name.upper()
        words: Any = list[str] if field.is_required() else list[str] | None
        kind = words if _has_words(field) else field.annotation
        return Annotated[
            kind, typer.Argument(metavar=metavar, help=about, show_default=False, parser=option.parser)
        ]
    names = _names(name, option)
    shown = not field.is_required() and default not in ("", None, False)
    return Annotated[
        field.annotation, typer.Option(*names, help=about, show_default=shown, parser=option.parser)
    ]


def _request(operation: Operation[Any, Any], given: Mapping[str, Any]) -> Request:
    """Return the request; words of an argument are joined, and a missing argument or flag keeps the default."""
    values: dict[str, Any] = {}
    flags = _flags(operation.request)
    for flag, name in flags.items():
        if given.get(_parameter_of(flag)):
            values.setdefault(name, []).append(flag.value)
    for name, field in operation.request.model_fields.items():
        value = given.get(name)
        if value and _has_words(field):
            value = " ".join(value)
        if name in given and not (value is None and _has_words(field)):
            values[name] = value
    try:
        made: Request = operation.request.model_validate(values)
    except ValidationError as error:
        raise refusal_of(error, lambda name: _spelling(operation, name)) from error
    return made


def _spelling(operation: Operation[Any, Any], name: str) -> str:
    """Return the spelling of the parameter *name* on the command line."""
    field = operation.request.model_fields.get(name)
    if field is None:
        return name
    option = option_of(field)
    return option.metavar or name.upper() if option.is_argument else _names(name, option)[-1]


def _names(name: str, option: Option) -> tuple[str, ...]:
    return option.names or (f"--{name.replace('_', '-')}",)


def _run(ctx: typer.Context, services: Services, operation: Operation[Any, Any], request: Request) -> Result:
    """Run *operation*; if an address names no document, let the user choose a candidate on a terminal."""
    from clawmem.app.interfaces.cli.addresses import chosen_address
    from clawmem.ports.errors import Ambiguous, NotFound

    try:
        result: Result = operation.run(services, request)
    except (NotFound, Ambiguous) as error:
        name = _address_of(operation)
        address = chosen_address(ctx, getattr(request, name), error) if name else None
        if address is None:
            raise
        result = operation.run(services, request.model_copy(update={name: address}))
    return result


def _address_of(operation: Operation[Any, Any]) -> str:
    """Return the name of the parameter that is an address, or an empty string."""
    fields = operation.request.model_fields.items()
    return next((name for name, field in fields if field.description == ADDRESS), "")


def _said(ctx: typer.Context, operation: Operation[Any, Any], result: Result) -> Said:
    from clawmem.app.interfaces.cli.rendering import Said, json_part
    from clawmem.app.operations.output import parts_of

    if wants_json(ctx):
        return Said([json_part(result.model_dump(mode="json"))])
    return Said(parts_of(operation.text(result)))
