"""Imports at first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from clawmem.ports.errors import ExtraMissing


def lazy(place: str, extra: str = "") -> Callable[..., Any]:
    """
    Return a function that imports ``module:name`` of this package when it is called, and calls it.

    Raises (when called):
        ExtraMissing: *place* needs a package of the extra *extra* that is not installed.
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
