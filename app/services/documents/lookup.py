"""Documents by address, their lines, and several of them at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from io import StringIO

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.documents.references import is_near_name
from clawmem.app.services.documents.resolver import PLACE, SUGGESTIONS, AddressResolver
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.documents.eligibility import compile_pattern
from clawmem.domain.documents.identity import check_path, display_path, parse_virtual_path
from clawmem.domain.security.quoting import shown_title
from clawmem.ports.errors import InvalidInput, NotFound, NotServed
from clawmem.ports.records import Candidate, Document, InactiveReason
from clawmem.ports.vault import Vault

TOO_LARGE = "TOO_LARGE"  # error code of a document that exceeds the size limit
MAX_BYTES = 10_240  # default size limit of bodies in `Lookup.multi_get`
LIST_SUGGESTIONS = 3  # suggestions per name in a list


@dataclass(frozen=True, slots=True)
class Excerpt:
    """
    Lines of a document. ``start_line`` and ``total_lines`` count lines of the file, front matter included.

    ``text`` keeps its line breaks.
    """

    document: Document
    docid: str
    text: str
    start_line: int
    total_lines: int
    superseded_by: Document | None = None  # the current note that replaces it
    moved_from: str = ""  # the former path by which it was named


@dataclass(frozen=True, slots=True)
class LookupFailure:
    """A name without a document: error code, message with the remedy, and similar names."""

    name: str
    code: str
    message: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class MultiGet:
    """Excerpts by collection and path, each document once; ``errors`` are the names and documents left out."""

    excerpts: tuple[Excerpt, ...]
    errors: tuple[LookupFailure, ...]


class Lookup:
    """Served documents by address (see `AddressResolver`), and their text."""

    def __init__(self, vault: Vault, roots: Mapping[str, str], *, home: str | None = None) -> None:
        """
        Args:
            roots: The absolute folder of each collection, by its name.
            home: The folder to replace ``~`` with; without it ``~`` is an ordinary character.
        """
        self._vault = vault
        self._resolver = AddressResolver(vault, roots, home)

    def find(self, address: str) -> Document:
        """
        Return the one served document that *address* names, for reading; line numbers at its end are passed over.

        Raises:
            InvalidInput: as `AddressResolver.resolve`.
        """
        return self._resolver.resolve(address).document

    def target(self, address: str) -> Document:
        """
        Return the one served document that *address* names, for a command that changes it.

        The end of a path that also fits a forgotten document is ambiguous.

        Raises:
            InvalidInput: as `AddressResolver.resolve`, and ``OUT_OF_BOUNDS`` for a line beyond the end of the
                document; nothing may be changed then.
        """
        document, reading, _ = self._resolver.resolve(address, to_change=True)
        if reading.lines is not None:
            self._check_line(document, reading.lines.first)
        return document

    def forgettable(self, address: str) -> Document:
        """
        Return the document as `target` does; one whose file was removed, and not moved, can be forgotten as well.

        Raises:
            NotFound: with candidates only if their names are similar to *address*. The intended note may be forgotten
                already, so other documents that merely share words must not be offered.
        """
        try:
            return self.target(address)
        except NotServed as error:
            if error.document.inactive is not InactiveReason.REMOVED or error.candidates:
                raise  # of a file that was moved, the note at its new place has to be named
            return error.document
        except NotFound as error:
            offered = (one for one in error.candidates if isinstance(one, Candidate))
            near = [one for one in offered if is_near_name(address, one)]
            raise NotFound("document", address, candidates=near, remark=self._forgotten_remark()) from error

    def _forgotten_remark(self) -> str:
        away = self._vault.documents.latest(active=False)
        known = any(one.inactive is InactiveReason.FORGOTTEN for one in away)
        return "It may be forgotten already: of a forgotten note only the path is known." if known else ""

    def archived(self, address: str) -> Document:
        """
        Return the archived document that *address* names, to restore it.

        Raises:
            InvalidInput: ``NOT_ARCHIVED`` for a document that is served; else as `target`.
        """
        try:
            served = self.target(address)
        except NotServed as error:
            if error.document.inactive is not InactiveReason.ARCHIVED:
                raise
            return error.document
        raise InvalidInput(
            "NOT_ARCHIVED",
            f"{served.display_path} ({shown_title(served)}) is served; there is nothing to restore.",
        )

    def get(self, address: str, *, from_line: int | None = None, max_lines: int | None = None) -> Excerpt:
        """
        Return lines of the document that *address* names.

        The first line is *from_line*, else the first of ``:13`` or ``:13-34`` at the end of the address, else where
        the body begins. The last line is set by *max_lines*, else by the range, else the body's last. A line inside
        the front matter means the body's first.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS`` for a number below 1 or beyond the last line, or a range that runs
                backwards; else as `find`.
        """
        return self._get(address, from_line, max_lines, SUGGESTIONS)

    def multi_get(self, pattern: str, *, max_bytes: int = MAX_BYTES) -> MultiGet:
        """
        Return several documents at once, named by a comma-separated list of addresses, or by a glob.

        A list contains a comma and neither ``*`` nor ``?``; its addresses are read as by `get`. A glob is matched
        against ``collection/path`` and against the path alone; one that begins with ``clawmem://`` or ``//`` against
        ``collection/path`` only, where a bare collection means all of it. A glob without matches is tried as an address.

        An address that cannot be resolved, or a body of more than *max_bytes* bytes of UTF-8, becomes an error entry;
        the other documents are returned.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS`` when *max_bytes* is below 1; for a glob as `check_path` and
                `compile_pattern`.
        """
        _at_least_one("max_bytes", max_bytes)
        names = _names(pattern)
        found = self._listed(names) if names else self._matching(pattern)
        excerpts = {part.document.id: part for part in reversed(found) if isinstance(part, Excerpt)}
        ordered = sorted(excerpts.values(), key=lambda part: PLACE(part.document))
        sized = [_within(part, max_bytes) for part in ordered]
        return MultiGet(
            tuple(part for part in sized if isinstance(part, Excerpt)),
            tuple(part for part in (*found, *sized) if isinstance(part, LookupFailure)),
        )

    # -- text ---------------------------------------------------------------------------------------

    def _get(self, name: str, from_line: int | None, max_lines: int | None, suggestions: int) -> Excerpt:
        document, address, moved_from = self._resolver.resolve(name, suggestions)
        lines = address.lines
        first = from_line if from_line is not None or lines is None else lines.first
        _at_least_one("from_line", first)
        _at_least_one("max_lines", max_lines)
        if lines and lines.last is not None and max_lines is None and from_line is None:
            max_lines = _length(lines.first, lines.last, document.body_line)
        excerpt = self._excerpt(document, first, max_lines)
        if first is not None and first > max(excerpt.total_lines, 1):
            raise _beyond_end(excerpt, first)
        return replace(excerpt, moved_from=moved_from)

    def _excerpt(
        self, document: Document, from_line: int | None = None, max_lines: int | None = None
    ) -> Excerpt:
        lines = list(StringIO(self._vault.documents.body(document.id) or ""))
        before = document.body_line - 1
        start = max(from_line or 1, document.body_line)
        first = start - document.body_line
        text = "".join(lines[first : None if max_lines is None else first + max_lines])
        name = docids(self._vault.documents, [document])[document.id]
        newer = current_successors(self._vault.documents, self._vault.successions, [document.id]).get(
            document.id
        )
        return Excerpt(document, name, text, start, before + len(lines), newer)

    def _check_line(self, document: Document, line: int) -> None:
        body = self._vault.documents.body(document.id) or ""
        total = document.body_line - 1 + len(list(StringIO(body)))
        if line > max(total, 1):
            raise InvalidInput(
                "OUT_OF_BOUNDS",
                f"{document.display_path} has {total} lines, no line {line}. Nothing was changed; name the note again.",
            )

    # -- several ------------------------------------------------------------------------------------

    def _listed(self, names: Iterable[str]) -> list[Excerpt | LookupFailure]:
        return [self._attempt(name) for name in names]

    def _attempt(self, name: str) -> Excerpt | LookupFailure:
        try:
            return self._get(name, None, None, LIST_SUGGESTIONS)
        except InvalidInput as error:
            near = error.suggestions if isinstance(error, NotFound) else ()
            return LookupFailure(name, error.code, str(error), near)

    def _matching(self, pattern: str) -> list[Excerpt | LookupFailure]:
        check_path(pattern)
        fits = _glob(pattern)
        places = [place for place in self._vault.documents.places() if fits(*place)]
        documents = (self._vault.documents.at(*place) for place in places)
        found = [self._excerpt(document) for document in documents if document is not None]
        return [*found] or self._listed([pattern])


def _at_least_one(what: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise InvalidInput("OUT_OF_BOUNDS", f"{what} is {number}; it counts from 1.")


def _beyond_end(excerpt: Excerpt, line: int) -> InvalidInput:
    count = excerpt.total_lines
    lines = "1 line" if count == 1 else f"{count} lines"
    return InvalidInput(
        "OUT_OF_BOUNDS",
        f"There is no line {line} in {excerpt.document.display_path}: the note has {lines}. Give a line from 1 to "
        f"{max(count, 1)}.",
    )


def _length(first: int, last: int, body_line: int) -> int:
    """Return the number of lines from *first* to *last*, without lines above the body."""
    if last < first:
        raise InvalidInput(
            "OUT_OF_BOUNDS", f"The lines {first}-{last} run backwards. Give them as {last}-{first}."
        )
    return max(last - max(first, body_line) + 1, 1)


def _names(pattern: str) -> list[str]:
    """Return the names of a list; none if *pattern* is a glob."""
    is_list = "," in pattern and not re.search(r"[*?]", pattern)
    return [name for name in map(str.strip, pattern.split(",")) if name] if is_list else []


def _glob(pattern: str) -> Callable[[str, str], bool]:
    virtual = parse_virtual_path(pattern)
    if virtual:
        collection, path = virtual
        fits = compile_pattern(display_path(collection, path or "**"))
        return lambda collection, path: fits(display_path(collection, path))
    fits = compile_pattern(pattern)
    return lambda collection, path: fits(display_path(collection, path)) or fits(path)


def _within(part: Excerpt, max_bytes: int) -> Excerpt | LookupFailure:
    size = len(part.text.encode("utf-8", "surrogatepass"))
    if size <= max_bytes:
        return part
    name = part.document.display_path
    message = (
        f"{name} has {_kb(math.ceil, size)} KB, more than the {_kb(math.floor, max_bytes)} KB that are given "
        f'of one among several. Read it with: clawmem get "{name}"  (or raise --max-bytes.)'
    )
    return LookupFailure(name, TOO_LARGE, message)


def _kb(rounded: Callable[[float], int], size: int) -> float:
    """Return kilobytes in tenths. Sizes are rounded up and limits down, so that they differ in messages."""
    return rounded(size * 10 / 1024) / 10
