"""An operation: one thing that a user or an agent can ask for, for every interface; and the errors of invalid requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from inspect import Parameter, getdoc, signature
from types import FunctionType, MappingProxyType
from typing import Annotated, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model
from pydantic.fields import FieldInfo

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.output import Text, fields_text, records_table
from clawmem.app.services.documents.records import Record
from clawmem.app.settings.model import Settings, fault_of
from clawmem.ports.errors import ClawmemError, InvalidInput

P = ParamSpec("P")
R = TypeVar("R")
CONFIRM = "confirm"  # the parameter of a request that confirms it


class Request(BaseModel):
    """The parameters of an operation. An unknown parameter, or one of the wrong type, is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Result(Record):
    """A record that an operation makes itself."""


class SelectedResult(Result):
    """A result that has only some of its keys: a key that was not set is left out."""


def record_of(value: Any, *, without_nulls: bool = False) -> dict[str, Any]:
    """Return a record as JSON."""
    model = value if isinstance(value, BaseModel) else RootModel[type(value)].model_construct(value)  # type: ignore[misc]
    is_selected = isinstance(value, SelectedResult)
    return model.model_dump(mode="json", exclude_unset=is_selected, exclude_none=without_nulls)


def exit_code_of(result: object) -> int:
    """Return the exit code of a command with *result*: its ``exit_code``, or 1 if it is not ``ok`` or has ``problems``."""
    is_well = getattr(result, "ok", True) and not getattr(result, "problems", ())
    return getattr(result, "exit_code", int(not is_well))


def remarks_of(result: object, request: Request | None = None) -> Sequence[str]:
    """Return sentences for stderr: the ``remarks`` of *result*, or its ``problems``, or that a list ends at its limit."""
    if isinstance(result, list) and result and len(result) == getattr(request, "limit", 0):
        return [f"Only {len(result)} are shown; a higher limit may show more."]
    return getattr(result, "remarks", getattr(result, "problems", ()))


class Effect(Enum):
    """Effect of an operation on the vault."""

    READS = "reads"
    REPEATABLE = "repeatable"  # changes the vault; a repetition changes nothing more
    ADDS = "adds"
    DESTROYS = "destroys"


class Opening(Enum):
    """Way of opening the vault for an operation. An operation that reads opens it for reading."""

    EXISTING = "existing"
    CREATED = "created"  # a missing vault is created
    CURRENT = "current"  # for writing; for reading where that is impossible
    ANY_BACKEND = "any backend"  # even if the settings name another backend
    IF_PRESENT = "if present"  # a missing vault is not an error, see `Services.is_open`
    NOTHING = "nothing"  # the settings are enough


class Option(NamedTuple):
    """
    Spelling of a parameter on the command line and in tools, where it differs from its name.

    The words of a positional argument with a metavar that ends in ``...`` are joined, unless its field takes a list.
    """

    names: tuple[str, ...] = ()
    metavar: str | None = None
    is_argument: bool = False
    tool: str | None = ""  # the name in tools, where it differs; None: tools have no such parameter
    is_daily: bool = True  # whether also the small set of tools has the parameter
    about: str = ""  # the help text, where it is not the description of the field
    parser: Callable[[str], Any] | None = None  # checks the text that was typed
    from_stdin: bool = False  # an argument `-` reads stdin


def argument(metavar: str, **spelling: Any) -> Option:
    """Return the spelling of a positional parameter."""
    return Option(metavar=metavar, is_argument=True, **spelling)


def option_of(field: FieldInfo) -> Option:
    """Return how *field* is spelt on the command line; of several spellings the last."""
    return next((option for option in reversed(field.metadata) if isinstance(option, Option)), Option())


class Command(NamedTuple):
    """
    A command of the command line, or one form of it: operations with the same words share a command.

    ``line`` has the words, and the form that chooses the operation: a flag such as ``--broken``, the value of an option
    such as ``--mode=words``, or the first argument such as ``WORK=light``. Operations without a form are chosen by the
    number of arguments, and by ``fits``. ``defaults`` replace those of the request; ``fixed`` parameters have no option.
    ``about`` is the help text, where it is not the docstring of the function.
    """

    line: str
    defaults: Mapping[str, Any] = MappingProxyType({})
    fixed: Mapping[str, Any] = MappingProxyType({})
    about: str = ""
    fits: Callable[[Sequence[str]], bool] | None = None

    @property
    def words(self) -> str:
        """Return the words of the command."""
        return self.line.removesuffix(self.form).rstrip()

    @property
    def form(self) -> str:
        """Return the form that chooses the operation; empty without one."""
        last = self.line.rpartition(" ")[2]
        return last if last.startswith("-") or "=" in last else ""


@dataclasses.dataclass(frozen=True)
class Operation(Generic[P, R]):
    """
    One operation, made by `operation` from a function ``(services, ...) -> result``.

    The parameters of the function are those of the request, with the constraints of their annotations, in which a plain
    text is the description. Operations that share many parameters take them as one `Request` instead, called
    ``request``. The docstring of the function describes the operation in every interface.

    The result is a record, a dataclass or a model, or a list of records. It may have the attributes ``exit_code``,
    ``remarks``, ``problems`` and ``degraded``, see `exit_code_of`. A list is called ``items`` in JSON, beside its ``count``.

    Attributes:
        name: Name of the tool and of the method, and that of the command with blanks for ``_``, without ``commands``.
        text: Renders a result for people and agents; without it a list is a table of ``columns``, see `records_table`, or
            the sentence ``empty``, and another record a line for each field.
        terminal: Renders a result for people, where that differs.
        route: Path of the REST route, empty without one. Reads are GET, unless their parameters are a body
            (``by_post``), others POST. ``route_defaults`` replace defaults of parameters there.
        any_vault: False for what only the usual vault has.
        in_own_process: Whether a command shows people more than the record has, so that no server answers for it.
        only_reads: Returns whether a request changes nothing, where some requests change the vault.
        attachments: Returns texts that a tool adds to its answer, each with its URI.
        settings: Checks the request of an interface before a vault is opened; returns the settings to open it with. A
            parameter ``vault`` of the request chooses the vault.
    """

    function: Callable[Concatenate[Services, P], R]
    effect: Effect
    name: str
    about: str  # the docstring of the function
    takes_request: bool
    text: Callable[[R], Text] | None = None
    columns: str = ""
    empty: str = ""
    items: str = ""
    terminal: Callable[[R], Text] | None = None
    route: str = ""
    by_post: bool = False
    route_defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    any_vault: bool = True
    in_own_process: bool = False
    only_reads: Callable[[Any], bool] | None = None
    attachments: Callable[[R], Sequence[tuple[str, str]]] | None = None
    opens: Opening = Opening.EXISTING
    settings: Callable[[Settings, Any, str], Settings] | None = None

    def __call__(self, services: Services, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function with valid parameters."""
        return self.function(services, *args, **kwargs)

    def run(self, services: Services, request: Request) -> R:
        """Return the result for *request*."""
        given = {"request": request} if self.takes_request else dict(request)
        return self.function(services, **given)  # type: ignore[call-arg]

    @cached_property
    def request(self) -> type[Request]:
        """Return the model of the parameters."""
        parameters = list(signature(self.function).parameters.values())[1:]
        kinds = {parameter.name: self._evaluated(parameter.annotation) for parameter in parameters}
        if self.takes_request:
            return cast("type[Request]", kinds["request"])
        fields: dict[str, Any] = {}
        for parameter in parameters:
            kind = kinds[parameter.name]
            if metadata := getattr(kind, "__metadata__", ()):
                described = (Field(description=part) if isinstance(part, str) else part for part in metadata)
                kind = Annotated[kind.__origin__, *described]
            fields[parameter.name] = kind, ... if parameter.default is Parameter.empty else parameter.default
        return create_model(self.name.title().replace("_", ""), __base__=Request, **fields)

    @cached_property
    def result(self) -> type[BaseModel]:
        """Return the model of the result as JSON."""
        kind: Any = self._evaluated(signature(self.function).return_annotation)
        if self.items:
            fields: dict[str, Any] = {"count": int, self.items: kind}
            return create_model(self.name.title().replace("_", ""), __doc__=f"A list: {self.about}", **fields)
        return cast("type[BaseModel]", kind if issubclass(kind, BaseModel) else RootModel[kind])

    def record(self, result: R, *, without_nulls: bool = False) -> dict[str, Any]:
        """Return *result* as JSON, the same in every interface."""
        if isinstance(result, list):
            records = [record_of(record, without_nulls=without_nulls) for record in result]
            return {"count": len(records), self.items: records}
        return record_of(result, without_nulls=without_nulls)

    def result_of(self, record: Mapping[str, Any]) -> R:
        """Return the result that `record` wrote."""
        model: Any = self.result.model_validate(record)
        if self.items:
            return cast("R", getattr(model, self.items))
        return cast("R", model.root if isinstance(model, RootModel) else model)

    def shown(self, result: R, *, on_terminal: bool = False) -> Text:
        """Return *result* for people and agents."""
        if on_terminal and self.terminal:
            return self.terminal(result)
        if self.text:
            return self.text(result)
        if isinstance(result, list):
            return records_table(result, self.columns) or self.empty
        return fields_text(self.record(result))

    @property
    def reads(self) -> bool:
        """Whether the operation changes nothing."""
        return self.effect is Effect.READS

    def changes_nothing(self, request: Request) -> bool:
        """Whether *request* changes nothing."""
        if self.asks_first and getattr(request, CONFIRM) is False:
            return True
        return self.only_reads(request) if self.only_reads else self.reads

    @property
    def method(self) -> str:
        """Return the HTTP method of the route."""
        return "GET" if self.reads and not self.by_post else "POST"

    @property
    def asks_first(self) -> bool:
        """Whether the operation asks for a confirmation: with ``confirm`` false it raises `ConfirmationMissing`."""
        return CONFIRM in self.request.model_fields

    def _evaluated(self, annotation: Any) -> Any:
        """Return *annotation*, which may be a text. That of the services is never evaluated: it would load the program."""
        names = cast(FunctionType, self.function).__globals__
        return eval(annotation, names) if isinstance(annotation, str) else annotation


def operation(
    effect: Effect, *, name: str = "", command: str | tuple[Command, ...] | None = None, **spelling: Any
) -> Callable[[Callable[Concatenate[Services, P], R]], Operation[P, R]]:
    """
    Return a decorator that makes a function an operation of its module, see `Operation`, with the *name* of the function.

    *command* is the line of its command, or several commands; by default the words of the name, none if it is empty.
    """

    def decorate(function: Callable[Concatenate[Services, P], R]) -> Operation[P, R]:
        own = name or cast(FunctionType, function).__name__
        line = own.replace("_", " ") if command is None else command
        if isinstance(line, str):
            line = (Command(line),) if line else ()
        takes_request = "request" in signature(function).parameters
        about = getdoc(function) or ""
        return Operation(function, effect, own, about, takes_request, commands=line, **spelling)

    return decorate


AnyOperation = Operation[..., Any]
OUTSIDE = ("greater_than_equal", "less_than_equal")  # pydantic's types of errors


def refusal_of(error: Any, spelling: Callable[[str], str] = str, hint: str = "") -> InvalidInput:
    """
    Return the error that names the wrong parameters, and ends with *hint*.

    *error* is a `ValidationError` of pydantic or FastAPI; *spelling* writes the name of a parameter for the interface.
    """
    faults: dict[str, str] = {}
    for fault in error.errors():  # of a parameter with several types the first; their names are not shown
        named = (part for part in fault["loc"] if isinstance(part, str))  # without places in lists
        place = ".".join(part for part in named if part not in ("str", "list[str]"))
        # a name is cut, as the caller may have made it up
        faults.setdefault(place, f"{spelling(place[:80])} {fault_of(fault)}".strip())
    codes = {"string_too_long": "INPUT_TOO_LONG"} | dict.fromkeys(OUTSIDE, "OUT_OF_BOUNDS")
    code = codes.get(error.errors()[0]["type"], "INVALID_INPUT")
    return InvalidInput(code, f"{'; '.join(faults.values())}. {hint}".strip())


def error_record(error: ClawmemError) -> dict[str, Any]:
    """Return *error* as a record: ``error`` is the message and ``code`` its name, with candidates and other details."""
    more = {name: list(getattr(error, name, ())) for name in ("suggestions", "candidates")}
    named = {name: found for name, found in more.items() if found}
    return {**named, **error.details, "error": str(error), "code": error.code}
