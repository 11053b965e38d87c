"""Documents by what a person calls them; a name that could mean two is never guessed at."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from operator import attrgetter

from clawmem.app.services.documents.docids import docids
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.documents.eligibility import compile_pattern
from clawmem.domain.documents.identity import (
    check_path,
    display_path,
    is_docid,
    normalise_docid,
    parse_virtual_path,
)
from clawmem.ports.errors import Ambiguous, InvalidInput, NotFound
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

MAX_BYTES = 10_240  # of a body that is given among others
MAX_DISTANCE = 5  # edits between what was typed and what was meant
SUGGESTIONS = 5
LIST_SUGGESTIONS = 3  # a name of a list

_WITH_LINE = re.compile(r"(?P<name>.+):(?P<line>[0-9]+)", re.DOTALL)
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")
_BY_PLACE = attrgetter("collection", "path")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """
    Lines of a document. ``start_line`` and ``total_lines`` count lines of the file, front matter included.

    ``text`` keeps its line breaks; it is empty where ``start_line`` lies beyond the end.
    """

    document: Document
    docid: str
    text: str
    start_line: int
    total_lines: int
    superseded_by: Document | None = None  # the note that holds instead


@dataclass(frozen=True, slots=True)
class Missed:
    """A name that gave nothing: why, as a code and as a sentence with the way out, and what it is close to."""

    name: str
    code: str
    message: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class MultiGet:
    """Excerpts by collection and path, each document once; ``errors`` say what was left out, and why."""

    excerpts: tuple[Excerpt, ...]
    errors: tuple[Missed, ...]


class Lookup:
    """
    Served documents by docid, virtual path, end of a path, or place on disk.

    Nothing touches the disk: paths below a collection's folder are compared as text.
    """

    def __init__(self, vault: Vault, roots: Mapping[str, str], *, home: str | None = None) -> None:
        """
        Args:
            roots: The absolute folder of each collection, by its name.
            home: What ``~`` stands for; without it ``~`` is a character like any other.
        """
        self._vault = vault
        self._roots = {name: _tidy(root).rstrip("/") for name, root in roots.items()}
        self._home = home

    def find(self, name: str) -> Document:
        """
        The one document that *name* means; a ``:<line>`` at its end is passed over.

        In this order: ``#`` and hex digits, or 6 to 64 hex digits alone, are the beginning of a content
        hash; ``clawmem://c/p`` and ``//c/p`` one exact place; an absolute path or one from ``~/`` a file below
        a collection's folder; anything else is ``collection/path`` or its end, from a slash on. Bare digits
        that no hash begins with are read as a path; after ``#`` they are not.

        Raises:
            NotFound: with up to five paths that are at most five edits away; with none after ``#``.
            Ambiguous: it fits several documents, two with the same content among them.
            InvalidInput: ``INVALID_PATH``, ``PATH_TRAVERSAL`` or ``PATH_TOO_LONG``, as `check_path`;
                ``INVALID_INPUT`` for a ``#`` that no docid follows.
        """
        return self._resolve(_parse(name)[0], SUGGESTIONS)

    def get(self, name: str, *, from_line: int | None = None, max_lines: int | None = None) -> Excerpt:
        """
        Lines of the document that *name* means, all from *from_line* on unless *max_lines* ends them.

        The first line is *from_line*, else the ``:<line>`` of the name, else where the body begins. A line
        inside the front matter means the body's first; one beyond the end gives no text.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS`` when either number is below 1; else as `find`.
        """
        return self._get(name, from_line, max_lines, SUGGESTIONS)

    def multi_get(self, pattern: str, *, max_bytes: int = MAX_BYTES) -> MultiGet:
        """
        Several documents at once: a comma-separated list of names, or a glob.

        A list has a comma and neither ``*`` nor ``?``; its names are read as by `get`. A glob is matched
        against ``collection/path`` and against the path alone; one that begins with ``clawmem://`` or
        ``//`` against ``collection/path`` only, and a bare collection there is all of it. A glob that fits
        nothing is tried as a name.

        A name that cannot be resolved, or a body of more than *max_bytes* bytes of UTF-8, becomes an error
        entry and spoils nothing else.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS`` when *max_bytes* is below 1; for a glob as `check_path` and
                `compile_pattern`.
        """
        _at_least_one("max_bytes", max_bytes)
        names = _names(pattern)
        found = self._listed(names) if names else self._matching(pattern)
        excerpts = {part.document.id: part for part in reversed(found) if isinstance(part, Excerpt)}
        ordered = sorted(excerpts.values(), key=lambda part: _BY_PLACE(part.document))
        sized = [_within(part, max_bytes) for part in ordered]
        return MultiGet(
            tuple(part for part in sized if isinstance(part, Excerpt)),
            tuple(part for part in (*found, *sized) if isinstance(part, Missed)),
        )

    # -- one name -----------------------------------------------------------------------------------

    def _resolve(self, name: str, at_most: int) -> Document:
        found = self._fitting(name)
        if len(found) > 1:
            raise Ambiguous(name, self._candidates(found))
        if not found:
            raise NotFound("document", name, suggestions=self._suggestions(name, at_most))
        return found[0]

    def _fitting(self, name: str) -> list[Document]:
        if name.startswith("#"):
            return self._by_docid(name)
        if is_docid(name) and (found := self._by_docid(name)):
            return found
        places = self._places(name)
        return self._by_end(name) if places is None else [d for place in places for d in self._at(*place)]

    def _by_docid(self, name: str) -> list[Document]:
        # What an ambiguous docid is answered with, "#a1b2c3 notes/a.md", can be given back as it is.
        digits, _, place = name.partition(" ")
        found = self._vault.documents.by_hash(normalise_docid(digits))
        return [document for document in found if place in ("", document.display_path)]

    def _places(self, name: str) -> list[tuple[str, str]] | None:
        """Where *name* says exactly that a document is; ``None`` when it does not say."""
        if virtual := parse_virtual_path(name):
            return [virtual]
        path = self._expanded(name)
        if not _ABSOLUTE.match(path):
            return None
        path = _tidy(path)
        below = [(collection, f"{root}/") for collection, root in self._roots.items()]
        return [(collection, path.removeprefix(root)) for collection, root in below if path.startswith(root)]

    def _expanded(self, name: str) -> str:
        return self._home + name[1:] if self._home and name.startswith(("~/", "~\\")) else name

    def _at(self, collection: str, path: str) -> list[Document]:
        document = self._vault.documents.at(collection, path)
        return [document] if document and document.inactive is None else []

    def _by_end(self, name: str) -> list[Document]:
        path = _tidy(name)
        store = self._vault.documents
        found = store.by_suffix(path) or store.by_suffix(path.replace("\\", "/"))
        return [document for document in found if document.display_path == path] or found

    def _candidates(self, documents: Sequence[Document]) -> list[str]:
        names = docids(self._vault.documents, documents)
        return [f"#{names[document.id]} {document.display_path}" for document in documents]

    def _suggestions(self, name: str, at_most: int) -> list[str]:
        if name.startswith("#"):
            return []
        places = self._places(name)
        asked = display_path(*places[0]) if places else _tidy(name)
        return _nearest(asked, self._vault.documents.places())[:at_most]

    # -- text ---------------------------------------------------------------------------------------

    def _get(self, name: str, from_line: int | None, max_lines: int | None, at_most: int) -> Excerpt:
        bare, line = _parse(name)
        first = line if from_line is None else from_line
        _at_least_one("from_line", first)
        _at_least_one("max_lines", max_lines)
        return self._excerpt(self._resolve(bare, at_most), first, max_lines)

    def _excerpt(
        self, document: Document, from_line: int | None = None, max_lines: int | None = None
    ) -> Excerpt:
        lines = list(StringIO(self._vault.documents.body(document.id) or ""))
        before = document.body_line - 1
        start = max(from_line or 1, document.body_line)
        first = start - document.body_line
        text = "".join(lines[first : None if max_lines is None else first + max_lines])
        name = docids(self._vault.documents, [document])[document.id]
        newer = current_successors(self._vault, [document.id]).get(document.id)
        return Excerpt(document, name, text, start, before + len(lines), newer)

    # -- several ------------------------------------------------------------------------------------

    def _listed(self, names: Iterable[str]) -> list[Excerpt | Missed]:
        return [self._attempt(name) for name in names]

    def _attempt(self, name: str) -> Excerpt | Missed:
        try:
            return self._get(name, None, None, LIST_SUGGESTIONS)
        except InvalidInput as error:
            near = error.suggestions if isinstance(error, NotFound) else ()
            return Missed(name, error.code, str(error), near)

    def _matching(self, pattern: str) -> list[Excerpt | Missed]:
        check_path(pattern)
        fits = _glob(pattern)
        places = [place for place in self._vault.documents.places() if fits(*place)]
        found = [self._excerpt(document) for place in places for document in self._at(*place)]
        return [*found] or self._listed([pattern])


def _parse(name: str) -> tuple[str, int | None]:
    """*name* without the line at its end, and that line; refused when it is no path at all."""
    check_path(name)
    match = _WITH_LINE.fullmatch(name)
    return (match["name"], int(match["line"])) if match else (name, None)


def _at_least_one(what: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise InvalidInput("OUT_OF_BOUNDS", f"{what} is {number}; it counts from 1.")


def _slashed(path: str) -> str:
    """An absolute path of Windows with forward slashes; elsewhere a backslash is part of a name."""
    return path if path.startswith("/") else path.replace("\\", "/")


def _tidy(path: str) -> str:
    """*path* without repeated slashes and without ``.`` segments."""
    root = "/" if path.startswith("/") else ""
    path = _slashed(path) if _ABSOLUTE.match(path) else path
    return root + "/".join(part for part in path.split("/") if part not in ("", "."))


def _nearest(name: str, places: Sequence[tuple[str, str]]) -> list[str]:
    """Where a path, with or without its collection, is a few edits from *name*; nearest first."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    shown = [display_path(*place) for place in places]
    paths = [path.lower() for path in (*shown, *(path for _, path in places))]
    near = process.extract(
        name.lower(), paths, scorer=Levenshtein.distance, score_cutoff=MAX_DISTANCE, limit=None
    )
    ranked = sorted((distance, at % len(shown)) for _, distance, at in near)
    return list(dict.fromkeys(shown[at] for _, at in ranked))


def _names(pattern: str) -> list[str]:
    """The names of a list; none when *pattern* is a glob."""
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


def _within(part: Excerpt, max_bytes: int) -> Excerpt | Missed:
    size = len(part.text.encode("utf-8", "surrogatepass"))
    if size <= max_bytes:
        return part
    name = part.document.display_path
    message = (
        f"{name} has {_kb(math.ceil, size)} KB, more than the {_kb(math.floor, max_bytes)} KB that are given "
        f'of one among several. Read it with: clawmem get "{name}"  (or raise --max-bytes.)'
    )
    return Missed(name, "TOO_LARGE", message)


def _kb(rounded: Callable[[float], int], size: int) -> float:
    """In steps of a tenth. What is too large rounds up and the limit down, so that they never look equal."""
    return rounded(size * 10 / 1024) / 10
