"""The pages of the server: who may see them, which function makes each, and the headers that keep scripts of others out."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from anyio import sleep, to_thread
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.interfaces.web.sessions import Message, Session, Sessions
from clawmem.app.operations.dispatch import Dispatcher, run
from clawmem.app.operations.operation import refusal_of
from clawmem.app.operations.output import as_lines
from clawmem.ports.errors import ClawmemError, ConfirmationMissing, NotFound, NotServed
from clawmem.ports.records import InactiveReason

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from clawmem.app.bootstrap.services import Services

ROOT = "/ui"
CALLER = "web"
RENDERED = lazy("app.interfaces.web.rendering:rendered")
EVENTS_S = 300
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers hide the origin of a form from the server itself
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def _words_of(error: ClawmemError) -> str:
    """Return the message of *error*, without the path of a forgotten note, which may repeat its text."""
    is_forgotten = isinstance(error, NotServed) and error.document.inactive is InactiveReason.FORGOTTEN
    return "This note is forgotten, and cannot be brought back." if is_forgotten else str(error)


class WebPages:
    """The routes of the pages; the libraries that draw them are loaded with the first request."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._sessions = Sessions()
        self._is_ending = False
        self._static = StaticFiles(directory=Path(__file__).with_name("static"))
        # One returns a one-time address to who shows the token.
        address = Route(f"{ROOT}-address", self._address, methods=["POST"])
        self.routes: list[BaseRoute] = [address, Mount(ROOT, self)]

    def end(self) -> None:
        """End the streams of events, so that the server need not wait for them."""
        self._is_ending = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            response = await self._response(Request(scope, receive))
        except HTTPException as error:
            response = await self._message(error.status_code, error.detail)
        except Exception:
            logging.getLogger(__name__).exception("The page %s", scope["path"])
            response = await self._message(500, "The log of the server says what went wrong.")
        response.headers.update(HEADERS)
        await response(scope, receive, send)

    async def _address(self, request: Request) -> Response:
        return JSONResponse({"path": f"{ROOT}/enter/{self._sessions.ticket()}"})

    async def _response(self, request: Request) -> Response:
        path = request.scope["path"].removeprefix(ROOT)
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise HTTPException(403, "Another page asked for this one. Type its address, or use: clawmem ui")
        if path.startswith("/static/"):
            response = await self._static.get_response(path.removeprefix("/static/"), request.scope)
            response.headers["Cache-Control"] = "no-cache"  # asked for again with its ETag
            return response
        cookie = f"clawmem-{request.url.port or 80}"  # cookies do not tell ports apart
        if path.startswith("/enter/"):
            if not (key := self._sessions.begin(path.removeprefix("/enter/"))):
                raise HTTPException(401, "This address was used before, or is too old.")
            response = RedirectResponse(f"{ROOT}/", 303)
            response.set_cookie(cookie, key, path=ROOT, httponly=True, samesite="strict")
            return response
        key = request.cookies.get(cookie, "")
        session = self._sessions.find(key)
        if session is None:
            raise HTTPException(401, "This browser has no session, or it has ended.")
        if request.method == "POST":
            response = await self._act(request, path, session)
            if path == "/leave" and response.status_code == 303:
                self._sessions.end(key)
            return response
        if path == "/events":
            return StreamingResponse(self._events(), media_type="text/event-stream")
        return await self._page(path, dict(request.query_params), session)

    async def _page(self, path: str, query: Mapping[str, str], session: Session) -> Response:
        from clawmem.app.interfaces.web.views import VIEWS, drawn

        if path not in VIEWS:
            raise HTTPException(404, "There is no such page.")
        messages, session.messages = session.messages, []

        draw: Callable[[Services], str] = lambda services: drawn(
            path, services.called_by(CALLER), query, csrf=session.csrf, messages=messages
        )
        try:
            return HTMLResponse(await self._dispatcher.in_vault(draw))
        except ClawmemError as error:
            return await self._message(404 if isinstance(error, NotFound) else 400, _words_of(error))

    async def _events(self) -> AsyncIterator[str]:
        """Yield an event whenever a question was answered."""
        latest = None
        for _ in range(EVENTS_S):  # then the browser asks again, and its session is checked again
            if self._is_ending:
                return
            receipts = await self._dispatcher.in_vault(lambda services: services.vault.receipts.latest(1))
            number = receipts[0].id if receipts else 0
            if latest is None:
                yield "retry: 2000\n\n"
            elif number != latest:
                yield f"data: {number}\n\n"
            latest = number
            await sleep(1)

    async def _act(self, request: Request, path: str, session: Session) -> Response:
        """Run an operation with the fields of a form, then show the page that had the form."""
        body = (await request.body()).decode("utf-8", "replace")
        fields = dict(parse_qsl(body))  # an empty field is left out
        if not compare_digest(fields.pop("csrf", "").encode(), session.csrf.encode()):
            raise HTTPException(403, "This form is of another session. Load its page again.")
        back = fields.pop("back", "")
        if not back.startswith(f"{ROOT}/") or "\\" in back or not back.isprintable():
            back = f"{ROOT}/"
        if path == "/leave":
            return RedirectResponse(f"{ROOT}/", 303)
        from clawmem.app.interfaces.web.actions import ACTIONS, UNDOABLE

        operation = ACTIONS.get(path.removeprefix("/act/"))
        if operation is None:
            raise HTTPException(404, "There is no such action.")
        try:
            parameters = operation.request.model_validate(fields)
            before = await self._latest_act() if operation.name in UNDOABLE else 0
            result = await run(self._dispatcher, operation, parameters, caller=CALLER)
        except ConfirmationMissing as missing:
            fields |= {field: str(value).lower() for field, value in missing.confirmed.items()}
            return await self._message(
                200, "", template="confirm.html", title="Confirm", preview=missing.preview,
                action=f"{ROOT}{path}", fields=fields, back=back, csrf=session.csrf,
            )  # fmt: skip
        except (ClawmemError, ValidationError) as error:
            refusal = refusal_of(error) if isinstance(error, ValidationError) else error
            session.messages.append(Message(_words_of(refusal), is_error=True))
        else:
            act = await self._latest_act() if operation.name in UNDOABLE else 0
            undo = act if act > before else None  # what was so already made no act
            text = as_lines(operation.shown(result))
            if operation.name == "memory_forget":
                text = text.replace(result.name, "The note")
            session.messages.append(Message(text, undo))
        return RedirectResponse(back, 303)

    async def _latest_act(self) -> int:
        """Return the number of the latest act by a page; 0 if the latest is of others."""
        acts = await self._dispatcher.in_vault(lambda services: services.lifecycle.latest(1))
        return next((act.id for act in acts if act.by == CALLER), 0)

    async def _message(
        self, status: int, text: str, template: str = "message.html", **values: Any
    ) -> HTMLResponse:
        shown = {"title": "clawmem", "text": text, "status": status, **values}
        return HTMLResponse(await to_thread.run_sync(partial(RENDERED, template, **shown)), status)
