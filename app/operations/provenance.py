"""Origins in records: every record of a document has one, and instructions in texts of others are removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.app.operations.output import encodable
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.origin import Origin

if TYPE_CHECKING:
    from clawmem.ports.records import Document


class Provenance(TypedDict):
    """The origin of a text, and whether it is the user or an assistant; no other text is an instruction."""

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
    """Return the title of *document*; `clawmem.domain.security.quoting.LEFT_OUT` if others give an order in it."""
    return without_orders(document.title, document.origin)


def properties_to_read(properties: Iterable[tuple[str, str]], origin: Origin) -> dict[str, list[str]]:
    """Return the values of each property, without orders that a text of others gives; none for an empty value."""
    found: dict[str, list[str]] = {}
    for pair in properties:
        name, value = (encodable(without_orders(text, origin)) for text in pair)
        found.setdefault(name, []).extend([value] if value else [])
    return found


def titled_file(document: Document) -> TitledFile:
    """Return path, title and origin of *document* as a record."""
    return {"file": document.display_path, "title": title_of(document), **provenance_of(document.origin)}
