"""FastAPI routes made from the models of requests and results, and the server that answers them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractContextManager
from inspect import Parameter
from pathlib import Path as FilePath
from typing import Annotated, Any, NamedTuple, Protocol

from fastapi import Body, FastAPI, Path, Query, Response
from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from clawmem.app.interfaces.rest.errors import HINT
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.operations.operation import NoParameters, parameters_of, with_signature
from clawmem.app.operations.refusals import refusal_of

_PATH = re.compile(r"{(\w+)")


class Runtime(Protocol):
    """A running server: its vault, its threads and its answers to events of clients."""

    vault: FilePath

    @property
    def dispatcher(self) -> Dispatcher:
        """Threads that run operations."""

    async def answer_event(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """Return the output line for *event* of the hooks that *name* names."""

    def at_work(self) -> AbstractContextManager[None]:
        """Run the threads inside the block."""


Respond = Callable[[Runtime, Any], Awaitable[Response]]


class RestRoute(NamedTuple):
    """
    A route of the REST API.

    ``request`` describes the parameters: those in ``path``, and the others in the query string of a GET or the JSON
    object of a POST. ``result`` describes the result. ``respond`` receives the server and a request.
    """

    method: str
    path: str
    about: str
    request: type[BaseModel]
    result: Any
    respond: Respond


class Json(Response):
    """A JSON response; < is escaped, because a note may contain HTML."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return as_json(content)


def add_route(app: FastAPI, runtime: Runtime, route: RestRoute) -> None:
    """Add *route* to *app*; FastAPI describes it, and validates requests."""

    async def endpoint(**given: Any) -> Response:
        return await route.respond(runtime, _request(route.request, given))

    app.router.add_api_route(
        route.path,
        with_signature(endpoint, _parameters(route)),
        methods=[route.method],
        summary=route.about.partition("\n")[0],
        operation_id=f"{route.method} {route.path}",
        response_model=route.result,
        response_description="The result.",
    )


def as_json(content: object) -> bytes:
    """Return *content* as JSON, dataclasses and mappings included; NaN and infinities become null."""
    return to_json(content, inf_nan_mode="null", fallback=_mapped).replace(b"<", b"\\u003c")


def _parameters(route: RestRoute) -> list[Parameter]:
    """Return a parameter for each name in the path, and one for all others: the query string or the body."""
    in_path = set(_PATH.findall(route.path))
    model = _without(route.request, in_path)
    parameters = parameters_of(
        route.request, _path_parameter, without=route.request.model_fields.keys() - in_path
    )
    if route.method == "GET":
        return [*parameters, _keyword("others", Annotated[model, Query()])]
    is_optional = not any(field.is_required() for field in model.model_fields.values())
    body = Annotated[model, Body()]  # type: ignore[valid-type]
    return [
        *parameters,
        _keyword("query_string", Annotated[NoParameters, Query()]),
        _keyword("others", body, model() if is_optional else Parameter.empty),
    ]


def _path_parameter(name: str, field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata, Path(description=field.description)]


def _keyword(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _without(model: type[BaseModel], names: Collection[str]) -> type[BaseModel]:
    """Return *model* without the fields *names*."""
    if not names:
        return model
    others = {
        name: (field.annotation, field) for name, field in model.model_fields.items() if name not in names
    }
    made: Any = create_model(model.__name__, __config__=model.model_config, __doc__=model.__doc__, **others)  # type: ignore[call-overload]
    return made


def _request(model: type[BaseModel], given: dict[str, Any]) -> BaseModel:
    """Return the request of validated parameters; those of the path are checked together with the others here."""
    given.pop("query_string", None)
    others: BaseModel = given.pop("others")
    if not given:
        return others
    try:
        return model.model_validate({**given, **dict(others)}, by_name=True)
    except ValidationError as error:
        raise refusal_of(error, hint=HINT) from error


def _mapped(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")
