"""The resolver of addresses: it returns the one document that an address names, or raises with candidates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.documents.references import CandidateSearch, candidates_of
from clawmem.app.services.documents.succession import moved_documents
from clawmem.domain.documents.address import Address, is_place_end, name_matcher, read_address, unicode_forms
from clawmem.domain.documents.identity import DOCID_LENGTH, normalise_docid, parse_virtual_path
from clawmem.domain.documents.names import file_name
from clawmem.domain.documents.tokens import words
from clawmem.domain.security.origin import verified_if_any
from clawmem.domain.security.quoting import shown_title
from clawmem.ports.errors import Ambiguous, NotFound, NotServed
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault

SUGGESTIONS = 5
PLACE = attrgetter("collection", "path")
DATE = re.compile(r"\A\d{4}-\d\d-\d\d[-_ ]+")  # date prefix, common in file names and rare in titles
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")
_REMEDIES = {
    InactiveReason.FORGOTTEN: "Its text is gone and its file is not read again. To index a new text, save it under "
    "another name.",
    InactiveReason.ARCHIVED: 'Restore it first: clawmem lifecycle restore "{file}"',
    InactiveReason.SUPERSEDED: "Name the note that took its place: {successors}.",
    InactiveReason.REMOVED: 'Its file is gone, or is not read any more. Find out with: clawmem why-not "{file}"',
}
_NO_SUCCESSOR = "No note is served in its place."
_MOVED = "Its file was moved. Name the note by its new path: {successors}."


class Resolution(NamedTuple):
    """A served document, the reading of the address that named it, and the former path if the address is one."""

    document: Document
    address: Address
    moved_from: str = ""


class AddressResolver:
    """
    Finds documents by address: exact matches only, and one rule for every interface.

    The first rule with any match decides: a complete place (``collection/path``, virtual or absolute path) or a
    ``#docid``; the end of a path, or bare hex digits; a title, alias or file name. Several matches are ambiguous, but ends of paths and names of documents of the user and of assistants go before those
    of others.
    Files are not accessed: paths below a collection's folder are compared as text.
    """

    def __init__(self, vault: Vault, roots: Mapping[str, str], home: str | None = None) -> None:
        self._vault = vault
        self._roots = {name: tidy_path(root).rstrip("/") for name, root in roots.items()}
        self._home = home

    def resolve(self, text: str, suggestions: int = SUGGESTIONS, *, to_change: bool = False) -> Resolution:
        """
        Return the served document that *text* names. The former path of a moved document names it for reading.

        Args:
            suggestions: The number of candidates that an error may name.
            to_change: Let a forgotten document count as a match too, so that repeating a command with the end of
                a path never reaches another document with the same file name.

        Raises:
            NotFound: with candidates; without any for a ``#docid``. NotServed: the document is no longer served.
            Ambiguous: several documents match; documents with the same content count separately.
            InvalidInput: as `read_address`; ``INVALID_INPUT`` for a ``#`` followed by neither a docid nor a title.
        """
        readings = read_address(text)  # the most literal first
        for find in (self._by_place, self._by_end, self._by_end_of_gone):
            for address in readings:
                if found := find(address, to_change):
                    return self._only(text, found, address, to_change)
        for address, called in zip(readings, self._called(readings), strict=True):
            if found := self._by_name(address, to_change, called):
                return self._only(text, found, address, to_change)
        for address in readings:
            if found := self._by_words_of_forgotten(address):
                return self._only(text, found, address, to_change)
        if text.strip().startswith("#"):
            normalise_docid(text.strip().partition(" ")[0])
            raise NotFound("document", text)
        near = CandidateSearch(self._vault.documents, self._vault.lexical)(
            text, self._asked_place(text), suggestions
        )
        raise NotFound("document", text, candidates=candidates_of(self._vault.documents, near))

    def _only(self, text: str, found: Sequence[Document], address: Address, to_change: bool) -> Resolution:
        if len(found) > 1:
            raise Ambiguous(text, candidates_of(self._vault.documents, sorted(found, key=PLACE)))
        [document] = found
        if document.inactive is None:
            return Resolution(document, address)
        moved = moved_documents(self._vault.documents, document)
        if len(moved) == 1 and not to_change:
            return Resolution(moved[0], address, document.display_path)
        raise self._not_served(document, document.inactive, moved)

    def _not_served(self, document: Document, reason: InactiveReason, moved: Sequence[Document]) -> NotServed:
        successors = candidates_of(self._vault.documents, moved or self._successors(document))
        if moved:
            remedy = _MOVED.format(successors="; ".join(map(str, successors)))
            return NotServed(document, shown_title(document), remedy, successors)
        if reason is InactiveReason.SUPERSEDED and not successors:
            return NotServed(document, shown_title(document), _NO_SUCCESSOR)
        named = "; ".join(map(str, successors))
        remedy = _REMEDIES[reason].format(file=document.display_path, successors=named)
        return NotServed(document, shown_title(document), remedy, successors)

    def _successors(self, document: Document) -> list[Document]:
        """Return the served documents that replaced *document*, over any number of steps."""
        found: dict[int, Document] = {}
        waiting, seen = [document.id], {document.id}
        while waiting:
            number = waiting.pop()
            standing = self._vault.journal.replacements(number)
            newer = {one.document_id for one in standing if number in one.replaced} - seen
            seen |= newer
            for successor in self._vault.documents.many(newer).values():
                if successor.inactive is None:
                    found[successor.id] = successor
                else:
                    waiting.append(successor.id)
        return list(found.values())

    # -- rules --------------------------------------------------------------------------------------

    def _by_place(self, address: Address, to_change: bool) -> list[Document]:
        """Return the document at a complete place, served or not, or the documents of a ``#docid``."""
        if address.name.startswith("#"):
            return self._by_docid(address)
        places = self._places(address)
        if places is not None:
            return self._at(places)
        return self._at([_parted(tidy_path(path)) for path in address.paths])

    def _at(self, places: Iterable[tuple[str, str]]) -> list[Document]:
        found: dict[int, Document] = {}
        for collection, path in places:
            forms = product(unicode_forms(collection), unicode_forms(path))
            at = (self._vault.documents.at(*form) for form in forms)
            if document := next(filter(None, at), None):
                found[document.id] = document
        return list(found.values())

    def _places(self, address: Address) -> list[tuple[str, str]] | None:
        """Return the places that *address* states in full; ``None`` when it does not."""
        if virtual := parse_virtual_path(address.name):
            return [virtual]
        path = self._expanded(address.name)
        if not _ABSOLUTE.match(path):
            return None
        path = tidy_path(path)
        below = [(collection, f"{root}/") for collection, root in self._roots.items()]
        return [(collection, path.removeprefix(root)) for collection, root in below if path.startswith(root)]

    def _expanded(self, name: str) -> str:
        return self._home + name[1:] if self._home and name.startswith(("~/", "~\\")) else name

    def _by_end(self, address: Address, to_change: bool) -> list[Document]:
        """Return the served documents whose path ends with the address; for hex digits also by docid or name."""
        ending = next(filter(None, map(self._vault.documents.by_suffix, _ends(address))), [])
        found = verified_if_any(ending)
        if address.docid:
            [served] = self._called([address])
            called = self._by_name(address, to_change, served)
            found = [*verified_if_any([*ending, *called]), *self._by_docid(address)]
        elif found and to_change:
            gone = self._by_end_of_gone(address, to_change)
            found = [*found, *(one for one in gone if one.inactive is InactiveReason.FORGOTTEN)]
        return list({one.id: one for one in found}.values())

    def _by_end_of_gone(self, address: Address, to_change: bool) -> list[Document]:
        ends = _ends(address)
        return self._inactive(lambda one: any(is_place_end(one, path) for path in ends))

    def _called(self, addresses: Sequence[Address]) -> list[list[Document]]:
        """Return the served documents with the title, file name or alias of each address; every document is read once."""
        found: list[list[Document]] = [[] for _ in addresses]
        matchers = [*map(name_matcher, addresses)]
        for one in every_served(self._vault.documents):
            for called, is_called in zip(found, matchers, strict=True):
                if is_called(one):
                    called.append(one)
        return found

    def _by_name(self, address: Address, to_change: bool, called: Sequence[Document]) -> list[Document]:
        """Return the documents with this title, file name or alias; the served ones, *called*, come first."""
        served = verified_if_any([*called])
        if served and not to_change:
            return served
        gone = self._inactive(name_matcher(address))
        return served + [one for one in gone if not served or one.inactive is InactiveReason.FORGOTTEN]

    def _by_words_of_forgotten(self, address: Address) -> list[Document]:
        """Return the forgotten documents whose file name has the words of *address*, as their titles are erased."""
        asked = words(address.name)
        return self._inactive(
            lambda one: (
                bool(asked)
                and one.inactive is InactiveReason.FORGOTTEN
                and words(DATE.sub("", file_name(one.path))) == asked
            )
        )

    def _by_docid(self, address: Address) -> list[Document]:
        """Return the documents of a docid, or of ``#docid place``, the format in which candidates are printed."""
        if not address.docid:
            return []
        digits, place = normalise_docid(address.docid), address.name.partition(" ")[2].strip()
        if place and (stated := [one for one in self._at([_parted(place)]) if _has_hash(one, digits)]):
            return stated
        return [
            one
            for one in self._vault.documents.by_hash(digits)
            or self._inactive(lambda one: _begins(one, digits))
            or self._forgotten(digits)
            if not place or place in _printed(one)
        ]

    def _forgotten(self, digits: str) -> list[Document]:
        """Return the forgotten documents that had this docid, which only the log of lifecycle acts records."""
        had = digits[:DOCID_LENGTH]
        return self._inactive(
            lambda one: (
                one.inactive is InactiveReason.FORGOTTEN
                and any(act.before == had for act in self._vault.acts.latest(1, one.id))
            )
        )

    def _inactive(self, fits: Callable[[Document], bool]) -> list[Document]:
        return [one for one in self._vault.documents.latest(active=False) if fits(one)]

    def _asked_place(self, text: str) -> str:
        """Return *text* as the path that paths are compared with for suggestions."""
        address = read_address(text)[-1]
        places = self._places(address)
        return "/".join(filter(None, places[0])) if places else tidy_path(address.name)


def tidy_path(path: str) -> str:
    """Return *path* without repeated slashes and without ``.`` segments."""
    root = "/" if path.startswith("/") else ""
    path = _slashed(path) if _ABSOLUTE.match(path) else path
    return root + "/".join(part for part in path.split("/") if part not in ("", "."))


def _slashed(path: str) -> str:
    """Return an absolute path of Windows with forward slashes; elsewhere a backslash is part of a name."""
    return path if path.startswith("/") else path.replace("\\", "/")


def _ends(address: Address) -> list[str]:
    """Return the ends of a path that *address* may be, in the spellings that file systems use."""
    paths = [form for path in address.paths for form in unicode_forms(tidy_path(path))]
    return paths + [path.replace("\\", "/") for path in paths if "\\" in path]


def _parted(path: str) -> tuple[str, str]:
    collection, _, rest = path.partition("/")
    return collection, rest


def _printed(document: Document) -> tuple[str, ...]:
    """Return the ways in which candidates and lists print *document* behind its docid."""
    path = document.display_path
    return path, f"{path} ({document.title})", f"{path} ({shown_title(document)})"


def _begins(document: Document, digits: str) -> bool:
    """Whether a document that is not served has this docid; a forgotten one has none."""
    return document.inactive is not InactiveReason.FORGOTTEN and document.hash.startswith(digits)


def _has_hash(document: Document, digits: str) -> bool:
    """Whether a document has this docid, or had it before it was forgotten."""
    return document.inactive is InactiveReason.FORGOTTEN or document.hash.startswith(digits)
