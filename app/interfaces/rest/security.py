"""
Access control of the server, and its error responses.

Any web page in a browser can send requests to this machine, and through DNS rebinding even read the responses.
Therefore the Host header, the Origin header and a token are checked before anything else. An error is a status and
``{"error": message, "code": name}``, with candidates and other details.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from hmac import compare_digest
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clawmem.app.client.request import MOST_INPUT
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


async def error_response(request: Request, error: Exception) -> Response:
    """Return the response for *error*. That of a client that hung up is never read, and no error is logged."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, RequestValidationError):  # without the part of the request that holds the parameters
        error = refusal_of(error, lambda name: name.partition(".")[2] or name, HINT)
    if isinstance(error, ClawmemError):
        status = next(status for kind, status in STATUS if isinstance(error, kind))
        return Json({**error.details, "error": str(error), "code": error.code}, status)
    if isinstance(error, HTTPException):
        is_routing = error.detail == HTTPStatus(error.status_code).phrase  # of 404 and 405
        message = f"No route has this path and method. {HINT}" if is_routing else error.detail
        if not message.endswith("."):  # of FastAPI, about a body
            message = f"{message}. Send JSON in UTF-8. {HINT}"
        return refuse(error.status_code, message, error.headers)
    message = "Something went wrong here; what it was stands in the log of the server."
    return Json({"error": message, "code": "INTERNAL_ERROR"}, 500)


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = (
    dict.fromkeys(
        (ClientDisconnect, ClawmemError, RequestValidationError, HTTPException, Exception), error_response
    )
)


LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_BYTES = MOST_INPUT  # largest body
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PAGES = "/ui/"  # pages for people, with sessions instead of the token; no other page may ask for them
# Pages of other programs on this machine; with the token they may ask the server.
LOCAL_PAGE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")


def access_control(names: Sequence[str], token: str) -> list[Middleware]:
    """
    Return the middleware that rejects requests for other hosts than *names*, from other origins or without *token*.

    Pages that this machine serves are no other origin, unless no token is required. Their preflight needs no token.
    """
    gate = Middleware(Gate, names=names, token=token)
    if not token:
        return [gate]
    local_pages = Middleware(
        CORSMiddleware,
        allow_origin_regex=LOCAL_PAGE.pattern,
        allow_methods=("GET", "POST"),
        allow_headers=("Authorization", "Content-Type", "Clawmem-Options"),
        max_age=86_400,
    )
    return [local_pages, gate]


class Gate:
    """ASGI middleware that checks host, origin, token and body, see `access_control`."""

    def __init__(self, app: ASGIApp, names: Sequence[str], token: str) -> None:
        self._app = app
        self._hosts = frozenset(names)
        self._origins = frozenset(f"http://{name}" for name in names)
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sealed(message: Message) -> None:  # against caching and MIME sniffing
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")
                headers.setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope["method"], scope["path"], Headers(scope=scope)):
            await refusal(scope, receive, sealed)
        else:
            received = 0

            async def bounded() -> Message:  # for bodies with a wrong or missing Content-Length
                nonlocal received
                message = await receive()
                received += len(message.get("body", b""))
                if received > MOST_BYTES:
                    raise HTTPException(413, f"A body has at most {MOST_BYTES} bytes.")
                return message

            await self._app(scope, bounded, sealed)

    def _refusal(self, method: str, path: str, headers: Headers) -> Json | None:
        is_page = f"{path}/".startswith(PAGES)
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            return refuse(421, "This server does not go by that name.")
        for origin in headers.getlist("origin"):
            is_local = self._token and not is_page and LOCAL_PAGE.fullmatch(origin.lower())
            if not is_local and origin.lower() not in self._origins:
                return refuse(403, "Pages of other places may not ask this server.")
        kind, _, token = headers.get("authorization", "").partition(" ")
        is_shown = kind.lower() == "bearer" and compare_digest(token.strip().encode(), self._token)
        if self._token and not (is_shown or is_page):
            challenge = {"WWW-Authenticate": "Bearer"}
            place = "It is in the file next to the vault that ends in .token, or in CLAWMEM_API_TOKEN."
            return refuse(401, f"Show the token: Authorization: Bearer TOKEN. {place}", challenge)
        # Browsers send other changing methods to another origin only after a preflight.
        kind, media_type = FORM if is_page else JSON, headers.get("content-type", "").partition(";")[0]
        if method == "POST" and media_type.strip().lower() != kind:
            return refuse(415, f"Send {kind}.")
        charset = headers.get("content-type", "").lower().partition("charset=")[2].strip('" ') or "utf-8"
        if (
            charset not in ("utf-8", "utf8", "us-ascii")
            or headers.get("content-encoding", "identity") != "identity"
        ):
            return refuse(415, "Send UTF-8, not compressed.")
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > MOST_BYTES:
            return refuse(413, f"A body has at most {MOST_BYTES} bytes.")
        return None


def names_of(host: str, port: int, more: Sequence[str] = ()) -> list[str]:
    """Return the host names of a server at *host* and *port*; *more* are names configured by its owner."""
    shown = f"[{host}]" if ":" in host else host
    names = dict.fromkeys((*LOOPBACK, shown, *more))
    with_port = [f"{name.lower()}:{port}" for name in names]
    return with_port if port != 80 else [*with_port, *map(str.lower, names)]
