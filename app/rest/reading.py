"""Reading what a request asks; whatever is wrong with it is said before anything is done."""

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

MOST_VALUES = 10_000  # of a body; what can be asked has some dozen


async def read_asked(model: type[T], request: Request) -> T:
    """
    The parameters of *request* as *model* describes them.

    Raises:
        InvalidInput: one that is missing, unknown, said twice or of another kind; a body that is no JSON object.
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
    # Keys alone, without what stands in texts: enough to leave a huge body unread.
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
    """Whether *told* holds at most `MOST_VALUES` values: each one that is wrong takes its time."""
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
