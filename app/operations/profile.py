"""The profile of the user: current decisions and preferences, and recent work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.app.operations.operation import Effect, Result, operation

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class UserProfile(Result):
    """The profile as Markdown; ``text`` is null if there is none."""

    text: str | None = None


def _text(result: UserProfile) -> str:
    empty = "There is no profile yet: the vault has no decision, no preference and no session."
    return (result.text or "").rstrip() or empty


@operation(Effect.READS, text=_text, route="/profile")
def profile(services: Services) -> UserProfile:
    """
    Return the profile of the user.

    It lists the titles and first sentences of current decisions and preferences, and what the last sessions came to.
    """
    return UserProfile(text=services.profile.text() or None)
