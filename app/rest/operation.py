"""An operation: what may be asked of the server, what is answered, and which thread does the work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import getdoc
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clawmem.app.opened import Services
from clawmem.app.rest.reading import read_asked
from clawmem.app.serve.inside import Inside

T = TypeVar("T", bound=BaseModel)

Respond = Callable[[Inside, Request], Awaitable[Response]]


class Asked(BaseModel):
    """The parameters of an operation. Nothing is guessed: an unknown one, or one of another kind, is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Nothing(Asked):
    """No parameters."""


class Operation(NamedTuple):
    """
    One line of the table, from which routes and their description are made.

    ``asked`` describes the parameters: those that ``path`` names, the others in the query string of a GET and in
    the JSON object of a POST. ``answered`` is a type; ``respond`` gives such an answer, or raises.
    """

    method: str
    path: str
    about: str
    asked: type[BaseModel]
    answered: Any
    respond: Respond

    def route(self, inside: Inside) -> Route:
        """The route of it in a server."""

        async def endpoint(request: Request) -> Response:
            return await self.respond(inside, request)

        return Route(self.path, endpoint, methods=[self.method])


class Json(Response):
    """JSON in which no element of a page can begin, whatever a note says."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return as_json(content)


def reading(
    method: str, path: str, asked: type[T], answered: Any, work: Callable[[Services, T], object]
) -> Operation:
    """What is looked up, by several at a time; described by the first line of *work*'s docstring."""
    return _operation(method, path, asked, answered, work, changes=False)


def changing(path: str, asked: type[T], answered: Any, work: Callable[[Services, T], object]) -> Operation:
    """A POST that changes the vault, one after the other."""
    return _operation("POST", path, asked, answered, work, changes=True)


def as_json(content: object) -> bytes:
    """*content* under the names of its parts, dataclasses and mappings included; not a number becomes null."""
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

        return await (inside.desk.write(do) if changes else inside.desk.read(do))

    return Operation(method, path, (getdoc(work) or "").partition("\n")[0], asked, answered, respond)


def _mapped(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")
