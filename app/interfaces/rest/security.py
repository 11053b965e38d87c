"""
Access control of the server.

Any web page in a browser can send requests to this machine, and through DNS rebinding even read the responses.
Therefore the Host header, the Origin header and a token are checked before anything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clawmem.app.client.request import MOST_INPUT
from clawmem.app.interfaces.rest.errors import Json, refuse

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_BYTES = MOST_INPUT  # largest body
JSON = "application/json"
# Pages of other programs on this machine; with the token they may ask the server.
_LOCAL_PAGE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Clawmem-Options",
    "Access-Control-Max-Age": "86400",
}


class Gate:
    """
    ASGI middleware that rejects requests for other hosts, from other origins or without the token.

    Pages that this machine serves are no other origin, unless no token is required. Their preflight needs no token.

    Args:
        names: The host names of the server, each with its port as browsers write it.
        token: The required token; empty to require none.
    """

    def __init__(self, app: ASGIApp, names: Sequence[str], token: str) -> None:
        self._app = app
        self._hosts = frozenset(names)
        self._origins = frozenset(f"http://{name}" for name in names)
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        allowed = self._cors(headers)
        if refusal := self._refusal(scope["method"], headers):
            await refusal(scope, receive, _sealed(send, allowed))
        elif _is_preflight(scope["method"], headers):
            await Response(status_code=204)(scope, receive, _sealed(send, {**allowed, **_PREFLIGHT}))
        else:
            await self._app(scope, _bounded(receive), _sealed(send, allowed))

    def _cors(self, headers: Headers) -> Mapping[str, str]:
        """Return the headers that let a page of this machine read the answer; none for a page of the server itself."""
        origin = headers.get("origin", "")
        if not self._is_local_page(origin):
            return {}
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}

    def _is_local_page(self, origin: str) -> bool:
        return bool(self._token) and _LOCAL_PAGE.fullmatch(origin) is not None

    def _refusal(self, method: str, headers: Headers) -> Json | None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            return refuse(421, "This server does not go by that name.")
        if any(
            origin.lower() not in self._origins and not self._is_local_page(origin)
            for origin in headers.getlist("origin")
        ):
            return refuse(403, "Pages of other places may not ask this server.")
        if _is_preflight(method, headers):
            return None
        if not self._shows_token(headers):
            challenge = {"WWW-Authenticate": "Bearer"}
            return refuse(401, "Show the token: Authorization: Bearer TOKEN", challenge)
        # Browsers send other changing methods to another origin only after a preflight.
        if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return refuse(415, f"Send {JSON}.")
        if _said_length(headers) > MOST_BYTES:
            return refuse(413, f"A body has at most {MOST_BYTES} bytes.")
        return None

    def _shows_token(self, headers: Headers) -> bool:
        if not self._token:
            return True
        shown = headers.get("authorization", "")
        kind, _, token = shown.partition(" ")
        return kind.lower() == "bearer" and compare_digest(token.strip().encode(), self._token)


def names_of(host: str, port: int, more: Sequence[str] = ()) -> list[str]:
    """Return the host names of a server at *host* and *port*; *more* are names configured by its owner."""
    shown = f"[{host}]" if ":" in host else host
    names = dict.fromkeys((*LOOPBACK, shown, *more))
    with_port = [f"{name.lower()}:{port}" for name in names]
    return with_port if port != 80 else [*with_port, *map(str.lower, names)]


def _is_preflight(method: str, headers: Headers) -> bool:
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def _said_length(headers: Headers) -> int:
    said = headers.get("content-length", "0")
    return int(said) if said.isascii() and said.isdigit() else 0


def _bounded(receive: Receive) -> Receive:
    """Return *receive* with a limit on the bytes received, for bodies with a wrong or missing Content-Length."""
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BYTES:
            raise HTTPException(413, f"A body has at most {MOST_BYTES} bytes.")
        return message

    return bounded


def _sealed(send: Send, more: Mapping[str, str]) -> Send:
    """Return *send* that adds headers against caching and MIME sniffing, and *more*."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Cache-Control", "no-store")
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.update(more)
        await send(message)

    return sealed
