"""The preview of forgetting a document: its size, its age, and the memories derived from it."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.app.services.documents.docids import docids
from clawmem.app.services.documents.lookup import Lookup
from clawmem.app.services.lifecycle.derived import derived_documents
from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.ports.address_errors import NotServed
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault


class ForgetPreview(NamedTuple):
    """A document to forget: its docid without ``#``, the bytes of its text, its age, and its derived documents."""

    document: Document
    docid: str
    size: int
    age_days: float
    derived: tuple[Document, ...]


def already_forgotten(lookup: Lookup, address: str) -> Document | None:
    """Return the document that *address* names where it was forgotten before; ``None`` for anything else."""
    try:
        lookup.forgettable(address)
    except NotServed as error:
        return error.document if error.document.inactive is InactiveReason.FORGOTTEN else None
    except InvalidInput:
        return None
    return None


def preview_forget(vault: Vault, clock: Clock, document: Document) -> ForgetPreview:
    """Describe *document* and the memories derived from it; nothing is changed."""
    now = clock.now_ms()
    written = parse_iso(document.authored_at)
    return ForgetPreview(
        document,
        docids(vault.documents, [document])[document.id],
        len((vault.documents.body(document.id) or "").encode("utf-8", "surrogatepass")),
        max(0.0, (now - (now if written is None else written)) / DAY_MS),
        tuple(derived_documents(vault, [document.id])),
    )
