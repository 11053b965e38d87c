"""Providers that import a class at its first use, and dependency-injector without its integrations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from clawmem.ports.errors import ExtraMissing


@contextmanager
def without_packages(names: tuple[str, ...]) -> Iterator[None]:
    """Hide packages that are not imported yet from imports inside the block."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


# dependency-injector imports every one of these that is installed, for integrations that are not used here. That takes
# three times as long as all of its own code, and half of the time of a prompt that no server answers.
with without_packages(("fastapi", "starlette", "werkzeug", "fast_depends", "pydantic_settings")):
    from dependency_injector.containers import DeclarativeContainer
    from dependency_injector.providers import Callable as Function
    from dependency_injector.providers import (
        Container,
        DependenciesContainer,
        Dependency,
        Dict,
        Factory,
        Object,
        Resource,
        Selector,
        Singleton,
    )

__all__ = [
    "Container",
    "DeclarativeContainer",
    "DependenciesContainer",
    "Dependency",
    "Dict",
    "Factory",
    "Function",
    "Object",
    "Resource",
    "Selector",
    "Singleton",
]


def lazy(place: str, extra: str = "") -> Callable[..., Any]:
    """
    Return a function that imports ``module:name`` of this package when it is called, and calls it.

    Raises (when called):
        ExtraMissing: *place* needs a package of the extra *extra* that is not installed.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        if not extra:
            return imported_object(place)(*arguments, **named)
        with needs_extra(place.split(".")[1], extra):
            imported = imported_object(place)
        return imported(*arguments, **named)

    return call


def imported_object(place: str) -> Any:
    """Import ``module:name`` of this package, and return it."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"clawmem.{module}"), name)


def factory(place: str, *arguments: Any, **named: Any) -> Factory[Any]:
    """Return the provider of a new object of the class ``module:name`` for each call."""
    return Factory(lazy(place), *arguments, **named)


def singleton(place: str, *arguments: Any, **named: Any) -> Singleton[Any]:
    """Return the provider of one object of the class ``module:name``."""
    return Singleton(lazy(place), *arguments, **named)


def resource(place: str, *arguments: Any, **named: Any) -> Resource[Any]:
    """Return the provider of one object of the class ``module:name``, a context manager that `close` ends."""
    return Resource(lazy(place), *arguments, **named)


def function(place: str, *arguments: Any, extra: str = "", **named: Any) -> Function[Any]:
    """Return the function ``module:name`` with its first arguments; it is called with the others."""
    return Function(lazy(place, extra), *arguments, **named)


def imported(place: str) -> Object[Any]:
    """Return the provider of the function ``module:name``."""
    return Object(lazy(place))


def constant(place: str) -> Singleton[Any]:
    """Return the provider of the value ``module:name``."""
    return Singleton(imported_object, place)


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """
    Import *what*, an optional part, inside the block.

    Raises:
        ExtraMissing: One of its packages is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("clawmem"):
            raise  # a bug of clawmem, not a missing extra
        raise ExtraMissing(what, extra=extra) from missing
