"""Treatment of single notes: pinned before others, or snoozed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.operations.fields import Address, DocumentReference, Why, place_of
from clawmem.app.operations.operation import Command, Effect, Operation, Request
from clawmem.domain.security.quoting import title_to_read

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.records import Document

DEFAULT_SNOOZE = "30d"


class Pin(Request):
    """A note, and whether it is pinned."""

    query: Address
    unpin: Annotated[bool, Field(description="Take the pin back.")] = False
    why: Why = ""


class Snooze(Request):
    """A note, and until when it is snoozed."""

    query: Address
    until: Annotated[
        str | None,
        Field(
            description="The day, 2026-03-31, or days from now, 30d. Null lets the note be surfaced again."
        ),
    ] = None
    why: Why = ""


class Treatment(DocumentReference):
    """A note and how it is treated now; ``changed`` is false where it was so before."""

    action: str
    changed: bool
    pinned: bool
    snoozed_until: str | None = None


def pin(services: Services, request: Pin) -> Treatment:
    """Rank a note before others that fit a question equally well; for notes that the user needs often."""
    target = services.lookup.target(request.query)
    act = services.tending.unpin if request.unpin else services.tending.pin
    changed = act(target, services.caller, request.why)
    is_pinned = target.pins_itself or not request.unpin
    return _treatment(
        services,
        target,
        action="unpinned" if request.unpin else "pinned",
        changed=changed,
        pinned=is_pinned,
        snoozed_until=target.snoozed_until,
    )


def snooze(services: Services, request: Snooze) -> Treatment:
    """Keep a note out of prompts until a day; searches still find it."""
    tending = services.tending
    moment = None if request.until is None else tending.read_until(request.until)
    target = services.lookup.target(request.query)
    if moment is None:
        changed = tending.unsnooze(target, services.caller, request.why)
        return _treatment(services, target, action="unsnoozed", changed=changed, pinned=target.is_pinned)
    tending.snooze(target, moment, services.caller, request.why)
    return _treatment(
        services,
        target,
        action="snoozed",
        changed=target.snoozed_until != moment,
        pinned=target.is_pinned,
        snoozed_until=moment,
    )


def _treatment(services: Services, target: Document, **became: Any) -> Treatment:
    return Treatment(**place_of(services, target), **became)


def treatment_text(result: Treatment) -> str:
    """Return one sentence about a note."""
    is_new = result.action == "snoozed"
    until = (
        f" until {result.snoozed_until[:16].replace('T', ' ')} UTC" if is_new and result.snoozed_until else ""
    )
    before = "" if result.changed else " already"
    own = " Its own front matter pins it." if result.action == "unpinned" and result.pinned else ""
    title = title_to_read(result.title, result.origin)
    return f"{result.file} ({title}) is {result.action}{until}{before}.{own}"


OPERATIONS = (
    Operation(
        name="memory_pin",
        run=pin,
        effect=Effect.REPEATABLE,
        route="/documents/{query:path}/pin",
        commands=(
            Command("pin", fixed={"unpin": False}),
            Command(
                "unpin",
                fixed={"unpin": True},
                about="Take back a pin; one that the note itself asks for stays.",
            ),
        ),
        text=treatment_text,
    ),
    Operation(
        name="memory_snooze",
        run=snooze,
        effect=Effect.REPEATABLE,
        route="/documents/{query:path}/snooze",
        commands=(
            Command("snooze", defaults={"until": DEFAULT_SNOOZE}),
            Command("unsnooze", fixed={"until": None}, about="Let a note be surfaced again."),
        ),
        text=treatment_text,
    ),
)
