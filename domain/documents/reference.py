"""References from the front matter of one note to another note, and the places that an address may mean."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from clawmem.domain.documents.address import Address, folded, is_place_end, read_address
from clawmem.domain.documents.identity import parse_virtual_path
from clawmem.domain.documents.names import document_names, file_name
from clawmem.ports.records import Document

Place = tuple[str, str]
_FROM_HERE = re.compile(r"(?P<opening>\A\s*(?:!?\[\[)?)(?P<climb>(?:\.\.?[/\\])+)(?P<rest>[^|#^\]]*)")


def reference_readings(text: str, note: Document) -> tuple[Address, ...]:
    """
    Return the interpretations of *text* in *note*, most literal first; the extension may be missing, as in a link.

    A path that begins with ``./`` or ``../`` is relative to the folder of the note.

    Raises:
        InvalidInput: as `read_address`.
    """
    readings = (
        reading._replace(name=_shown_away(reading.name), is_link=True)
        for reading in read_address(_from_the_top(text, note))
    )
    return tuple(reading for reading in readings if reading.name)


def reference_places(address: Address, note: Document) -> Iterator[Place]:
    """
    Yield the exact places that *address* may mean in *note*, most likely first.

    The path is resolved against the root of the note's collection, then against the folder of the note, then as
    ``collection/path``.
    """
    folder = posixpath.dirname(note.path)
    for path in address.paths:
        if virtual := parse_virtual_path(path):
            yield virtual
            continue
        path = path.replace("\\", "/").lstrip("/")
        yield note.collection, posixpath.normpath(path)
        yield note.collection, posixpath.normpath(posixpath.join(folder, path))
    for path in address.paths:
        collection, _, rest = path.strip("/").partition("/")
        if rest:
            yield collection, posixpath.normpath(rest)


def is_path_of(address: Address, document: Document) -> bool:
    """Whether *address* is a suffix of the document's path."""
    return any(is_place_end(document, path.lstrip("/")) for path in address.paths)


def is_whole_path_of(address: Address, document: Document) -> bool:
    """Whether *address* is the document's path from the root of its collection; case does not count."""
    return folded(document.path) in {folded(path.lstrip("/")) for path in address.paths}


def reference_key(address: Address) -> tuple[str, str]:
    """Return the two keys by which `document_keys` lists every document that *address* may name."""
    return folded(address.name), folded(file_name(address.name.replace("\\", "/")))


def document_keys(document: Document) -> set[str]:
    """Return the names of *document* in the form in which they are compared."""
    return {folded(name) for name in (*document_names(document), file_name(document.path))}


def _shown_away(name: str) -> str:
    """Return *name* without the display text of a link whose brackets YAML has removed."""
    return name.partition("|")[0].strip()


def _from_the_top(text: str, note: Document) -> str:
    """Return *text* with a leading ``./`` or ``../`` path resolved against the root of the collection."""
    match = _FROM_HERE.match(text)
    if match is None:
        return text
    below = f"{match['climb']}{match['rest']}".replace("\\", "/")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(note.path), below))
    return f"{match['opening']}{path}{text[match.end() :]}"
