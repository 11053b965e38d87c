"""The profile page."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.operation import Asked, Nothing, changing, reading
from clawmem.app.services.briefing.profile import PATH, is_sound
from clawmem.domain.capture.notes import COLLECTION


class Again(Asked):
    """When to rebuild the page."""

    rebuild: bool = Field(False, description="Make it anew, due or not.")


class Page(TypedDict, total=False):
    """The profile page of the user; ``profile`` is null if there is none."""

    path: str
    body: str
    profile: None


def profile(services: Services, asked: Nothing) -> Page:
    """Return the profile page of the user, without rebuilding it."""
    page = services.vault.documents.at(COLLECTION, PATH)
    if page is None or not is_sound(services.vault, page):
        return {"profile": None}
    return {"path": page.display_path, "body": services.vault.documents.body(page.id) or ""}


def renewed_profile(services: Services, asked: Again) -> Page:
    """Return the profile page of the user, rebuilt if it is due."""
    services.profile.rebuild() if asked.rebuild else services.profile.refresh()
    return profile(services, Nothing())


OPERATIONS = (
    reading("GET", "/profile", Nothing, Page, profile),
    changing("/profile", Again, Page, renewed_profile),
)
