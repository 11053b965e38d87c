"""Limits on requests that hold before FastAPI parses them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

from clawmem.app.operations.refusals import SHOWN
from clawmem.ports.errors import InvalidInput

MOST_VALUES = 10_000  # most values in a body; valid requests have a few dozen at most


class StrictRoute(APIRoute):
    """
    Route that refuses repeated parameters, and bodies that are not a JSON object of at most `MOST_VALUES` values.

    FastAPI would use the last value of a repeated parameter, and build every value of a huge body.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route, behind the limits."""
        handle = super().get_route_handler()

        async def handle_within_limits(request: Request) -> Response:
            _refuse_repeated(request)
            if self.body_field:
                _refuse_large(await request.body())
            return await handle(request)

        return handle_within_limits


def _refuse_repeated(request: Request) -> None:
    names: set[str] = set()
    for name, _ in request.query_params.multi_items():
        if name in names:
            raise InvalidInput("INVALID_INPUT", f"{name[:SHOWN]} is said twice. Say it once.")
        names.add(name)


def _refuse_large(body: bytes) -> None:
    if not body:
        return
    # An estimate by the number of keys outside of strings is enough to reject a huge body before parsing.
    if body.count(b'":') - body.count(b'\\":') > MOST_VALUES:
        raise _too_many()
    try:
        content = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidInput("INVALID_INPUT", f"The body is no JSON: {error}.") from error
    if not isinstance(content, dict):
        raise InvalidInput("INVALID_INPUT", "The body is no JSON object. Send one such as {}.")
    if not _is_small(content):
        raise _too_many()


def _too_many() -> InvalidInput:
    return InvalidInput("INPUT_TOO_LONG", f"The body holds more than {MOST_VALUES} values. Send fewer.")


def _is_small(content: dict[str, Any]) -> bool:
    """Whether *content* has at most `MOST_VALUES` values; the limit bounds the time spent on invalid values."""
    count, waiting = 0, [iter((content,))]
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
