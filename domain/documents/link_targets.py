"""
Targets of links: the note that a link means, as Obsidian resolves it.

The rules, in this order; all of them ignore a missing ``.md`` or ``.txt``, apply within one collection, and prefer a
path in the case of the link to others:

1. A path that begins with ``./`` or ``../``, and first of all a Markdown link, is relative to the folder of the note.
2. The exact path from the root of the collection, or ``collection/path``.
3. A path that ends with the target: first below the folder of the note, then elsewhere; the shortest path first.
4. An alias of a note, then its title; of several notes the nearest one, as in rule 3.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from clawmem.domain.documents.address import folded
from clawmem.domain.documents.links import link_key, with_slashes
from clawmem.domain.documents.title import EXTENSION
from clawmem.ports.documents import Link, LinkKind, NamedNote, NameKind


def link_target(link: Link, collection: str, path: str, named: Sequence[NamedNote]) -> int | None:
    """
    Return the id of the note that *link* means in the note at *path* of *collection*; ``None`` for a broken link.

    Args:
        named: The served notes of all collections with the name ``link.key``.
    """
    written, folder = _stem(link.target), posixpath.dirname(path)

    def distance(note: NamedNote) -> tuple[bool, bool, bool, int, str]:
        is_below = note.path.startswith(f"{folder}/") if folder else True
        has_other_case = not _stem(note.path).endswith(written.lstrip("./"))
        return note.collection != collection, has_other_case, not is_below, len(note.path), note.path

    def nearest(notes: Sequence[NamedNote]) -> int | None:
        return min(notes, key=distance).document_id if notes else None

    if link.kind is LinkKind.BLOCK:
        return nearest([note for note in named if note.kind is NameKind.BLOCK])
    here = [note for note in named if note.collection == collection and note.kind is not NameKind.BLOCK]
    files = [note for note in here if link_key(note.path) == link.key]
    from_here = posixpath.normpath(posixpath.join(folder, written))
    from_root = posixpath.normpath(written.lstrip("/"))
    if written.startswith(("./", "../")):
        places = [from_here]
    elif link.kind is LinkKind.MARKDOWN and not written.startswith("/"):
        places = [from_here, from_root]
    else:
        places = [from_root]
    groups = [[note for note in files if folded(_stem(note.path)) == folded(place)] for place in places]
    if not written.startswith(("./", "../", "/")):
        end = folded(written)
        groups += [
            [note for note in files if f"/{folded(_stem(note.path))}".endswith(f"/{end}")],
            [note for note in named if folded(_stem(f"{note.collection}/{note.path}")) == end],
            [note for note in here if note.kind is NameKind.ALIAS],
            [note for note in here if note.kind is NameKind.TITLE],
        ]
    return next((nearest(group) for group in groups if group), None)


def _stem(path: str) -> str:
    return EXTENSION.sub("", with_slashes(path))
