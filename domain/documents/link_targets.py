"""
Targets of links: the note that a link means, as Obsidian resolves it.

The rules, in this order; all of them ignore case and a missing ``.md`` or ``.txt``, and apply within one collection:

1. A path that begins with ``./`` or ``../``, and first of all a Markdown link, is relative to the folder of the note.
2. The exact path from the root of the collection, or ``collection/path``.
3. A path that ends with the target: first below the folder of the note, then elsewhere; the shortest path first.
4. An alias of a note, then its title; of several notes the nearest one, as in rule 3.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from clawmem.domain.documents.address import folded
from clawmem.domain.documents.title import EXTENSION
from clawmem.ports.documents import Link, LinkKind, NamedNote, NameKind


def link_target(link: Link, collection: str, path: str, named: Sequence[NamedNote]) -> int | None:
    """
    Return the id of the note that *link* means in the note at *path* of *collection*; ``None`` for a broken link.

    Args:
        named: The served notes of all collections with the name ``link.key``.
    """
    if link.kind is LinkKind.BLOCK:
        return _nearest([one for one in named if one.kind is NameKind.BLOCK], collection, path)
    written = link.target.replace("\\", "/")
    here = [one for one in named if one.collection == collection and one.kind is not NameKind.BLOCK]
    files = [one for one in here if _stem(one.path).rpartition("/")[2] == link.key]
    for place in _exact_paths(link.kind, written, path):
        found = [one for one in files if _stem(one.path) == place]
        if found:
            return found[0].document_id
    if written.startswith(("./", "../", "/")):
        return None
    other = [one for one in named if _stem(f"{one.collection}/{one.path}") == _stem(written)]
    ends = [one for one in files if f"/{_stem(one.path)}".endswith(f"/{_stem(written)}")]
    for found in (ends, other, *_by_other_names(here)):
        if found:
            return _nearest(found, collection, path)
    return None


def _by_other_names(notes: Sequence[NamedNote]) -> list[list[NamedNote]]:
    return [[one for one in notes if one.kind is kind] for kind in (NameKind.ALIAS, NameKind.TITLE)]


def _exact_paths(kind: LinkKind, written: str, path: str) -> list[str]:
    """Return the paths that *written* may be, most likely first, in the form in which they are compared."""
    from_here = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    if written.startswith(("./", "../")):
        return [_stem(from_here)]
    from_root = posixpath.normpath(written.lstrip("/"))
    places = (
        [from_here, from_root] if kind is LinkKind.MARKDOWN and not written.startswith("/") else [from_root]
    )
    return [_stem(place) for place in places]


def _nearest(found: Sequence[NamedNote], collection: str, path: str) -> int | None:
    """Return the id of the one of *found* below the folder of the note, then of that with the shortest path."""
    if not found:
        return None
    folder = posixpath.dirname(path)

    def distance(one: NamedNote) -> tuple[bool, bool, int, str]:
        is_below = one.path.startswith(f"{folder}/") if folder else True
        return one.collection != collection, not is_below, len(one.path), one.path

    return min(found, key=distance).document_id


def _stem(path: str) -> str:
    return folded(EXTENSION.sub("", path))
