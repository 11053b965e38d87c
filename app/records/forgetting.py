"""The preview of forgetting a document as a record and as sentences, and the confirmation required of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.app.records.documents import Place
from clawmem.app.records.provenance import provenance_of, title_of
from clawmem.app.services.lifecycle.forget_preview import already_forgotten, preview_forget
from clawmem.domain.documents.address import read_address
from clawmem.domain.documents.identity import normalise_docid
from clawmem.domain.security.quoting import shown_title
from clawmem.ports.address_errors import ConfirmationMissing

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.lifecycle.forget_preview import ForgetPreview
    from clawmem.ports.records import Document

MOST_NAMED = 3  # derived documents that a person is shown by name


class WouldForget(Place):
    """A document that would be forgotten; ``derived_files`` are the documents that were derived from it."""

    authored_at: str
    bytes: int
    derived: int
    derived_files: list[str]


def would_forget(found: ForgetPreview) -> WouldForget:
    """Return the preview of forgetting a document as a record."""
    document = found.document
    return {
        "docid": f"#{found.docid}",
        "file": document.display_path,
        "title": title_of(document),
        **provenance_of(document.origin),
        "authored_at": document.authored_at,
        "bytes": found.size,
        "derived": len(found.derived),
        "derived_files": [one.display_path for one in found.derived],
    }


def forget_lines(found: ForgetPreview) -> list[str]:
    """Return the preview of forgetting a document as sentences."""
    from clawmem.app.operations.output import age

    document = found.document
    lines = [
        f"{document.display_path} (#{found.docid}): {shown_title(document).rstrip('.')}.",
        f"Written {age(found.age_days)} ({document.authored_at[:10]}), {found.size:,} bytes.",
    ]
    if not found.derived:
        return [*lines, "No memories were derived from it."]
    more = len(found.derived) - MOST_NAMED
    named = ", ".join(one.display_path for one in found.derived[:MOST_NAMED]) + (
        f" and {more} more" if more > 0 else ""
    )
    count = len(found.derived)
    noun = "memory was" if count == 1 else "memories were"
    return [*lines, f"{count} {noun} derived from it: {named}."]


def confirmed_target(services: Services, address: str, *, confirm: bool | None) -> Document:
    """
    Return the document that a program asks to forget, even if it is already forgotten.

    Raises:
        ConfirmationMissing: *address* is not a docid, or *confirm* is not true; describes what would be forgotten.
        InvalidInput: As `Lookup.forgettable`.
    """
    gone = already_forgotten(services.lookup, address)
    if gone is not None:
        return gone
    document = services.lookup.forgettable(address)
    if confirm is True and _names_docid(address, document):
        return document
    raise unconfirmed(
        preview_forget(services.vault, services.clock, document),
        "repeat with docid {docid} and confirm: true",
    )


def unconfirmed(found: ForgetPreview, next_step: str) -> ConfirmationMissing:
    """Return the error that describes what would be forgotten; *next_step* may name the ``{docid}``."""
    described = " ".join(forget_lines(found))
    step = next_step.format(docid=f"#{found.docid}")
    return ConfirmationMissing(
        f"Nothing was forgotten. This would forget {described} To forget it, {step}.", would_forget(found)
    )


def _names_docid(address: str, document: Document) -> bool:
    digits = read_address(address)[0].docid
    return bool(digits) and document.hash.startswith(normalise_docid(digits))
