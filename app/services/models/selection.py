"""Selection of the model for a role: the first available one, with the reasons why others are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from clawmem.ports.errors import ClawmemError, ConfigError, VaultError
from clawmem.ports.model_records import ModelFailure, ModelFailures, ModelRole

NONE = "none"

Model = TypeVar("Model")
WITHOUT = {
    ModelRole.EMBEDDER: "answers were found by words alone",
    ModelRole.GENERATOR: "questions were not expanded",
    ModelRole.RERANKER: "answers were not reranked",
}


@dataclass(frozen=True, slots=True)
class Provider:
    """
    The provider of a role, and the reason for its selection.

    ``chosen`` is a server's address, a model's name, or `NONE`. ``passed_over`` holds the reasons why preferred models
    were not selected. ``last_failure`` is the last failure of any provider of this role at run time.
    """

    role: ModelRole
    chosen: str
    reason: str
    passed_over: tuple[str, ...] = ()
    last_failure: ModelFailure | None = None


@dataclass(frozen=True, slots=True)
class Choice(Generic[Model]):
    """A selected model, if any, and its provider record."""

    model: Model | None
    how: Provider

    @property
    def required(self) -> Model:
        """
        The model of a role that cannot do without one.

        Raises:
            ConfigError: no model was selected.
        """
        if self.model is None:
            raise ConfigError(self.how.reason)
        return self.model


@dataclass(frozen=True, slots=True)
class Option(Generic[Model]):
    """A model that could be selected: its name, the reason for selecting it, and its factory."""

    name: str
    reason: str
    build: Callable[[], Model]


def the_only(role: ModelRole, option: Option[Model]) -> Choice[Model]:
    """
    Return the model that was requested by name.

    Raises:
        ConfigError: it is unavailable.
    """
    return Choice(option.build(), Provider(role, option.name, option.reason))


def first_of(role: ModelRole, options: Sequence[Option[Model]], *, without: str) -> Choice[Model]:
    """
    Return the first available one of *options*, which are in order of preference.

    Args:
        without: The reason recorded if no option is available.
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


"""Effect on answers when the model of a role failed."""


class Roles:
    """Determines the provider of each role, without loading a model or calling a server."""

    def __init__(self, chosen: Mapping[ModelRole, Callable[[], Provider]], failures: ModelFailures) -> None:
        self._chosen = chosen
        self._failures = failures

    def __call__(self) -> list[Provider]:
        """Return one provider per role in a fixed order; `NONE` with the reason if the settings are invalid."""
        latest: Mapping[ModelRole, ModelFailure] = {}
        with suppress(VaultError):
            latest = self._failures.latest()
        return [replace(self._of(role), last_failure=latest.get(role)) for role in self._chosen]

    def _of(self, role: ModelRole) -> Provider:
        try:
            return self._chosen[role]()
        except ClawmemError as error:
            return Provider(role, NONE, str(error))
