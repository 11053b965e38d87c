"""The profile of the user: a page built from decisions, hubs and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.embedding import embed_new
from clawmem.app.operations.operation import Command, Effect, NoParameters, Operation, Request, Result

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class ProfileRequest(Request):
    """Whether the page is rebuilt in any case."""

    rebuild: Annotated[bool, Field(description="Rebuild the page even if it is up to date.")] = False


class ProfilePage(Result):
    """The profile page; ``file`` and ``text`` are null if there is none."""

    file: str | None = None
    text: str | None = None
    rebuilt: bool = Field(default=False, description="Whether the page was rebuilt now.")


def stored(services: Services, request: NoParameters) -> ProfilePage:
    """Return the stored profile of the user."""
    page = services.profile.page()
    if page is None:
        return ProfilePage()
    return ProfilePage(file=page.display_path, text=services.vault.documents.body(page.id) or "")


def current(services: Services, request: ProfileRequest) -> ProfilePage:
    """
    Return the profile of the user; rebuild it if it is outdated.

    The profile lists current facts and recent work. It is built from decisions, hubs and sessions.
    """
    rebuilt = services.profile.rebuild() if request.rebuild else services.profile.refresh()
    if rebuilt:
        embed_new(services)
    return stored(services, NoParameters()).model_copy(update={"rebuilt": rebuilt})


def _text(result: ProfilePage) -> str:
    empty = "There is no profile yet: the vault has no decision, no central note and no session."
    return (result.text or "").rstrip() or empty


OPERATIONS = (
    Operation(
        name="profile",
        run=current,
        effect=Effect.REPEATABLE,
        text=_text,
        route="/profile",
        commands=(
            Command("profile show", fixed={"rebuild": False}, is_default=True),
            Command("profile rebuild", fixed={"rebuild": True}, about="Rebuild the profile of the user."),
        ),
    ),
    Operation("stored_profile", stored, Effect.READS, _text, route="/profile", commands=(), is_tool=False),
)
