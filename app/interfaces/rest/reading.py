"""Validation of requests, before any work is done."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from clawmem.app.operations.refusals import SHOWN, refusal_of
from clawmem.ports.errors import InvalidInput

T = TypeVar("T", bound=BaseModel)

MOST_VALUES = 10_000  # most values in a body; valid requests have a few dozen at most


async def read_asked(model: type[T], request: Request) -> T:
    """
    Return the parameters of *request*, validated by *model*.

    Raises:
        InvalidInput: A parameter is missing, unknown, given twice or of a wrong type, or the body is not a JSON
            object.
    """
    query = _once(request.query_params.multi_items())
    try:
        if request.method == "GET":
            return model.model_validate_strings(_joined(query, request.path_params))
        told = _object(await request.body())
        return model.model_validate_json(json.dumps(_joined(told, query, request.path_params)), strict=True)
    except ValidationError as error:
        raise refusal_of(error, hint="See /openapi.json for what can be asked.") from error


def _once(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return _joined(*({name: value} for name, value in pairs))


def _joined(*several: dict[str, Any]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for said in several:
        if twice := joined.keys() & said.keys():
            raise InvalidInput("INVALID_INPUT", f"{min(twice)[:SHOWN]} is said twice. Say it once.")
        joined |= said
    return joined


def _object(body: bytes) -> dict[str, Any]:
    # An estimate by the number of keys outside of strings is enough to reject a huge body before parsing.
    if body.count(b'":') - body.count(b'\\":') > MOST_VALUES:
        raise _too_many()
    try:
        told = from_json(body, allow_inf_nan=False) if body else {}
    except ValueError as error:
        raise InvalidInput("INVALID_INPUT", f"The body is no JSON: {error}.") from error
    if not isinstance(told, dict):
        raise InvalidInput("INVALID_INPUT", "The body is no JSON object. Send one such as {}.")
    if not _is_small(told):
        raise _too_many()
    return told


def _too_many() -> InvalidInput:
    return InvalidInput("INPUT_TOO_LONG", f"The body holds more than {MOST_VALUES} values. Send fewer.")


def _is_small(told: dict[str, Any]) -> bool:
    """Whether *told* has at most `MOST_VALUES` values; the limit bounds the time spent on invalid values."""
    count, waiting = 0, [iter((told,))]
    while waiting:
        for value in waiting[-1]:
            count += 1
            if isinstance(value, dict | list):
                if count + len(value) > MOST_VALUES:
                    return False
                waiting.append(iter(value.values() if isinstance(value, dict) else value))
                break
        else:
            waiting.pop()
    return count <= MOST_VALUES
