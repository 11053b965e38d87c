"""Imports at first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
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
        with needs_extra(place.split(".")[1], extra) if extra else nullcontext():
            imported = imported_object(place)
        return imported(*arguments, **named)

    return call


def imported_object(place: str) -> Any:
    """Import ``module:name`` of this package, and return it."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"clawmem.{module}"), name)


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
