"""
``GET /openapi.json``: the description of all operations, derived from the types that validate requests and responses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from clawmem.app.interfaces.rest.operation import Json, Nothing, Operation
from clawmem.app.interfaces.rest.reading import read_asked
from clawmem.app.operations.forgetting import WouldForget
from clawmem.app.serve.inside import Inside
from clawmem.app.version import VERSION
from clawmem.ports.origin import Origin

ABOUT = """Every answer is JSON. What goes wrong has a code, and a sentence that ends with the way out.
Show the token of the server: Authorization: Bearer TOKEN."""
MEDIA = "application/json"

Schema = dict[str, Any]
Key = tuple[str, str]
Way = Literal["validation", "serialization"]

REFUSED: Key = ("", "refused")  # the key of the schema that all operations share
_PATH = re.compile(r"{(\w+)(?::\w+)?}")


class Choice(TypedDict):
    """A document that an address may refer to; ``state`` is empty while it is served."""

    docid: str
    file: str
    title: str
    state: str
    origin: Origin
    trusted: bool


class Refused(TypedDict):
    """
    The reason of an error: a code for programs, and a sentence for people with the next step.

    ``candidates`` are the documents that an address may refer to. ``file`` and ``state`` describe a document that is
    not served, ``would_remove`` one that would be forgotten.
    """

    error: str
    code: str
    candidates: NotRequired[list[Choice]]
    file: NotRequired[str]
    state: NotRequired[str]
    would_remove: NotRequired[WouldForget]


def describing(operations: Sequence[Operation]) -> Operation:
    """Return the operation that describes *operations* and itself."""
    known: list[Operation] = []
    made: list[Schema] = []

    async def respond(inside: Inside, request: Request) -> Response:
        await read_asked(Nothing, request)
        if not made:
            made.append(document(known))
        return Json(made[0])

    this = Operation("GET", "/openapi.json", "This description.", Nothing, dict[str, Any], respond)
    known += [*operations, this]
    return this


def document(operations: Iterable[Operation]) -> Schema:
    """Return the description of *operations* in OpenAPI 3.1."""
    several = list(operations)
    schemas, known = _schemas(several)
    paths: dict[str, Schema] = {}
    for one in several:
        asked, answered = (schemas[_key(one), way] for way in ("validation", "serialization"))
        path = paths.setdefault(_PATH.sub(r"{\1}", one.path), {})
        path[one.method.lower()] = _operation(one, _resolved(asked, known), answered)
    return {
        "openapi": "3.1.0",
        "info": {"title": "clawmem", "version": VERSION, "description": ABOUT},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Refused": _content("Why nothing was done.", schemas[REFUSED, "serialization"])},
            "schemas": known,
        },
    }


def _operation(one: Operation, asked: Schema, answered: Schema) -> Schema:
    inside = _PATH.findall(one.path)
    described: Schema = {
        "operationId": f"{one.method} {one.path}",
        "summary": one.about,
        "parameters": [_parameter(name, asked, "path") for name in inside],
        "responses": {
            "200": _content("What was asked for.", answered),
            "default": {"$ref": "#/components/responses/Refused"},
        },
    }
    outside = [name for name in asked["properties"] if name not in inside]
    if one.method == "GET":
        described["parameters"] += [_parameter(name, asked, "query") for name in outside]
    else:
        body = {MEDIA: {"schema": _without(asked, inside)}}
        described["requestBody"] = {"required": True, "content": body}
    return described


def _parameter(name: str, asked: Schema, place: str) -> Schema:
    schema = asked["properties"][name]
    required = place == "path" or name in asked.get("required", ())
    return {"name": name, "in": place, "required": required, "schema": schema}


def _without(asked: Schema, names: Sequence[str]) -> Schema:
    """Return the schema of a body, without the parameters in the path."""
    kept = {name: value for name, value in asked["properties"].items() if name not in names}
    required = [name for name in asked.get("required", ()) if name not in names]
    return {**asked, "properties": kept, "required": required}


def _schemas(operations: Sequence[Operation]) -> tuple[Mapping[tuple[Key, Way], Schema], dict[str, Schema]]:
    """Return the schemas of requests and responses by operation, and the schemas that they refer to, by name."""
    types: list[tuple[Key, Way, TypeAdapter[Any]]] = [(REFUSED, "serialization", TypeAdapter(Refused))]
    for one in operations:
        types.append((_key(one), "validation", TypeAdapter(one.asked)))
        types.append((_key(one), "serialization", TypeAdapter(one.answered)))
    schemas, known = TypeAdapter.json_schemas(types, ref_template="#/components/schemas/{model}")
    return schemas, {name: _exact(schema) for name, schema in known.get("$defs", {}).items()}


def _exact(schema: Schema) -> Schema:
    """Return *schema* without additional properties, unless it allows them explicitly."""
    return {"additionalProperties": False, **schema} if "properties" in schema else schema


def _key(one: Operation) -> Key:
    return one.method, one.path


def _resolved(schema: Schema, known: Mapping[str, Schema]) -> Schema:
    name = schema.get("$ref", "").rpartition("/")[2]
    found = {**known[name]} if name else {**schema}
    return {"properties": {}, **found}


def _content(about: str, schema: Schema) -> Schema:
    return {"description": about, "content": {MEDIA: {"schema": schema}}}
