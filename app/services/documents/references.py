"""References between documents: addresses in claims, and links from both ends."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from clawmem.app.services.documents.listing import docids
from clawmem.domain.documents.address import Address, folded, is_place_end, name_matcher, read_address
from clawmem.domain.documents.identity import display_path, parse_virtual_path
from clawmem.domain.documents.links import is_attachment, part_line
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import EXTENSION, document_names, file_name
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.origin import is_verified, verified_if_any
from clawmem.domain.security.quoting import shown_title, without_orders
from clawmem.ports.documents import DocumentStore, Link, LinkStore, StoredLink
from clawmem.ports.errors import ClawmemError, InvalidInput
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.records import (
    EVERYTHING,
    Candidate,
    Document,
    Grain,
    InactiveReason,
    Scope,
)

MAX_DISTANCE = 5  # edits from the typed path, and at most half of its length


def similar_documents(
    documents: DocumentStore, lexical: LexicalIndex, text: str, place: str, limit: int
) -> list[Document]:
    """
    Return up to *limit* served documents that *text* may have meant.

    They have paths within a few edits, or else share words with *text* in their names, folders or bodies.

    Args:
        place: *text* as a path, with which all paths are compared.
    """
    near = [documents.at(*nearest) for nearest in _nearest_places(place, documents.places())[:limit]]
    if served := [document for document in near if document is not None]:
        return served
    query = query_forms(EXTENSION.sub("", text.strip())).relaxed
    with suppress(ClawmemError):  # the index may be unavailable
        hits = lexical.search(query, Grain.DOCUMENT, limit) if query.terms else []
        known = documents.many(hit.key.document_id for hit in hits)
        numbers = (hit.key.document_id for hit in hits)
        return [known[number] for number in numbers if number in known and known[number].inactive is None]
    return []


def candidates_of(store: DocumentStore, documents: Sequence[Document]) -> list[Candidate]:
    """Return *documents* as candidates, in their order."""
    names = docids(store, [note for note in documents if note.inactive is not InactiveReason.FORGOTTEN])
    return [
        Candidate(
            f"#{names[note.id]}" if note.id in names else "",
            note.display_path,
            without_orders(note.title, note.origin),
            str(note.inactive) if note.inactive else "",
            note.origin,
            is_verified(note.origin),
            shown_title(note),
        )
        for note in documents
    ]


def _nearest_places(name: str, places: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the places whose path, with or without its collection, is few edits from *name*; nearest first."""
    shown = [display_path(*place) for place in places]
    near = process.extract(
        name.lower(),
        [path.lower() for path in (*shown, *(path for _, path in places))],
        scorer=Levenshtein.distance,
        score_cutoff=min(MAX_DISTANCE, len(name) // 2),
        limit=None,
    )
    ranked = sorted((distance, at % len(shown)) for _, distance, at in near)
    return [places[at] for at in dict.fromkeys(at for _, at in ranked)]


SUGGESTIONS = 3


class Reference(NamedTuple):
    """
    The meaning of an address: its place, or else the notes that it may mean.

    ``is_ambiguous`` says that the address names all of ``candidates``; otherwise they only resemble it.
    """

    place: tuple[str, str] | None
    candidates: tuple[Document, ...] = ()
    is_ambiguous: bool = False


class ReferenceResolver:
    """
    Finds the note that an address in another note names; exact matches only.

    Paths go before titles, file names and aliases, whole paths before ends of paths, the collection of the note before
    the rest of the vault, and notes of the user and of assistants before those of others. A note never names itself.
    Use an instance for one pass only: it caches the names of all notes.
    """

    def __init__(self, documents: DocumentStore, lexical: LexicalIndex) -> None:
        self._documents = documents
        self._lexical = lexical

    def __call__(self, text: str, note: Document) -> Reference:
        """Return what *text* means in the front matter of *note*; the extension may be missing, as in a link."""
        try:
            readings = read_address(text, posixpath.dirname(note.path))
        except InvalidInput:
            return Reference(None)
        # YAML removes the brackets of an unquoted [[link|shown]].
        readings = tuple(r._replace(name=r.name.partition("|")[0].strip(), is_link=True) for r in readings)
        gone: list[Document] = []
        for document in self._at_places(readings, note):
            same = (
                self._documents.by_hash(document.hash) if document.inactive is InactiveReason.REMOVED else ()
            )
            if document.inactive is None or any(other.collection == document.collection for other in same):
                return Reference((document.collection, document.path))  # served, or renamed
            gone.append(document)
        called = self._called(readings, note)
        if len(called) > 1:
            return Reference(None, tuple(called), is_ambiguous=True)
        if called or gone:  # the address of a deleted or archived note is still correct
            return Reference(((called or gone)[0].collection, (called or gone)[0].path))
        name = readings[0].name
        near = similar_documents(self._documents, self._lexical, name, name, SUGGESTIONS + 1)
        return Reference(None, tuple(document for document in near if document.id != note.id)[:SUGGESTIONS])

    def _at_places(self, readings: Sequence[Address], note: Document) -> Iterator[Document]:
        """Yield the notes at the exact places that *readings* may mean, most likely first."""
        folder = posixpath.dirname(note.path)
        for address in readings:
            if address.docid:
                yield from self._documents.by_hash(address.docid.lstrip("#"))
            paths = [path.replace("\\", "/").lstrip("/") for path in address.paths]
            places = [place for path in address.paths if (place := parse_virtual_path(path))]
            places += [
                (note.collection, place) for path in paths for place in (path, posixpath.join(folder, path))
            ]
            places += [(parts[0], parts[2]) for path in paths if (parts := path.partition("/"))[2]]
            for collection, path in places:
                document = self._documents.at(collection, posixpath.normpath(path))
                if document is not None and document.id != note.id:
                    yield document

    def _called(self, readings: Sequence[Address], note: Document) -> list[Document]:
        """Return the other notes that *readings* name most strictly."""
        groups: dict[tuple[bool, int, int], list[Document]] = defaultdict(list)
        for rank, address in enumerate(readings):
            is_called = name_matcher(address)
            paths = [folded(path.lstrip("/")) for path in address.paths]
            keys = {folded(address.name), folded(file_name(address.name.replace("\\", "/")))}
            named = {document.id: document for key in keys for document in self._by_name.get(key, ())}
            for document in named.values():
                tests = (
                    folded(document.path) in paths,
                    any(is_place_end(document, path.lstrip("/")) for path in address.paths),
                    is_called(document),
                )
                if document.id != note.id and any(tests):
                    groups[document.collection != note.collection, rank, tests.index(True)].append(document)
        return verified_if_any(groups[min(groups)]) if groups else []

    @cached_property
    def _by_name(self) -> dict[str, list[Document]]:
        names: dict[str, list[Document]] = defaultdict(list)
        for document in self._documents.latest():
            for key in {folded(name) for name in (*document_names(document), file_name(document.path))}:
                names[key].append(document)
        return names


NO_NOTE = "no note is called so"


class FoundLink(NamedTuple):
    """A link, the notes at both ends, and the line of the heading or block that it names; `problem` is a sentence."""

    link: Link
    source: Document
    target: Document | None
    target_line: int | None = None
    problem: str = ""


def links_of(documents: DocumentStore, links: LinkStore, document: Document) -> list[FoundLink]:
    """Return the links of *document* in the order of its text."""
    return _with_notes(documents, links.outgoing([document.id]))


def links_to(documents: DocumentStore, links: LinkStore, document: Document) -> list[FoundLink]:
    """Return the links of other notes to *document*, by note."""
    return _with_notes(documents, links.incoming([document.id]))


def broken_links(documents: DocumentStore, links: LinkStore, scope: Scope = EVERYTHING) -> list[FoundLink]:
    """Return the links of the documents in *scope* that lead to no note, or to no place of their note."""
    return [link for link in _with_notes(documents, links.doubtful(scope)) if link.problem]


def _with_notes(documents: DocumentStore, links: Sequence[StoredLink]) -> list[FoundLink]:
    notes = documents.many({end for link in links for end in (link.document_id, link.target_id) if end})
    bodies = documents.bodies({link.target_id for link in links if link.target_id and link.link.part})
    return [_with_place(link, notes, bodies.get(link.target_id or 0, "")) for link in links]


def _with_place(stored: StoredLink, notes: dict[int, Document], body: str) -> FoundLink:
    link, source, target = stored.link, notes[stored.document_id], notes.get(stored.target_id or 0)
    if target is None:
        return FoundLink(link, source, None, None, "" if is_attachment(link.target) else NO_NOTE)
    if not link.part:
        return FoundLink(link, source, target)
    line = part_line(link.part, Markdown(body, target.body_line))
    kind = "block" if link.part.startswith("^") else "heading"
    return FoundLink(link, source, target, line, "" if line else f"the note has no such {kind}")
