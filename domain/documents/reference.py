"""References from the front matter of one note to another note: the places that an address may mean."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from clawmem.domain.documents.address import Address, folded, is_place_end, read_address
from clawmem.domain.documents.identity import parse_virtual_path
from clawmem.domain.documents.names import document_names, file_name
from clawmem.ports.records import Document

Place = tuple[str, str]
_HERE = ("./", "../")


def reference_readings(text: str) -> tuple[Address, ...]:
    """
    Return the ways to read *text*, the most literal first; the extension may be missing, as in a link.

    Raises:
        InvalidInput: as `read_address`.
    """
    readings = (one._replace(name=_shown_away(one.name), is_link=True) for one in read_address(text))
    return tuple(one for one in readings if one.name)


def reference_places(address: Address, note: Document) -> Iterator[Place]:
    """
    Yield the exact places that *address* may mean in *note*, the likeliest first.

    The path is read from the top of the note's collection, then from the folder of the note, then as
    ``collection/path``. A path that begins with ``./`` or ``../`` is read from the folder of the note alone.
    """
    folder = posixpath.dirname(note.path)
    for path in address.paths:
        if virtual := parse_virtual_path(path):
            yield virtual
            continue
        path = path.replace("\\", "/")
        beside = posixpath.normpath(posixpath.join(folder, path.lstrip("/")))
        if not path.startswith(_HERE):
            yield note.collection, posixpath.normpath(path.lstrip("/"))
        yield note.collection, beside
    for path in address.paths:
        collection, _, rest = path.strip("/").partition("/")
        if rest and not path.startswith(_HERE):
            yield collection, posixpath.normpath(rest)


def is_path_of(address: Address, document: Document) -> bool:
    """Whether *address* is the end of the document's path."""
    return any(is_place_end(document, path.removeprefix("./").lstrip("/")) for path in address.paths)


def reference_key(address: Address) -> tuple[str, str]:
    """Return the two keys under which `document_keys` has every document that *address* may name."""
    return folded(address.name), folded(file_name(address.name.replace("\\", "/")))


def document_keys(document: Document) -> set[str]:
    """Return the names of *document* as they are compared."""
    return {folded(name) for name in (*document_names(document), file_name(document.path))}


def _shown_away(name: str) -> str:
    """Return *name* without the shown text of a link whose brackets YAML has taken away."""
    return name.partition("|")[0].strip()
