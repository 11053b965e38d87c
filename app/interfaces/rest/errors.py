"""Error responses: a status and ``{"error": message, "code": name}``, with candidates and other details."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from clawmem.app.operations.dispatch import Busy
from clawmem.app.operations.operation import refusal_of
from clawmem.ports.errors import (
    Ambiguous,
    ClawmemError,
    ConfigError,
    EmbeddingError,
    IndexBusy,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)

# The first matching class applies. All other errors are bugs of clawmem or damage of the vault.
STATUS: tuple[tuple[type[ClawmemError], int], ...] = (
    (NotFound, 404),
    (Ambiguous, 409),
    (InvalidInput, 400),
    (EmbeddingError, 409),  # the content of the vault does not fit the request
    (ConfigError, 409),
    (VaultReadOnly, 403),
    (VaultFull, 507),
    (VaultLocked, 503),
    (IndexBusy, 503),
    (ModelUnavailable, 503),
    (Busy, 503),
    (ClawmemError, 500),
)
HINT = "See /openapi.json for what can be asked."


class ErrorRecord(BaseModel, extra="allow"):
    """The reason of an error: a code for programs, a sentence with the next step, and details such as ``candidates``."""

    error: str
    code: str


def as_json(content: object) -> bytes:
    """Return *content* as JSON, dataclasses included; < is escaped, because a note may contain HTML."""
    return to_json(content, inf_nan_mode="null", fallback=dict).replace(b"<", b"\\u003c")


class Json(Response):
    """A JSON response."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return as_json(content)


def refuse(status: int, message: str = "", headers: Mapping[str, str] | None = None) -> Json:
    """Return an error response for an HTTP status."""
    known = HTTPStatus(status)
    return Json({"error": message or known.phrase, "code": known.name}, status, headers)


async def _known(request: Request, error: ClawmemError) -> Json:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    return Json({**error.details, "error": str(error), "code": error.code}, status)


async def _invalid(request: Request, error: RequestValidationError) -> Json:
    """Return a response that names the wrong parameters, without the part of the request that holds them."""
    return await _known(request, refusal_of(error, lambda name: name.partition(".")[2] or name, HINT))


async def _of_http(request: Request, error: HTTPException) -> Json:
    return refuse(error.status_code, error.detail, error.headers)


async def _unexpected(request: Request, error: Exception) -> Json:
    message = "Something went wrong here; what it was stands in the log of the server."
    return Json({"error": message, "code": "INTERNAL_ERROR"}, 500)


async def _hung_up(request: Request, error: Exception) -> Response:
    """Return a response for a client that hung up; it is never read, and no error is logged."""
    return Response(status_code=400)


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    ClientDisconnect: _hung_up,
    ClawmemError: _known,
    RequestValidationError: _invalid,
    HTTPException: _of_http,
    Exception: _unexpected,
}
