"""Error responses: a status and ``{"error": message, "code": name}``, with candidates and other details."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ExceptionHandler

from clawmem.app.serve.workers import Busy
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
NO_DETAILS: Mapping[str, Any] = MappingProxyType({})
UNEXPECTED = "Something went wrong here; what it was stands in the log of the server."


class Refusal(JSONResponse):
    """An error response in JSON; the characters < and > are escaped, because it may repeat parts of the request."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] = NO_DETAILS,
    ) -> None:
        super().__init__({**details, "error": message, "code": code}, status, headers)

    def render(self, content: Any) -> bytes:
        return json.dumps(content).replace("<", "\\u003c").replace(">", "\\u003e").encode("ascii")


def refuse(status: int, message: str = "", headers: Mapping[str, str] | None = None) -> Refusal:
    """Return an error response for an HTTP status."""
    known = HTTPStatus(status)
    return Refusal(status, known.name, message or known.phrase, headers)


def _known(request: Request, error: ClawmemError) -> Refusal:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    return Refusal(status, error.code, str(error), details=error.details)


def _of_http(request: Request, error: HTTPException) -> Refusal:
    return refuse(error.status_code, error.detail, error.headers)


def _unexpected(request: Request, error: Exception) -> Refusal:
    return Refusal(500, "INTERNAL_ERROR", UNEXPECTED)


def _hung_up(request: Request, error: Exception) -> Response:
    """Return a response for a client that hung up; it is never read, and no error is logged."""
    return Response(status_code=400)


HANDLERS: dict[Any, ExceptionHandler] = {
    ClientDisconnect: _hung_up,
    ClawmemError: cast(ExceptionHandler, _known),
    HTTPException: cast(ExceptionHandler, _of_http),
    Exception: _unexpected,
}
