"""
Access control of the server.

Any web page in a browser can send requests to this machine, and through DNS rebinding even read the responses.
Therefore the Host header, the Origin header and a token are checked before anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clawmem.app.client.request import MOST_INPUT
from clawmem.app.interfaces.rest.errors import Json, refuse

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_BYTES = MOST_INPUT  # largest body
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PAGES = (
    "/ui/"  # pages for people: they have sessions instead of the token, and no other page may ask for them
)
# Pages of other programs on this machine; with the token they may ask the server.
LOCAL_PAGE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")


def access_control(names: Sequence[str], token: str) -> list[Middleware]:
    """
    Return the middleware that rejects requests for other hosts, from other origins or without the token.

    Pages that this machine serves are no other origin, unless no token is required. Their preflight needs no token.

    Args:
        names: The host names of the server, each with its port as browsers write it.
        token: The required token; empty to require none.
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
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope["method"], scope["path"], Headers(scope=scope)):
            await refusal(scope, receive, _sealed(send))
        else:
            await self._app(scope, _bounded(receive), _sealed(send))

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
            return refuse(401, "Show the token: Authorization: Bearer TOKEN", challenge)
        # Browsers send other changing methods to another origin only after a preflight.
        kind, media_type = FORM if is_page else JSON, headers.get("content-type", "").partition(";")[0]
        if method == "POST" and media_type.strip().lower() != kind:
            return refuse(415, f"Send {kind}.")
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


def _sealed(send: Send) -> Send:
    """Return *send* that adds headers against caching and MIME sniffing."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Cache-Control", "no-store")
            headers.setdefault("X-Content-Type-Options", "nosniff")
        await send(message)

    return sealed
