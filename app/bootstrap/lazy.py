"""Imports at first use, of backends by their names: those that ship with clawmem and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, cast

from clawmem.ports.errors import ConfigError, ExtraMissing
from clawmem.ports.indexes import Backend

DEFAULT = Backend("sqlite")
# Searched first: reading the metadata of every installed package takes longer than a search.
BUILT_IN = {"lancedb": "adapters.lancedb.backend:BACKEND", "tantivy": "adapters.tantivy.backend:BACKEND"}


def backend_named(name: str, place: str = "") -> Backend:
    """Return the backend called *name*, in the *place* of the user's choice. Raises `ConfigError` if there is none."""
    if name == DEFAULT.name:
        return DEFAULT
    if name in BUILT_IN:
        return cast(Backend, imported_object(BUILT_IN[name]))
    points = {point.name: point for point in entry_points(group="clawmem.backends")}
    if name not in points:
        known = sorted({DEFAULT.name, *BUILT_IN, *points})
        raise ConfigError(f"There is no backend {name!r}{place}. Known are: {', '.join(known)}.")
    backend = points[name].load()
    if not isinstance(backend, Backend):
        raise ConfigError(
            f"The backend {name!r} of {points[name].value} is no clawmem.ports.indexes.Backend. Upgrade its package."
        )
    return backend


def lazy(place: str, extra: str = "") -> Callable[..., Any]:
    """
    Return a function that imports ``module:name`` of this package when it is called, and calls it.

    It raises `ExtraMissing` if a package of the extra *extra* is not installed.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            imported = imported_object(place)
        except ModuleNotFoundError as missing:
            package = missing.name or extra
            if not extra or package.startswith("clawmem"):  # a bug of clawmem, not a missing extra
                raise
            raise ExtraMissing(package, extra=extra) from missing
        return imported(*arguments, **named)

    return call


def imported_object(place: str) -> Any:
    """Import ``module:name`` of this package, and return it."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"clawmem.{module}"), name)
