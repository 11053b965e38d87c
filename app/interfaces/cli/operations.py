"""Commands made from operations: options from the fields of the request, output from the result."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from pydantic import ValidationError

from clawmem.app.interfaces.cli import formats
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.dialogues import chosen_address, run_confirmed
from clawmem.app.interfaces.cli.overview import advised, with_vault
from clawmem.app.interfaces.cli.rendering import (
    CommandOutput,
    interruption_explained,
    json_part,
    progress,
    show_said,
    stop_event,
)
from clawmem.app.interfaces.cli.session import (
    chosen_by,
    command_group,
    note_read_only,
    one_of,
    opened_for,
    settings_of,
    wants_json,
)
from clawmem.app.operations.answers import NO_CONFIDENT_ANSWER, is_unlikely
from clawmem.app.operations.operation import (
    CONFIRM,
    AnyOperation,
    Command,
    Request,
    exit_code_of,
    left_out_of,
    option_of,
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
BACKEND = "backend"  # a field that takes the value of the global option
# Operations that read and recommend commands, and whose text quotes no note.
_ADVISING = frozenset({"collections", "index_stats", "status"})
YES, PREVIEW, FORMAT, EVERY = "--yes", "--preview", "--format", "--every"
_MORE = {  # options that are no fields of a request
    YES: Annotated[bool | None, typer.Option(YES, "-y", help="Do it without asking; for programs.")],
    PREVIEW: Annotated[bool | None, typer.Option(PREVIEW, help="Show what would be done, change nothing.")],
    FORMAT: Annotated[
        str | None, typer.Option(FORMAT, metavar="FORMAT", help=f"One of {', '.join(formats.FORMATS)}.")
    ],
    EVERY: Annotated[
        float | None,
        typer.Option(EVERY, min=1.0, metavar="SECONDS", help="Repeat it at this interval, until Ctrl-C."),
    ],
}


def commands_in(modules: Sequence[str], verb: str) -> typer.Typer:
    """Return the commands of the operations in *modules* that begin with *verb*, including command groups."""
    cli = command_group()
    forms: dict[str, list[Form]] = {}
    for operation in (operation for module in modules for operation in operations_in(module)):
        for command in operation.commands:
            if command.words.split()[0] == verb:
                forms.setdefault(command.words, []).append(Form(operation, command))
    groups: dict[str, typer.Typer] = {}
    for words, several in forms.items():
        *group, word = words.split()
        place = groups.setdefault(group[0], _group(modules[0])) if group else cli
        place.command(word)(command_of(sorted(several, key=lambda form: bool(form.selector))))
    for name, below in groups.items():
        cli.add_typer(below, name=name)
    return cli


def _group(module: str) -> typer.Typer:
    about = import_module(f"clawmem.app.operations.{module}").__doc__ or ""
    return typer.Typer(cls=Verbs, rich_markup_mode=None, help=about.partition("\n")[0])


class Form:
    """
    An operation as one form of a command.

    Attributes:
        fields: The fields of the request that the command line has, by name.
        arguments: The names of those that are positional.
        options: The names of the others by the spelling of the option.
        more: The options that it has beside those of the request.
    """

    def __init__(self, operation: AnyOperation, command: Command) -> None:
        self.operation = operation
        self.command = command
        self.selector, _, self.value = command.form.partition("=")
        hidden = {*command.fixed, CONFIRM, BACKEND}
        fields = operation.request.model_fields.items()
        self.fields = {name: field for name, field in fields if name not in hidden}
        self.arguments = [name for name, field in self.fields.items() if option_of(field).is_argument]
        self.options = {
            _spelling(_names(name, field)): name
            for name, field in self.fields.items()
            if name not in self.arguments
        }
        self.more = [
            *([YES, PREVIEW] if operation.asks_first else ()),
            *([FORMAT] if operation.documents else ()),
            *([EVERY] if command.repeats else ()),
        ]

    @property
    def label(self) -> str:
        """The words that choose the form, such as ``--mode words``."""
        if self.selector:
            return self.command.form.replace("=", " ") if self.selector.startswith("-") else self.value
        needed = [self.spelling(name) for name in self.arguments if self.fields[name].is_required()]
        return " ".join(needed) or "no argument"

    @property
    def about(self) -> str:
        """The help text."""
        return self.command.about or self.operation.about

    @property
    def required(self) -> int:
        """The number of arguments that must be given."""
        return sum(self.fields[name].is_required() for name in self.arguments)

    def is_chosen(self, options: Mapping[str, Any], words: Sequence[str]) -> bool:
        """Whether the command line chooses the form by its selector."""
        if self.selector.startswith("-"):
            return bool(options.get(self.selector) == (self.value or True))
        return bool(self.value) and words[:1] == [self.value]

    def takes(self, words: Sequence[str]) -> bool:
        """Whether the form has no selector, and *words* are enough arguments for it."""
        fits = self.command.fits
        return not self.selector and self.required <= len(words) and (fits is None or fits(words))

    def spelling(self, name: str) -> str:
        """Return the spelling of the field *name* on the command line."""
        if name in self.arguments:
            return option_of(self.fields[name]).metavar or name.upper()
        return next((spelling for spelling, field in self.options.items() if field == name), name)

    def request(self, options: Mapping[str, Any], words: Sequence[str], backend: str | None) -> Request:
        """Return the request of the *options* by spelling, and the *words* of the arguments."""
        values: dict[str, Any] = {**self.command.defaults, **self.command.fixed}
        if backend is not None and BACKEND in self.operation.request.model_fields:
            values[BACKEND] = backend
        for spelling, value in options.items():
            texts = value if isinstance(value, list) else [value]
            if not all(str(text).strip(" ,") for text in texts):
                raise InvalidInput("INVALID_INPUT", f"{spelling} is empty. Give it a value, or leave it out.")
            values[self.options[spelling]] = _decodable(value)
        rest = [*words]
        for name in self.arguments[: len(words)]:
            field, option = self.fields[name], option_of(self.fields[name])
            count = len(rest) if _is_several(field) else 1
            taken, rest = rest[:count], rest[count:]
            value = _decodable(taken if _allows(field.annotation, list) else " ".join(taken))
            if _allows(field.annotation, Path) and not value:
                raise InvalidInput("INVALID_INPUT", f"{option.metavar} is empty.")
            value = _stdin() if option.from_stdin and value == "-" else value
            values[name] = option.parser(value) if option.parser else value
        if rest:
            advice = f"Run: clawmem {self.command.words} --help"
            raise InvalidInput("INVALID_INPUT", f"Got unexpected extra argument ({rest[0]}). {advice}")
        try:
            made: Request = self.operation.request.model_validate(values)
        except ValidationError as error:
            raise refusal_of(error, self.spelling) from error
        return made


def command_of(forms: Sequence[Form]) -> Any:
    """Return the function for typer of a command that has *forms*."""
    arguments = _arguments(forms)
    spelt = {**_selectors(forms), **_options(forms)}
    parameters = {f"option{place}": spelling for place, spelling in enumerate(spelt)}

    def run(ctx: typer.Context, **given: Any) -> None:
        several = (given[argument.name] for argument in arguments)
        words = [
            word for value in several for word in (value if isinstance(value, list | tuple) else [value])
        ]
        words = [word for word in words if word is not None]
        options = {
            spelling: [*given[name]] if isinstance(given[name], tuple) else given[name]
            for name, spelling in parameters.items()
            if given[name] not in (None, [], ())
        }
        form = _chosen(forms, options, words)
        options.pop(form.selector, None)
        words = words[1:] if form.value and not form.selector.startswith("-") else words
        _refuse_others(forms, form, options)
        more: dict[str, Any] = {name: options.pop(name) for name in form.more if name in options}
        request = form.request(options, words, chosen_by(ctx).backend)
        if EVERY in more:
            _repeat(ctx, form.operation, request, more[EVERY])
        else:
            _run(ctx, form.operation, request, more)

    first, *others = forms
    run.__doc__ = "\n\n".join([first.about, *(f"With {form.label}: {form.about}" for form in others)])
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=spelt[spelling])
        for name, spelling in parameters.items()
    ]
    ctx = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    return with_signature(run, [ctx, *arguments, *options])


def _chosen(forms: Sequence[Form], options: Mapping[str, Any], words: Sequence[str]) -> Form:
    """
    Return the form that a command line chooses.

    Raises:
        InvalidInput: The value of a selector is unknown, or two selectors are given.
    """
    chosen = [form for form in forms if form.is_chosen(options, words)]
    if len(chosen) > 1:
        raise InvalidInput(
            "INVALID_INPUT", f"{' and '.join(form.label for form in chosen)} do not go together. Choose one."
        )
    for form in forms:
        if form.value and not chosen and (form.selector in options or not form.selector.startswith("-")):
            known = [other.value for other in forms if other.selector == form.selector]
            free = [other for other in forms if other.takes(words) and other.arguments]
            if form.selector in options or (words and not free):
                one_of(form.selector, str(options.get(form.selector) or words[0]), known)
    unselected = sorted((form for form in forms if form.takes(words)), key=lambda form: -form.required)
    plain = [form for form in forms if not form.selector]
    return [*chosen, *unselected, *plain, *forms][0]


def _refuse_others(forms: Sequence[Form], chosen: Form, options: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if *options* has one that only other forms have."""
    for spelling in options.keys() - {*chosen.options, *chosen.more}:
        labels = [form.label for form in forms if spelling in {*form.options, *form.more}]
        raise InvalidInput(
            "INVALID_INPUT", f"{spelling} goes with {' or '.join(labels)}. Leave it out, or add that."
        )


def _arguments(forms: Sequence[Form]) -> list[Parameter]:
    """Return the positional parameters: one for each place, described by the first form that has it."""
    values = [form.value for form in forms if form.value and not form.selector.startswith("-")]
    places: list[list[tuple[Form, str]]] = []
    for form in forms:
        before = int(form.value in values)
        for place, name in enumerate(form.arguments, before):
            places += [[] for _ in range(place + 1 - len(places))]
            places[place].append((form, name))
    if values and not places:
        places = [[]]
    parameters = []
    for place, fields in enumerate(places):
        several = [form.fields[name] for form, name in fields]
        is_required = len(several) == len(forms) and all(field.is_required() for field in several)
        spellings = [*dict.fromkeys(form.spelling(name).strip(".") for form, name in fields)]
        metavar = "|".join([*(values if place == 0 else ()), *spellings])
        about = " ".join(
            dict.fromkeys(option_of(field).about or field.description or "" for field in several)
        )
        kind: Any = list[str] if any(map(_is_several, several)) else str
        option = typer.Argument(metavar=metavar, help=about, show_default=False)
        parameters.append(
            Parameter(
                f"argument{place}",
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if is_required else None,
                annotation=Annotated[kind if is_required else kind | None, option],
            )
        )
    return parameters


def _selectors(forms: Sequence[Form]) -> dict[str, Any]:
    """Return the annotations of the options that choose a form."""
    annotations: dict[str, Any] = {}
    for form in forms:
        if form.selector.startswith("-"):
            several = [other for other in forms if other.selector == form.selector]
            if form.value:
                known = ", ".join(other.value for other in several)
                about = f"One of {known}.  [default: {several[0].value}]"
                option = typer.Option(form.selector, metavar="MODE", help=about)
                annotations[form.selector] = Annotated[str | None, option]
            else:
                about = form.about.partition("\n")[0]
                annotations[form.selector] = Annotated[bool | None, typer.Option(form.selector, help=about)]
    return annotations


def _options(forms: Sequence[Form]) -> dict[str, Any]:
    """Return the annotations of all other options by spelling; of an option of several forms, that of the first."""
    annotations: dict[str, Any] = {}
    for form in forms:
        for spelling, name in form.options.items():
            if spelling not in annotations:
                labels = [other.label for other in forms if spelling in other.options]
                only = f"With {', '.join(labels)}: " if form is not forms[0] else ""
                annotations[spelling] = _option(form, name, only)
        annotations.update({spelling: _MORE[spelling] for spelling in form.more})
    return annotations


def _option(form: Form, name: str, only: str) -> Any:
    field = form.fields[name]
    default = form.command.defaults.get(name, None if field.is_required() else field.get_default())
    about = f"{only}{option_of(field).about or field.description or ''}"
    shown = "" if default in ("", None, False, True) else str(default)
    kind: Any = str
    if _allows(field.annotation, bool) and not _allows(field.annotation, str):
        kind = bool
    elif _allows(field.annotation, list) or _allows(field.annotation, tuple):
        kind, shown = list[str], ""
    is_number = _allows(field.annotation, int) or _allows(field.annotation, float)
    metavar = None if kind is bool else option_of(field).metavar or ("NUMBER" if is_number else "TEXT")
    about += f"  [default: {shown}]" if shown else ""
    option = typer.Option(*_names(name, field), help=about, metavar=metavar)
    return Annotated[kind | None, option]


def _names(name: str, field: FieldInfo) -> tuple[str, ...]:
    return option_of(field).names or (f"--{name.replace('_', '-')}",)


def _spelling(names: Sequence[str]) -> str:
    return names[-1].partition("/")[0]


def _is_several(field: FieldInfo) -> bool:
    """Whether a positional field takes several words."""
    return "..." in (option_of(field).metavar or "") or _allows(field.annotation, list)


def _allows(annotation: Any, kind: type) -> bool:
    """Whether *annotation* is *kind*, or a union with it."""
    if annotation is kind or get_origin(annotation) is kind:
        return True
    return get_origin(annotation) not in (list, tuple) and any(
        _allows(one, kind) for one in get_args(annotation)
    )


def _decodable(value: Any) -> Any:
    """Return *value*; in a text, bytes that are not UTF-8 become question marks."""
    if isinstance(value, list):
        return [*map(_decodable, value)]
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


def _run(ctx: typer.Context, operation: AnyOperation, request: Request, more: Mapping[str, Any]) -> None:
    """Run an operation, write its result, and exit with its exit code; a running server answers what only reads."""
    chosen, shape = chosen_by(ctx), ""
    if operation.documents:
        is_full = getattr(request, "body", False)
        shape = formats.checked_format(more.get(FORMAT, ""), is_json=wants_json(ctx), is_full=is_full)
    if operation.reads and not (chosen.alone or chosen.backend or operation.in_own_process):
        from clawmem.app.client.request import result_from_server

        parameters = request.model_dump(mode="json", exclude_unset=True)
        record = result_from_server(operation.name, parameters, chosen.vault)
        if record is not None:
            show_said(_said(ctx, operation, operation.result_of(record), shape))
            return
    agreed, only_preview = more.get(YES, False), more.get(PREVIEW, False)
    if agreed or only_preview:
        request = request.model_copy(update={CONFIRM: not only_preview})
    with opened_for(ctx, operation, request) as services, interruption_explained():
        called = services.called_by(CALLER, progress)
        result = run_confirmed(
            ctx,
            lambda request: _attempt(ctx, called, operation, request),
            request,
            agreed=agreed,
            only_preview=only_preview,
        )
        if operation.reads and services.is_open:
            note_read_only(services.settings.vault)
    show_said(_said(ctx, operation, result, shape))
    raise typer.Exit(exit_code_of(result))


def _repeat(ctx: typer.Context, operation: AnyOperation, request: Request, every_s: float) -> None:
    """Run an operation at intervals, and write its results, until the process is interrupted."""
    stop = stop_event()
    with opened_for(ctx, operation, request) as services:
        while not stop.is_set():
            show_said(_said(ctx, operation, operation.run(services.called_by(CALLER, progress), request)))
            stop.wait(every_s)


def _attempt(ctx: typer.Context, services: Services, operation: AnyOperation, request: Request) -> Any:
    """Run *operation*; if the address of a note to change names none, let the user choose a candidate on a terminal."""
    try:
        return operation.run(services, request)
    except (NotFound, Ambiguous) as error:
        fields = operation.request.model_fields.items()
        name = next((name for name, field in fields if option_of(field).is_address), "")
        address = chosen_address(ctx, getattr(request, name), error) if name and not operation.reads else None
        if address is None:
            raise
        return operation.run(services, request.model_copy(update={name: address}))


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
