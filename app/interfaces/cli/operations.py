"""Commands derived from operations: options from the fields of the request, output from the result."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import opened, tell, wants_json
from clawmem.app.operations.fields import ADDRESS
from clawmem.app.operations.operation import Command, Operation, Request, Result, option_of
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.operations.signatures import parameters_of, with_signature
from clawmem.app.operations.table import operations_in

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said

CALLER = "cli"


def commands_in(module: str) -> typer.Typer:
    """Return the commands of the operations in *module*, including command groups."""
    cli = typer.Typer(rich_markup_mode=None)
    cli.callback()(_verbs)
    groups: dict[str, typer.Typer] = {}
    for operation in operations_in(module):
        for command in operation.commands:
            *group, word = command.words.split()
            place = groups.setdefault(group[0], _group(group[0], module)) if group else cli
            place.command(word)(_function(operation, command))
    for name, one in groups.items():
        cli.add_typer(one, name=name)
    return cli


def _verbs() -> None:
    """Make the command line a group even with one command."""


def _group(name: str, module: str) -> typer.Typer:
    return typer.Typer(cls=Verbs, rich_markup_mode=None, help=operations_about(module))


def operations_about(module: str) -> str:
    """Return the first line of the docstring of the operations in *module*."""
    from importlib import import_module

    return (import_module(f"clawmem.app.operations.{module}").__doc__ or "").partition("\n")[0]


def _function(operation: Operation[Any, Any], command: Command) -> Any:
    def run(ctx: typer.Context, **given: Any) -> None:
        request = _request(operation, {**given, **command.fixed})
        if operation.reads:
            tell(
                ctx,
                lambda services: _said(ctx, operation, operation.run(services.called_by(CALLER), request)),
            )
            return
        from clawmem.app.interfaces.cli.rendering import show_said

        with opened(ctx) as services:
            result = _run(ctx, services.called_by(CALLER), operation, request)
        show_said(_said(ctx, operation, result))
        for remark in result.remarks:
            typer.echo(remark, err=True)
        raise typer.Exit(result.exit_code)

    run.__doc__ = command.about or operation.about
    ctx = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    no_words = {
        name: None for name, field in operation.request.model_fields.items() if _may_lack_words(field)
    }
    defaults = {**no_words, **command.defaults}
    options = parameters_of(
        operation.request,
        lambda name, field: _annotated(name, field, defaults.get(name, field.default)),
        without=command.fixed,
        defaults=defaults,
    )
    return with_signature(run, [ctx, *options])


def _may_lack_words(field: FieldInfo) -> bool:
    return option_of(field).is_argument and not field.is_required()


def _annotated(name: str, field: FieldInfo, default: object) -> Any:
    option = option_of(field)
    about = field.description or ""
    if option.is_argument:
        metavar = option.metavar or name.upper()
        words: Any = list[str] if field.is_required() else list[str] | None
        return Annotated[words, typer.Argument(metavar=metavar, help=about, show_default=False)]
    names = option.names or (f"--{name.replace('_', '-')}",)
    shown = not field.is_required() and default not in ("", None, False)
    return Annotated[field.annotation, typer.Option(*names, help=about, show_default=shown)]


def _request(operation: Operation[Any, Any], given: Mapping[str, Any]) -> Request:
    """Return the request; words of an argument are joined, and a missing argument keeps its default."""
    fields = operation.request.model_fields
    values = {
        name: " ".join(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None or not option_of(fields[name]).is_argument
    }
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
    return option.metavar or name.upper() if option.is_argument else (option.names or (f"--{name}",))[-1]


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
    from clawmem.app.interfaces.cli.rendering import Said, json_part, printable

    if wants_json(ctx):
        return Said([json_part(result.model_dump(mode="json"))])
    text = operation.text(result)
    return Said([printable(text)] if text else [])
