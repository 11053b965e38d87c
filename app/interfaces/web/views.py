"""The pages: each a function of the open vault and the query string that returns the values of its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.web import reading
from clawmem.app.interfaces.web.rendering import address, rendered
from clawmem.app.interfaces.web.sessions import Message
from clawmem.app.operations.history import session_log
from clawmem.app.operations.lifecycle import lifecycle_undo
from clawmem.app.operations.operation import Operation
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.operations.vault import status
from clawmem.domain.documents.times import DAY_MS, iso_utc

Query = Mapping[str, str]
R = TypeVar("R")


class View(NamedTuple):
    """A page: its template, its title, and the function that returns the values of the template."""

    template: str
    title: str
    values: Callable[[Services, Query], Mapping[str, Any]]


VIEWS: dict[str, View] = {}
NAVIGATION: dict[str, str] = {}  # labels of the pages that every page links to


def view(path: str, title: str, template: str, *, in_navigation: bool = False) -> Callable[..., Any]:
    """Return a decorator that makes a function the page at *path*."""

    def decorate(values: Callable[[Services, Query], Mapping[str, Any]]) -> Any:
        VIEWS[path] = View(template, title, values)
        if in_navigation:
            NAVIGATION[path] = title
        return values

    return decorate


def drawn(path: str, services: Services, query: Query, *, csrf: str, messages: Sequence[Message] = ()) -> str:
    """Return the page at *path* as HTML."""
    page = VIEWS[path]
    now = iso_utc(services.clock.now_ms())
    shared = {"title": page.title, "path": path, "nav": NAVIGATION, "now": now, "query": query}
    values = page.values(services, query)
    here = address(path, **query)
    return rendered(page.template, **{**shared, **values}, csrf=csrf, here=here, messages=messages)


def answer(operation: Operation[..., R], services: Services, parameters: Mapping[str, Any]) -> R:
    """
    Return the result of *operation* for parameters of a query string.

    Raises:
        InvalidInput: A parameter is invalid.
    """
    try:
        request = operation.request.model_validate(parameters)
    except ValidationError as error:
        raise refusal_of(error) from error
    return operation.run(services, request)


@view("/", "Home", "home.html", in_navigation=True)
def home(services: Services, query: Query) -> Mapping[str, Any]:
    """Show what changed this week, what holds, what is open, and what to do next."""
    week = iso_utc(services.clock.now_ms() - 7 * DAY_MS)
    latest = reading.latest_notes(services)
    return {
        "status": status(services),
        "notes": [note for note in latest if note.authored_at >= week] or latest[:8],
        "is_this_week": any(note.authored_at >= week for note in latest),
        "acts": [act for act in lifecycle_undo(services, limit=8) if act.at >= week],
        "decisions": [note for note in latest if note.content_type == "decision" and not note.superseded_by],
        "tasks": reading.open_tasks(services),
        "handoff": reading.last_handoff(services, session_log(services, limit=10)),
    }
