"""The profile of the user: a page built from decisions, hubs and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.embedding import embed_new
from clawmem.app.operations.operation import Command, Effect, Result, operation

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class ProfilePage(Result):
    """The profile page; ``file`` and ``text`` are null if there is none."""

    file: str | None = None
    text: str | None = None
    rebuilt: bool = Field(default=False, description="Whether the page was rebuilt now.")


def _text(result: ProfilePage) -> str:
    empty = "There is no profile yet: the vault has no decision, no central note and no session."
    return (result.text or "").rstrip() or empty


@operation(
    Effect.REPEATABLE,
    text=_text,
    route="/profile",
    commands=(
        Command("profile show", fixed={"rebuild": False}, is_default=True),
        Command("profile rebuild", fixed={"rebuild": True}, about="Rebuild the profile of the user."),
    ),
)
def profile(
    services: Services,
    rebuild: Annotated[bool, Field(description="Rebuild the page even if it is up to date.")] = False,
) -> ProfilePage:
    """
    Return the profile of the user; rebuild it if it is outdated.

    The profile lists current facts and recent work. It is built from decisions, hubs and sessions.
    """
    rebuilt = services.profile.rebuild() if rebuild else services.profile.refresh()
    if rebuilt:
        embed_new(services)
    return stored_profile(services).model_copy(update={"rebuilt": rebuilt})


@operation(Effect.READS, text=_text, route="/profile", commands=(), is_tool=False)
def stored_profile(services: Services) -> ProfilePage:
    """Return the stored profile of the user."""
    page = services.profile.page()
    if page is None:
        return ProfilePage()
    return ProfilePage(file=page.display_path, text=services.vault.documents.body(page.id) or "")
