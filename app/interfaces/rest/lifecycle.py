"""The lifecycle of documents: forget."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.documents import Named
from clawmem.app.interfaces.rest.operation import changing
from clawmem.app.records.forgetting import confirmed_target
from clawmem.app.services.documents.docids import docids
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


def forget(services: Services, asked: Forget) -> Gone:
    """Forget a document for good; it cannot be brought back, and its file is not taken in again."""
    document = confirmed_target(services, asked.docid, confirm=asked.confirm)
    file = document.display_path
    if document.inactive is InactiveReason.FORGOTTEN:
        return {"docid": "", "file": file, "forgotten": True, "changed": False, "left": ""}
    docid = _docid(services, document)
    left = services.forgetting([document], BY, asked.why).left
    return {"docid": docid, "file": file, "forgotten": True, "changed": True, "left": left}


def _docid(services: Services, document: Document) -> str:
    return docids(services.vault.documents, [document])[document.id]


OPERATIONS = (changing("/documents/{docid:path}/forget", Forget, Gone, forget),)
