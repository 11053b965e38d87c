"""``POST /hooks/NAME``: an event of a client, as `clawmem hook NAME` reads it from stdin."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from clawmem.app.client.request import OPTIONS_HEADER
from clawmem.app.interfaces.hooks.registry import HOOKS
from clawmem.app.interfaces.rest.operation import Operation
from clawmem.app.serve.inside import Inside
from clawmem.ports.errors import InvalidInput, NotFound


class Event(BaseModel):
    """An event of a client; a hook ignores unknown members."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description=f"One of: {', '.join(HOOKS)}.")


async def hook(inside: Inside, request: Request) -> Response:
    """Return the output of the hook for the event."""
    name = request.path_params["name"]
    if name not in HOOKS:
        raise NotFound("hook", name, suggestions=list(HOOKS))
    event = (await request.body()).decode("utf-8", "replace")
    line = await inside.hooks.answer(name, event, _choices(request.headers.get(OPTIONS_HEADER)))
    return Response(line, media_type="application/json")


def _choices(header: str | None) -> dict[str, str] | None:
    if header is None:
        return None
    try:
        found = json.loads(header)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InvalidInput("INVALID_INPUT", f"{OPTIONS_HEADER} is a JSON object of strings.")
    return found


OPERATIONS = (
    Operation("POST", "/hooks/{name}", "What a hook says to an event.", Event, dict[str, Any], hook),
)
