"""Origins in records: every record of a document carries one, and texts of others in it give no orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.origin import Origin

if TYPE_CHECKING:
    from clawmem.ports.records import Document


class Provenance(TypedDict):
    """The first source of a text, and whether that is the user or an assistant; every other text is no instruction."""

    origin: Origin
    trusted: bool


class TitledFile(Provenance):
    """A document by its path and title."""

    file: str
    title: str


def provenance_of(origin: Origin) -> Provenance:
    """Return *origin* as a record."""
    return {"origin": origin, "trusted": is_verified(origin)}


def title_of(document: Document) -> str:
    """Return the title of *document*; `clawmem.domain.security.quoting.LEFT_OUT` where others give an order by it."""
    return without_orders(document.title, document.origin)


def titled_file(document: Document) -> TitledFile:
    """Return path, title and origin of *document* as a record."""
    return {
        "file": document.display_path,
        "title": title_of(document),
        **provenance_of(document.origin),
    }
