"""Commands derived from operations: options from the fields of the request, output from the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import typer
from pydantic import ValidationError

from clawmem.app.interfaces.cli import formats
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.dialogues import OPTIONS, chosen_address, run_confirmed
from clawmem.app.interfaces.cli.overview import advised, with_vault
from clawmem.app.interfaces.cli.rendering import (
    CommandOutput,
    interruption_explained,
    json_part,
    progress,
    show_said,
)
from clawmem.app.interfaces.cli.session import (
    chosen_by,
    command_group,
    opened_for,
    settings_of,
    tell,
    wants_json,
)
from clawmem.app.operations.answer_text import NO_CONFIDENT_ANSWER, is_unlikely
from clawmem.app.operations.operation import (
    CONFIRM,
    AnyOperation,
    Command,
    Option,
    Request,
    exit_code_of,
    left_out_of,
    option_of,
    parameters_of,
    remarks_of,
    with_signature,
)
from clawmem.app.operations.output import Part, parts_of
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.operations.table import operations_in
from clawmem.ports.errors import Ambiguous, InvalidInput, NotFound

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from clawmem.app.bootstrap.services import Services

CALLER = "cli"
# Operations that read and recommend commands, and whose text quotes no note.
_ADVISING = frozenset({"collections", "index_stats", "status"})


def commands_in(
    modules: Sequence[str], verb: str, more: Mapping[str, Callable[..., None]] = MappingProxyType({})
) -> typer.Typer:
    """
    Return the commands of the operations in *modules* that begin with *verb*, including command groups.

    Args:
        more: Commands of the same words, or that are no operations.
    """
    cli = command_group()
    operations = [one for module in modules for one in operations_in(module)]
    commands = [
        (operation, command)
        for operation in operations
        for command in operation.commands
        if command.words.split()[0] == verb
    ]
    defaults = dict(command.words.split() for _, command in commands if command.is_default)
    functions = {command.words: command_of(operation, command) for operation, command in commands}
    groups: dict[str, typer.Typer] = {}
    for words, function in {**functions, **more}.items():
        *group, word = words.split()
        place = groups.setdefault(group[0], _group(modules[0], defaults.get(group[0]))) if group else cli
        place.command(word)(function)
    for name, one in groups.items():
        cli.add_typer(one, name=name)
    return cli


def _group(module: str, default: str | None) -> typer.Typer:
    group = type("Group", (Verbs,), {"default": default}) if default else Verbs
    return typer.Typer(cls=group, rich_markup_mode=None, help=operations_about(module))


def operations_about(module: str) -> str:
    """Return the first line of the docstring of the operations in *module*."""
    return (import_module(f"clawmem.app.operations.{module}").__doc__ or "").partition("\n")[0]


def command_of(operation: AnyOperation, command: Command) -> Any:
    """Return the function of *command* for typer."""

    def run(
        ctx: typer.Context,
        *,
        yes: bool = False,
        preview: bool = False,
        shape: str = "",
        **given: Any,
    ) -> None:
        if command.otherwise and any(given[name] is None for name in required):
            _answer(ctx, command.otherwise, command.otherwise.request())
            return
        _refuse_empty_texts(operation, given)
        given = {**given, **command.fixed}
        if operation.documents:
            _list(ctx, operation, _request(operation, given), shape)
        elif operation.reads:
            _answer(ctx, operation, _request(operation, given))
        else:
            _execute(ctx, operation, _request(operation, given), agreed=yes, only_preview=preview)

    required = [name for name, field in operation.request.model_fields.items() if field.is_required()]
    run.__doc__ = command.about or operation.about
    ctx = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    absent = [name for name, field in operation.request.model_fields.items() if _may_be_missing(field)]
    absent += required if command.otherwise else []
    defaults = {**dict.fromkeys(absent), **command.defaults}
    options = parameters_of(
        operation.request,
        lambda name, field: _annotated(name, field, defaults.get(name, field.default)),
        without={*command.fixed, CONFIRM},
        defaults=defaults,
    )
    more = [*(OPTIONS if operation.asks_first else ()), *(formats.OPTIONS if operation.documents else ())]
    return with_signature(run, [ctx, *options, *more])


def _list(ctx: typer.Context, operation: AnyOperation, request: Request, shape: str) -> None:
    """Write the documents of a result in the format *shape*."""
    is_full = getattr(request, "body", False)
    _answer(ctx, operation, request, formats.checked_format(shape, is_json=wants_json(ctx), is_full=is_full))


def _answer(ctx: typer.Context, operation: AnyOperation, request: Request, shape: str = "") -> Any:
    """Write and return the result of an operation that reads; a running server runs it, if there is one."""
    chosen = chosen_by(ctx)
    results: list[Any] = []

    def said(result: Any) -> CommandOutput:
        results.append(result)
        return _said(ctx, operation, result, shape)

    if not (chosen.alone or chosen.backend or operation.in_own_process):
        from clawmem.app.client.request import result_from_server

        parameters = request.model_dump(mode="json", exclude_unset=True)
        record = result_from_server(operation.name, parameters, chosen.vault)
        if record is not None:
            show_said(said(operation.result_of(record)))
            return results[0]
    tell(
        ctx,
        lambda services: said(operation.run(services.called_by(CALLER), request)),
        lambda: opened_for(ctx, operation, request),
    )
    return results[0]


def _execute(
    ctx: typer.Context, operation: AnyOperation, request: Request, *, agreed: bool, only_preview: bool
) -> None:
    """Run an operation that changes the vault, write its result, and exit with its exit code."""
    if operation.asks_first and (agreed or only_preview):
        request = request.model_copy(update={CONFIRM: not only_preview})
    with opened_for(ctx, operation, request) as services, interruption_explained():
        called = services.called_by(CALLER, progress)
        result = run_confirmed(
            ctx,
            lambda request: _run(ctx, called, operation, request),
            request,
            agreed=agreed,
            only_preview=only_preview,
        )
    show_said(_said(ctx, operation, result))
    raise typer.Exit(exit_code_of(result))


def _may_be_missing(field: FieldInfo) -> bool:
    """Whether the parameter keeps its default if the command line has no value: a text, or a list of words or values."""
    is_list = _has_words(field) or _is_list(field.annotation)
    return (is_list and not field.is_required()) or _is_text_option(field)


def _is_text_option(field: FieldInfo) -> bool:
    """Whether the parameter is an option with a text that is empty by default, and must not be empty where it is given."""
    return field.default == "" and not option_of(field).is_argument


def _has_words(field: FieldInfo) -> bool:
    """Whether the parameter is a text that stands on the command line as several words."""
    option = option_of(field)
    return option.is_argument and "..." in (option.metavar or "")


def _is_list(annotation: Any) -> bool:
    """Whether *annotation* allows a list: its option may be repeated."""
    return get_origin(annotation) is list or any(map(_is_list, get_args(annotation)))


def _is_path(annotation: Any) -> bool:
    """Whether *annotation* allows a path; an empty one would be the current folder."""
    return annotation is Path or any(map(_is_path, get_args(annotation)))


def _typed(annotation: Any) -> Any:
    """Return *annotation* as typer reads it; the request itself validates names and other values."""
    if _is_list(annotation):
        return list[str] | None
    several = (
        get_args(annotation) if isinstance(annotation, UnionType) or get_origin(annotation) is Union else ()
    )
    [kind, *_] = [value for value in several if value is not NoneType] or [annotation]
    kind = kind if kind in (bool, int, float, str) else str
    return kind | None if NoneType in several else kind


def _annotated(name: str, field: FieldInfo, default: object) -> Any:
    option = option_of(field)
    about = option.about or field.description or ""
    if option.is_argument:
        metavar = option.metavar or name.upper()
        words: Any = list[str] if field.is_required() else list[str] | None
        is_text = _is_path(field.annotation) and not option.parser
        kind = words if _has_words(field) else _typed(field.annotation) if is_text else field.annotation
        return Annotated[
            kind, typer.Argument(metavar=metavar, help=about, show_default=False, parser=option.parser)
        ]
    names = _names(name, option)
    shown = not field.is_required() and default not in ("", None, False, True)
    kind = field.annotation if option.parser else _typed(field.annotation)
    return Annotated[kind, typer.Option(*names, help=about, show_default=shown, parser=option.parser)]


def _request(operation: AnyOperation, given: Mapping[str, Any]) -> Request:
    """Return the request; words of an argument are joined, and a missing list or flag keeps its default."""
    fields = operation.request.model_fields
    values: dict[str, Any] = {}
    for name, value in given.items():
        has_words = _has_words(fields[name])
        if isinstance(value, list) and not has_words:
            _refuse_empty(_spelling(operation, name), value)
        if value is not None or not _may_be_missing(fields[name]):
            text = " ".join(value) if isinstance(value, list) and has_words else value
            is_dash = text == "-" and option_of(fields[name]).from_stdin
            values[name] = _decodable(_stdin() if is_dash else text)
    try:
        made: Request = operation.request.model_validate(values)
    except ValidationError as error:
        raise refusal_of(error, lambda name: _spelling(operation, name)) from error
    return made


def _decodable(value: Any) -> Any:
    """Return *value*; in a text, bytes that are not UTF-8 become question marks."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _stdin() -> str:
    """Return the text on stdin."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "INVALID_INPUT",
            f"stdin is not UTF-8 text (byte {error.start}). Convert it, for example with iconv.",
        ) from error


def _refuse_empty_texts(operation: AnyOperation, given: Mapping[str, Any]) -> None:
    for name, field in operation.request.model_fields.items():
        value = given.get(name)
        if isinstance(value, str) and (_is_text_option(field) or _is_path(field.annotation)):
            _refuse_empty(_spelling(operation, name), [value])


def _refuse_empty(option: str, values: list[str]) -> None:
    """Refuse an empty value, such as an unset variable, instead of ignoring the option."""
    if not all(value.strip(" ,") for value in values):
        raise InvalidInput("INVALID_INPUT", f"{option} is empty. Give it a value, or leave it out.")


def _spelling(operation: AnyOperation, name: str) -> str:
    """Return the spelling of the parameter *name* on the command line."""
    field = operation.request.model_fields.get(name)
    if field is None:
        return name
    option = option_of(field)
    return option.metavar or name.upper() if option.is_argument else _names(name, option)[-1]


def _names(name: str, option: Option) -> tuple[str, ...]:
    return option.names or (f"--{name.replace('_', '-')}",)


def _run(ctx: typer.Context, services: Services, operation: AnyOperation, request: Request) -> Any:
    """Run *operation*; if an address names no document, let the user choose a candidate on a terminal."""
    try:
        return operation.run(services, request)
    except (NotFound, Ambiguous) as error:
        name = _address_of(operation)
        address = chosen_address(ctx, getattr(request, name), error) if name else None
        if address is None:
            raise
        return operation.run(services, request.model_copy(update={name: address}))


def _address_of(operation: AnyOperation) -> str:
    """Return the name of the parameter that is an address, or an empty string."""
    fields = operation.request.model_fields.items()
    return next((name for name, field in fields if option_of(field).is_address), "")


def _said(ctx: typer.Context, operation: AnyOperation, result: Any, shape: str = "") -> CommandOutput:
    vault, asides = chosen_by(ctx).vault, list(remarks_of(result))
    parts: list[Part]
    if shape == "json" or wants_json(ctx):
        parts = [json_part(operation.record(result))]
    elif shape and operation.documents:
        parts, more = formats.parts_in(shape, operation.documents(result), settings_of(ctx).roots)
        asides += [*more, *([NO_CONFIDENT_ANSWER] if is_unlikely(result) else [])]
    else:
        parts = parts_of(operation.shown(result, on_terminal=True))
        if not operation.reads or operation.name in _ADVISING:
            parts = [advised(part, vault) for part in parts]
    left_out = {name: with_vault(reason, vault) for name, reason in left_out_of(result).items()}
    asides = [with_vault(aside, vault) for aside in asides]
    return CommandOutput(parts, left_out, asides)
