"""An operation of the REST API: its parameters, its result, and the thread that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import getdoc
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.reading import read_asked
from clawmem.app.serve.inside import Inside

T = TypeVar("T", bound=BaseModel)

Respond = Callable[[Inside, Request], Awaitable[Response]]


class Asked(BaseModel):
    """The parameters of an operation. Unknown parameters and values of a wrong type are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Nothing(Asked):
    """No parameters."""


class Operation(NamedTuple):
    """
    A row of the table from which the routes and their description are generated.

    ``asked`` describes the parameters: those in ``path``, and the others in the query string of a GET or the JSON
    object of a POST. ``answered`` is the type of the result; ``respond`` returns such a result, or raises.
    """

    method: str
    path: str
    about: str
    asked: type[BaseModel]
    answered: Any
    respond: Respond

    def route(self, inside: Inside) -> Route:
        """Return the route of the operation in a server."""

        async def endpoint(request: Request) -> Response:
            return await self.respond(inside, request)

        return Route(self.path, endpoint, methods=[self.method])


class Json(Response):
    """A JSON response; < is escaped, because a note may contain HTML."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return as_json(content)


def reading(
    method: str, path: str, asked: type[T], answered: Any, work: Callable[[Services, T], object]
) -> Operation:
    """
    Return an operation that reads; several run at a time.

    The first line of *work*'s docstring describes it.
    """
    return _operation(method, path, asked, answered, work, changes=False)


def changing(path: str, asked: type[T], answered: Any, work: Callable[[Services, T], object]) -> Operation:
    """Return a POST operation that changes the vault; these run one at a time."""
    return _operation("POST", path, asked, answered, work, changes=True)


def as_json(content: object) -> bytes:
    """Return *content* as JSON, dataclasses and mappings included; NaN and infinities become null."""
    return to_json(content, inf_nan_mode="null", fallback=_mapped).replace(b"<", b"\\u003c")


def _operation(
    method: str,
    path: str,
    asked: type[T],
    answered: Any,
    work: Callable[[Services, T], object],
    *,
    changes: bool,
) -> Operation:
    async def respond(inside: Inside, request: Request) -> Response:
        given = await read_asked(asked, request)

        def do(services: Services) -> Json:
            return Json(work(services, given))

        return await (inside.dispatcher.write(do) if changes else inside.dispatcher.read(do))

    return Operation(method, path, (getdoc(work) or "").partition("\n")[0], asked, answered, respond)


def _mapped(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")
