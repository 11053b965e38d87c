"""``POST /hooks/EVENT``: an event of a client, as `clawmem hook EVENT` reads it from stdin."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import FastAPI, Header, Path, Request, Response

from clawmem.app.client.hook_registry import EVENTS, HOOKS
from clawmem.app.client.request import OPTIONS_HEADER
from clawmem.app.interfaces.rest.runtime import Runtime
from clawmem.ports.errors import InvalidInput

# A hook reads the body as it reads stdin, and ignores unknown members and malformed events; FastAPI only describes it.
EVENT = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}

HookName = Annotated[str, Path(description=f"One of: {', '.join((*EVENTS, *HOOKS))}.")]


def add_hook_route(app: FastAPI, runtime: Runtime) -> None:
    """Add the route for events to *app*."""

    @app.post(
        "/hooks/{name}",
        summary="Return what the hooks of an event say to it.",
        operation_id="POST /hooks/{name}",
        response_model=dict[str, Any],
        openapi_extra={"requestBody": EVENT},
    )
    async def hook(
        name: HookName, request: Request, options: Annotated[str | None, Header(alias=OPTIONS_HEADER)] = None
    ) -> Response:
        event = (await request.body()).decode("utf-8", "replace")
        line = await runtime.hooks.answer(name, event, _choices(options))
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
