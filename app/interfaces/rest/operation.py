"""Routes of the modules whose capabilities are not operations yet."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from typing import Any, TypeVar

from pydantic import BaseModel

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.routes import Json, RestRoute, as_json, with_vault
from clawmem.app.operations.operation import NoParameters as Nothing
from clawmem.app.operations.operation import Request as Asked

__all__ = ["Asked", "Json", "Nothing", "as_json", "changing", "reading"]

T = TypeVar("T", bound=BaseModel)


def reading(
    method: str, path: str, asked: type[T], answered: Any, work: Callable[[Services, T], object]
) -> RestRoute:
    """Return a route that reads; the docstring of *work* describes it."""
    return RestRoute(method, path, getdoc(work) or "", asked, answered, with_vault(work, reads=True))


def changing(path: str, asked: type[T], answered: Any, work: Callable[[Services, T], object]) -> RestRoute:
    """Return a POST route that changes the vault."""
    return RestRoute("POST", path, getdoc(work) or "", asked, answered, with_vault(work, reads=False))
