"""Commands made from operations: options from the fields of the request, output from the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args, get_origin

import typer
from pydantic import ValidationError

from clawmem.app.client.request import result_from_server
from clawmem.app.interfaces.cli.command_line import Verbs, advised
from clawmem.app.interfaces.cli.session import (
    chosen_by,
    may_ask,
    one_of,
    opened_for,
    progress,
    show,
    show_json,
    show_outcome,
    show_part,
    text_on_stdin,
)
from clawmem.app.operations.operation import (
    CONFIRM,
    AnyOperation,
    Command,
    Request,
    exit_code_of,
    option_of,
    refusal_of,
    remarks_of,
)
from clawmem.app.operations.output import Table, parts_of, printable
from clawmem.app.operations.table import operations_in
from clawmem.ports.errors import ClawmemError, ConfirmationMissing, InvalidInput

CALLER = "cli"
BACKEND = "backend"  # a field that takes the value of the global option
YES, PREVIEW = "--yes", "--preview"
EXTRAS = {  # options of operations that ask first
    YES: Annotated[bool | None, typer.Option(YES, "-y", help="Do it without asking; for programs.")],
    PREVIEW: Annotated[bool | None, typer.Option(PREVIEW, help="Show what would be done, change nothing.")],
}


class Form:
    """
    An operation as one form of a command.

    Attributes:
        fields: The fields of the request that the command line has, by name.
        texts: Their help texts.
        arguments: The names of those that are positional.
        names: All spellings of each field as an option.
        spellings: How the command line writes each field.
        options: The names of the fields that are options, by their spelling.
        extras: The options that it has beside those of the request.
        label: The words that choose the form, such as ``--mode words``.
        usage: The word that chooses the form, and its arguments; optional ones are in brackets.
    """

    def __init__(self, operation: AnyOperation, command: Command) -> None:
        self.operation, self.command = operation, command
        self.about = command.about or operation.about
        self.selector, _, self.value = command.form.partition("=")
        self.is_option = self.selector.startswith("-")
        hidden, fields = {*command.fixed, CONFIRM, BACKEND}, operation.request.model_fields
        self.fields = {name: field for name, field in fields.items() if name not in hidden}
        self.texts = {
            name: option_of(field).about or field.description or "" for name, field in self.fields.items()
        }
        self.arguments = [name for name, field in self.fields.items() if option_of(field).is_argument]
        self.names = {
            name: option_of(field).names or (f"--{name.replace('_', '-')}",)
            for name, field in self.fields.items()
        }
        self.spellings = {
            name: option_of(field).metavar or name.upper()
            if name in self.arguments
            else self.names[name][-1].partition("/")[0]
            for name, field in self.fields.items()
        }
        self.options = {self.spellings[name]: name for name in self.fields if name not in self.arguments}
        self.extras = [*EXTRAS] if operation.asks_first else []
        self.places = {self.spellings[name]: self.fields[name].is_required() for name in self.arguments}
        self.required = sum(self.places.values())
        needed = " ".join(place for place, is_required in self.places.items() if is_required)
        word = command.form.replace("=", " ") if self.is_option else self.value
        self.label = word or needed or "no argument"
        mark = "{}" if len(self.places) == 1 and not self.value else "[{}]"  # which may be around all forms
        places = [place.strip(".") if needed else mark.format(place) for place, needed in self.places.items()]
        self.usage = " ".join([*([self.value] if self.value and not self.is_option else ()), *places])

    def is_selected(self, options: Mapping[str, Any], words: Sequence[str]) -> bool:
        """Whether the command line chooses the form by its selector."""
        if self.is_option:
            return bool(options.get(self.selector) == (self.value or True))
        return bool(self.value) and words[:1] == [self.value]

    def takes(self, words: Sequence[str]) -> bool:
        """Whether the form has no selector, and *words* are enough arguments for it."""
        fits = self.command.fits
        return not self.selector and self.required <= len(words) and (fits is None or fits(words))

    def has(self, options: Iterable[str]) -> bool:
        """Whether the form has all *options*."""
        return {*options} <= {*self.options, *self.extras}

    def can_become(self, other: Form, words: Sequence[str]) -> bool:
        """Whether adding the selector or the arguments of *other* to *words* chooses it instead."""
        is_more = other.selector or other.required > self.required
        is_added = other.selector == self.selector if self.selector else is_more
        return bool(is_added and (other.arguments or not words))

    def request(self, options: Mapping[str, Any], words: Sequence[str], backend: str | None) -> Request:
        """Return the request of the *options* by spelling, and the *words* of the arguments."""
        values: dict[str, Any] = {**self.command.defaults, **self.command.fixed}
        if backend is not None and BACKEND in self.operation.request.model_fields:
            values[BACKEND] = backend
        values |= {self.options[spelling]: value for spelling, value in options.items()}
        rest, advice = [*words], f"Run: clawmem {self.command.words} --help"
        for name in self.arguments[: len(words)]:
            annotation, option = self.fields[name].annotation, option_of(self.fields[name])
            is_several = "..." in (option.metavar or "") or _allows(annotation, list)
            taken, rest = (rest, []) if is_several else (rest[:1], rest[1:])
            value: Any = taken if _allows(annotation, list) else " ".join(taken)
            texts = taken if value is taken else [value]
            if taken and not (option.from_stdin or all(text.strip() for text in texts)):
                raise InvalidInput("INVALID_INPUT", f"{self.spellings[name].strip('.')} is empty. {advice}")
            if option.from_stdin and value == "-":
                value = text_on_stdin()
            values[name] = option.parser(value) if option.parser else value
        if rest:
            raise InvalidInput("INVALID_INPUT", f"Got unexpected extra argument ({rest[0]}). {advice}")
        try:
            made: Request = self.operation.request.model_validate(values)
        except ValidationError as error:
            shown = self.spellings | {name: "/".join(self.names[name]) for name in self.options.values()}
            raise refusal_of(error, lambda name: shown.get(name, name).strip("."), advice) from error
        return made


def commands_in(modules: Sequence[str], verb: str) -> typer.Typer:
    """Return the commands of the operations in *modules* that begin with *verb*, including command groups."""
    cli = typer.Typer(rich_markup_mode=None)
    forms: dict[str, list[Form]] = {}
    for module in modules:
        for operation in operations_in(module):
            for command in operation.commands:
                if command.words.split()[0] == verb:
                    forms.setdefault(command.words, []).append(Form(operation, command))
    names = [words.split()[1] for words in forms if " " in words]
    about = f"Choose a command: {', '.join(names)}."
    group = typer.Typer(cls=Verbs, rich_markup_mode=None, help=about) if names else cli
    if names:
        cli.add_typer(group, name=verb)
    for words, several in forms.items():
        several.sort(key=lambda form: bool(form.selector))
        usage = "|".join(dict.fromkeys(form.usage for form in several if form.usage))
        is_optional = not all(form.required or form.selector for form in several)
        usage = f"[{usage}]" if usage and is_optional and not usage.startswith("[") else usage
        (group if " " in words else cli).command(
            words.split()[-1],
            options_metavar=f"[OPTIONS] {usage}".strip(),
            context_settings={"allow_extra_args": True},
        )(_command_of(several))
    return cli


def _command_of(forms: Sequence[Form]) -> Any:
    """Return the function for typer of a command that has *forms*."""
    spelt = _options(forms)

    def run(ctx: typer.Context, **given: Any) -> None:
        options = {
            spelling: [*value] if isinstance(value, tuple) else value
            for place, spelling in enumerate(spelt)
            if (value := given[f"option{place}"]) not in (None, [], ())
        }
        words = ctx.args
        selected = [form for form in forms if form.is_selected(options, words)]
        if len(selected) > 1:
            labels = " and ".join(form.label for form in selected)
            raise InvalidInput("INVALID_INPUT", f"{labels} do not go together. Choose one.")
        plain = sorted(
            (form for form in forms if form.takes(words)),
            key=lambda form: (-form.required, not form.has(options)),
        )
        for form in forms if not selected else ():
            known = [other.value for other in forms if other.selector == form.selector]
            if form.is_option and form.value and form.selector in options:
                one_of(form.selector, str(options[form.selector]), known)
            if form.value and not form.is_option and words and not any(other.arguments for other in plain):
                one_of(form.selector, words[0], known)
        form = [*selected, *plain, *(form for form in forms if not form.selector), *forms][0]
        options.pop(form.selector, None)
        words = words[1:] if form.value and not form.is_option else words
        for spelling in options.keys() - {*form.options, *form.extras}:
            able = [other.label for other in forms if other.has([spelling]) and form.can_become(other, words)]
            others = [name for name in form.options if name in options]
            rival = others[0] if others and any(other.has([spelling]) for other in plain) else form.label
            fault = f"{spelling} and {rival} do not go together. Leave one of them out."
            if able:
                fault = f"{spelling} goes with {' or '.join(able)}. Leave it out, or add that."
            raise InvalidInput("INVALID_INPUT", fault)
        extras: dict[str, Any] = {name: options.pop(name) for name in form.extras if name in options}
        backend = chosen_by(ctx).backend
        # Names with commas, where no note has the whole as its name, are for the form that takes several.
        several = [other for other in plain if other is not form and other.required == form.required]
        request: Request | None = None
        try:
            request = form.request(options, words, backend)
            _run(ctx, form.operation, request, extras)
        except ClawmemError as error:
            # No option names a vault that is an argument.
            error.args = (advised(str(error), getattr(request, "vault", None)),)
            is_list = error.code in ("NOT_FOUND", "INVALID_INPUT") and "," in "".join(words[:1])
            if not (is_list and several and several[0].has(options)):
                raise
            _run(ctx, several[0].operation, several[0].request(options, words, backend), extras)

    first, *others = forms
    places = [(form.spellings[name], form.texts[name]) for form in forms for name in form.arguments]
    arguments = dict.fromkeys(f"{place.strip('.')}: {about}" for place, about in places)
    texts = [first.about, *(f"With {form.label}: {form.about}" for form in others), *arguments]
    run.__doc__ = "\n\n".join(texts)
    ctx = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    options = [
        Parameter(f"option{place}", Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for place, annotation in enumerate(spelt.values())
    ]
    run.__signature__ = Signature([ctx, *options])  # type: ignore[attr-defined]
    return run


def _options(forms: Sequence[Form]) -> dict[str, Any]:
    """Return the annotations of the options by spelling: selectors, those of requests, and extras."""
    annotations: dict[str, Any] = {}
    kind: Any
    metavar: str | None
    for form in forms:
        if form.is_option and form.value:
            known = [other.value for other in forms if other.selector == form.selector]
            about = f"One of {', '.join(known)}.  [default: {known[0]}]"
            option = typer.Option(form.selector, metavar="MODE", help=about)
            annotations[form.selector] = Annotated[str | None, option]
        elif form.is_option:
            option = typer.Option(form.selector, help=form.about.partition("\n")[0])
            annotations[form.selector] = Annotated[bool | None, option]
    for form in forms:
        for spelling, name in form.options.items():
            if spelling in annotations:
                continue
            field, labels = form.fields[name], [other.label for other in forms if spelling in other.options]
            only = f"With {', '.join(labels)}: " if form is not forms[0] else ""
            default = form.command.defaults.get(name, None if field.is_required() else field.get_default())
            shown = "" if default in ("", None, False, True) else f"  [default: {default}]"
            is_number = _allows(field.annotation, int) or _allows(field.annotation, float)
            kind, metavar = str, option_of(field).metavar or ("NUMBER" if is_number else "TEXT")
            if _allows(field.annotation, bool) and not _allows(field.annotation, str):
                kind, metavar = bool, None
            elif _allows(field.annotation, list):
                kind, shown = list[str], ""
            about = f"{only}{form.texts[name]}{shown}"
            option = typer.Option(*form.names[name], help=about, metavar=metavar)
            annotations[spelling] = Annotated[kind | None, option]
        annotations.update({spelling: EXTRAS[spelling] for spelling in form.extras})
    return annotations


def _allows(annotation: Any, kind: type) -> bool:
    """Whether *annotation* is *kind*, or a union with it."""
    origin = get_origin(annotation)
    parts = () if origin in (list, tuple) else get_args(annotation)
    return kind in (annotation, origin) or any(_allows(part, kind) for part in parts)


def _run(ctx: typer.Context, operation: AnyOperation, request: Request, extras: Mapping[str, Any]) -> None:
    """Run an operation, write its result, and exit with its exit code; a running server answers what only reads."""
    chosen = chosen_by(ctx)
    if operation.reads and not (chosen.alone or chosen.backend or operation.in_own_process):
        parameters = request.model_dump(mode="json", exclude_unset=True)
        record = result_from_server(operation.name, parameters, chosen.vault)
        if record is not None:
            _show(ctx, operation, request, operation.result_of(record))
            return
    agreed, only_preview = extras.get(YES, False), extras.get(PREVIEW, False)
    if agreed or only_preview:
        request = request.model_copy(update={CONFIRM: not only_preview})
    with opened_for(ctx, operation, request) as services:
        called = services.called_by(CALLER, progress)
        try:
            result = operation.run(called, request)
            for note in getattr(result, "similar", ())[: may_ask(ctx)]:
                if typer.confirm(f"Does it replace {note.file}?", default=False):
                    result = operation.run(called, request.model_copy(update={"supersedes": note.docid}))
        except ConfirmationMissing as missing:
            if not (only_preview or agreed or may_ask(ctx)):
                remedy = "To confirm, add --yes."
                raise ConfirmationMissing(missing.preview, missing.would_remove, remedy=remedy) from None
            if only_preview or not agreed:
                show_outcome(ctx, {"action": "preview", **missing.would_remove}, "\n".join(missing.preview))
            if only_preview:
                raise typer.Exit from None
            if not agreed and not typer.confirm("Do it?", default=False):
                show("Nothing was changed.")
                raise typer.Exit(1) from None
            result = operation.run(called, request.model_copy(update=missing.confirmed))
        code = exit_code_of(result)
        if services.is_new and (code or getattr(request, "dry_run", False)):
            _show(ctx, operation, request, result)
            raise typer.Exit(code)  # inside the block: a new vault without documents is deleted
    _show(ctx, operation, request, result)
    raise typer.Exit(code)


def _show(ctx: typer.Context, operation: AnyOperation, request: Request, result: Any) -> None:
    """Print *result*; faults and remarks go to stderr. Texts of notes are indented, `Styled` or `Verbatim`."""
    vault = chosen_by(ctx).vault or getattr(request, "vault", None)
    if chosen_by(ctx).json:
        show_json(operation.record(result))
    else:
        for part in parts_of(operation.shown(result, on_terminal=True)):
            if isinstance(part, Table) and part.columns[-1] == "value":
                part = part._replace(rows=[[advised(cell, vault) for cell in row] for row in part.rows])
            elif type(part) is str and not part.startswith("  "):
                part = advised(part, vault)
            show_part(part)
    for name, reason in getattr(result, "degraded", {}).items():
        typer.echo(advised(f"degraded: {name}: {printable(reason)}", vault), err=True)
    for remark in remarks_of(result, request):
        typer.echo(advised(f"clawmem: {printable(remark)}", vault), err=True)
