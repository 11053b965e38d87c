"""The lifecycle of documents: forget, and the profile page."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.documents import Named
from clawmem.app.interfaces.rest.operation import Asked, Nothing, changing, reading
from clawmem.app.records.forgetting import confirmed_target
from clawmem.app.services.briefing.profile import PATH, is_sound
from clawmem.app.services.documents.docids import docids
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.records import Document, InactiveReason

BY = "rest"


class Doing(Named):
    """A document, and the reason for the change."""

    why: str = Field("", max_length=1000, description="Why; it is written down.")


class Forget(Doing):
    """A document to forget."""

    docid: str = Field(
        min_length=1, description="The docid of the document, without its #; no path or title."
    )
    confirm: bool | None = Field(
        None, description="Must be true. Anything else changes nothing and describes the document."
    )


class Again(Asked):
    """When to rebuild the page."""

    rebuild: bool = Field(False, description="Make it anew, due or not.")


class Gone(TypedDict):
    """
    The forgotten document; if it was forgotten before, ``changed`` is false and ``docid`` is empty.

    ``left`` says why its bytes may remain in free space, empty if they do not.
    """

    docid: str
    file: str
    forgotten: bool
    changed: bool
    left: str


class Page(TypedDict, total=False):
    """The profile page of the user; ``profile`` is null if there is none."""

    path: str
    body: str
    profile: None


def forget(services: Services, asked: Forget) -> Gone:
    """Forget a document for good; it cannot be brought back, and its file is not taken in again."""
    document = confirmed_target(services, asked.docid, confirm=asked.confirm)
    file = document.display_path
    if document.inactive is InactiveReason.FORGOTTEN:
        return {"docid": "", "file": file, "forgotten": True, "changed": False, "left": ""}
    docid = _docid(services, document)
    left = services.forgetting([document], BY, asked.why).left
    return {"docid": docid, "file": file, "forgotten": True, "changed": True, "left": left}


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


def _docid(services: Services, document: Document) -> str:
    return docids(services.vault.documents, [document])[document.id]


OPERATIONS = (
    reading("GET", "/profile", Nothing, Page, profile),
    changing("/profile", Again, Page, renewed_profile),
    changing("/documents/{docid:path}/forget", Forget, Gone, forget),
)
