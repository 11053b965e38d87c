"""Who plays a role: the first of some models that can be had, with the reasons why the others cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from clawmem.ports.errors import ConfigError
from clawmem.ports.model_failures import ModelFailure, ModelRole

NONE = "none"

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Provider:
    """
    Who plays a role, and why.

    ``chosen`` is a server's address or a model's name, `NONE` when nobody plays it. ``passed_over`` says of each
    model that would have been preferred why it was not taken. ``last_failure`` is what went wrong last at run
    time, whoever played the role then.
    """

    role: ModelRole
    chosen: str
    reason: str
    passed_over: tuple[str, ...] = ()
    last_failure: ModelFailure | None = None


@dataclass(frozen=True, slots=True)
class Choice(Generic[Model]):
    """A model, if there is one, and how it came to be chosen."""

    model: Model | None
    how: Provider


@dataclass(frozen=True, slots=True)
class Option(Generic[Model]):
    """A model that could be taken: what it is called, why it would be, and how it is had."""

    name: str
    reason: str
    build: Callable[[], Model]


def the_only(role: ModelRole, option: Option[Model]) -> Choice[Model]:
    """
    What was asked for by name: it or an error.

    Raises:
        ConfigError: it cannot be had.
    """
    return Choice(option.build(), Provider(role, option.name, option.reason))


def first_of(role: ModelRole, options: Sequence[Option[Model]], *, without: str) -> Choice[Model]:
    """
    The first of *options* that can be had, the better ones before the others.

    Args:
        without: Why nobody plays the role when there is no option at all.
    """
    passed_over: list[str] = []
    for option in options:
        try:
            model = option.build()
        except ConfigError as error:
            passed_over.append(_told(option.name, error))
        else:
            return Choice(model, Provider(role, option.name, option.reason, tuple(passed_over)))
    return Choice(None, Provider(role, NONE, without, tuple(passed_over)))


def _told(name: str, error: ConfigError) -> str:
    told = str(error)
    return told if name in told else f"{name}: {told}"
