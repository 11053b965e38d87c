"""An operation: one thing that a user or an agent can ask for, for every interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import getdoc
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

Q = TypeVar("Q", bound="Request")
R = TypeVar("R", bound="Result")


class Request(BaseModel):
    """The parameters of an operation. An unknown parameter, or one of the wrong type, is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NoParameters(Request):
    """No parameters."""


class Result(BaseModel):
    """What an operation returns. An unknown key is refused, so that a result and its schema agree."""

    model_config = ConfigDict(extra="forbid")

    @property
    def exit_code(self) -> int:
        """Return the exit code of a command with this result."""
        return 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return sentences about what was not done; a command writes them to stderr."""
        return ()


class Effect(Enum):
    """What an operation does to the vault."""

    READS = "reads"
    REPEATABLE = "repeatable"  # changes the vault; a repetition changes nothing more
    ADDS = "adds"
    DESTROYS = "destroys"


class Flag(NamedTuple):
    """A flag of the command line that adds ``value`` to a list."""

    name: str
    value: str
    about: str


class Option(NamedTuple):
    """How a parameter is spelt on the command line, where its name alone does not say it."""

    names: tuple[str, ...] = ()
    metavar: str | None = None
    is_argument: bool = False  # positional; the words of the command line are joined by blanks
    flags: tuple[Flag, ...] = ()  # each flag adds a value to a field of several values, which has no option


def option_of(field: FieldInfo) -> Option:
    """Return how *field* is spelt on the command line; of several spellings the last."""
    return next((one for one in reversed(field.metadata) if isinstance(one, Option)), Option())


class Command(NamedTuple):
    """
    A command of the command line.

    ``defaults`` replace those of the request; ``fixed`` parameters have no option. ``about`` is the help text, where it
    is not the docstring of the function. ``is_default`` runs the command if its group is called without arguments.
    """

    words: str
    defaults: Mapping[str, Any] = MappingProxyType({})
    fixed: Mapping[str, Any] = MappingProxyType({})
    about: str = ""
    is_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Q, R]):
    """
    One operation.

    ``name`` is the tool's and the method's name. ``route`` is the path of the REST route; reads are GET, others POST.
    ``text`` renders a result for people and agents. The docstring of ``run`` describes the operation in every interface.
    ``is_tool`` is false for what agents need no tool for: every tool takes room in their prompts.
    """

    name: str
    request: type[Q]
    result: type[R]
    run: Callable[[Services, Q], R]
    effect: Effect
    route: str
    commands: tuple[Command, ...]
    text: Callable[[R], str]
    is_tool: bool = True

    @property
    def reads(self) -> bool:
        """Whether the operation changes nothing."""
        return self.effect is Effect.READS

    @property
    def about(self) -> str:
        """Return the description: the docstring of the function."""
        return getdoc(self.run) or ""
