"""Documents by address, their lines, and several of them at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import chain, product, starmap
from operator import attrgetter
from unicodedata import normalize

from rapidfuzz import fuzz, process
from rapidfuzz.utils import default_process

from clawmem.app.services.documents.listing import candidates_of, docids, every_served
from clawmem.app.services.documents.references import with_blocks
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.documents import identity
from clawmem.domain.documents.eligibility import compile_pattern
from clawmem.domain.documents.links import part_line
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import (
    Address,
    document_names,
    file_name,
    is_called,
    read_address,
    unicode_forms,
)
from clawmem.domain.security.origin import verified_if_any
from clawmem.domain.security.quoting import shown_title
from clawmem.domain.text.words import fold
from clawmem.domain.text.written_dates import day_in, day_named
from clawmem.ports.documents import DocumentStore, LinkStore, NameKind, SuccessionStore
from clawmem.ports.errors import Ambiguous, InvalidInput, NotFound, NotServed
from clawmem.ports.journal import ActJournal, Journal
from clawmem.ports.records import Document, InactiveReason

SUGGESTIONS = 5
LEAST_LIKENESS = 60  # of 100, of a name to the text that may mean it
LIST_SUGGESTIONS = 3  # suggestions per name in a list
FAILURES_WITH_SUGGESTIONS = 10  # of a list; each suggestion compares the names of all documents
MOST_NAMES = 200  # of a list; each missing one is compared with the names of all documents
TOO_LARGE = "TOO_LARGE"  # error code of a document that exceeds the size limit
MAX_BYTES = 10_240  # default size limit of bodies in `Lookup.multi_get`
PLACE = attrgetter("collection", "path")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")
_REMEDIES = {
    InactiveReason.FORGOTTEN: "Its text is gone and its file is not read again. To index a new text, save it under "
    "another name.",
    InactiveReason.ARCHIVED: 'Restore it first: clawmem restore "{file}"',
    InactiveReason.SUPERSEDED: "Name the note that took its place: {successors}.",
    InactiveReason.REMOVED: 'Its file is gone, or is not read any more. Find out with: clawmem doctor "{file}"',
}


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
class Lookup:
    """
    Served documents by address, and their text: exact matches only, and one rule for every interface.

    The first rule with any match decides: a complete place (``collection/path``, virtual or absolute path) or a
    ``#docid``; the end of a path, or bare hex digits; a title, alias or file name. Several matches are ambiguous, but
    ends of paths and names of documents of the user and of assistants go before those of others. A document that is no
    longer served matches where no served one does. Files are not accessed: paths below a collection's folder are
    compared as text.

    Args:
        roots: The absolute folder of each collection, by its name.
    """

    documents: DocumentStore
    successions: SuccessionStore
    links: LinkStore
    journal: Journal
    acts: ActJournal
    roots: Mapping[str, str]

    def resolve(
        self, text: str, suggestions: int = SUGGESTIONS, collections: Collection[str] = ()
    ) -> tuple[Document, Address]:
        """
        Return the served document that *text* names, and the reading of the address that named it.

        Args:
            suggestions: The number of candidates that an error may name.
            collections: Of several documents that match, those of these collections are meant.

        Raises:
            NotFound: with candidates; without any for a ``#docid``. NotServed: the document is no longer served.
            Ambiguous: several documents match; documents with the same content count separately.
            InvalidInput: as `read_address`; ``INVALID_INPUT`` for a ``#`` followed by neither a docid nor a title.
        """
        block = text.strip("() \n").lower()  # ((id)) of Logseq
        named = self.links.named([block]).get(block, ())
        if holders := [note.document_id for note in named if note.kind is NameKind.BLOCK]:
            found = self.documents.many(holders)
            return self._only(text, [*found.values()]), Address(block, part=f"^{block}")
        readings = read_address(text)  # the most literal first
        name = readings[0].name
        as_typed = [Address(text)] if text != text.strip() else []  # a file name may begin with a blank
        linked = read_address(f"[[{name}]]") if "#" in name[1:] else ()  # note#heading
        rules = (self._by_place, self._by_end, self._gone_with_end, self._by_name)
        for rule, address in chain(product(rules, (*as_typed, *readings)), product(rules, linked)):
            if documents := rule(address):
                preferred = [document for document in documents if document.collection in collections]
                return self._only(text, preferred or documents), address
        if text.strip().startswith("#"):
            if not identity.docid_digits(docid := text.strip().partition(" ")[0]):
                message = f"{docid[:80]!r} is not a docid. Give 6 to 64 hex digits, such as #a1b2c3."
                raise InvalidInput("INVALID_INPUT", message)
            raise NotFound("document", text)
        served = {document.id: document for document in self.documents.latest()} if suggestions else {}
        if day_in(day := day_named(readings[-1].name)) == day:
            of_day = [note for note in served.values() if day in map(day_in, document_names(note))]
            candidates = candidates_of(self.documents, of_day[:suggestions])
            remark = f'No note is the journal of {day}. To search for the day, run: clawmem query "{day}"'
            raise NotFound("document", text, candidates=candidates, remark=remark)
        names = [
            (name, document.id)
            for document in served.values()
            for name in (document.display_path, *document_names(document))
        ]
        similar = process.extract(
            readings[-1].name,
            [name for name, _ in names],
            scorer=fuzz.token_set_ratio,
            processor=lambda text: default_process(fold(text)),
            score_cutoff=LEAST_LIKENESS,
            limit=None,
        )
        numbers = dict.fromkeys(names[place][1] for _, _, place in similar)
        near = [served[number] for number in numbers][:suggestions]
        raise NotFound("document", text, candidates=candidates_of(self.documents, near))

    def _only(self, text: str, documents: Sequence[Document]) -> Document:
        if len(documents) > 1:
            raise Ambiguous(text, candidates_of(self.documents, sorted(documents, key=PLACE)))
        [document] = documents
        reason = document.inactive
        if reason is None:
            return document
        # The served documents that replaced it, over any number of steps.
        served: dict[int, Document] = {}
        waiting, seen = [document.id], {document.id}
        while waiting:
            number = waiting.pop()
            replacements = self.journal.replacements(number)
            newer = {entry.document_id for entry in replacements if number in entry.replaced} - seen
            seen |= newer
            for successor in self.documents.many(newer).values():
                if successor.inactive is None:
                    served[successor.id] = successor
                else:
                    waiting.append(successor.id)
        successors, remedy = candidates_of(self.documents, [*served.values()]), _REMEDIES[reason]
        if reason is InactiveReason.SUPERSEDED and not successors:
            remedy = "No note is served in its place."
        remedy = remedy.format(file=document.display_path, successors="; ".join(map(str, successors)))
        name = (
            text.strip() if reason is InactiveReason.FORGOTTEN and identity.docid_digits(text.strip()) else ""
        )
        raise NotServed(document, shown_title(document), remedy, successors, name)

    def _by_place(self, address: Address) -> list[Document]:
        """Return the document at a complete place, served or not, or the documents of a ``#docid``."""
        if address.name.startswith("#"):
            return self._by_docid(address)
        if virtual := identity.parse_virtual_path(address.name):
            places = [virtual]
        elif _ABSOLUTE.match(address.name):
            path = tidy_path(address.name)
            roots = [(name, f"{tidy_path(root).rstrip('/')}/") for name, root in self.roots.items()]
            places = [(name, path.removeprefix(root)) for name, root in roots if path.startswith(root)]
        else:
            parts = [tidy_path(path).partition("/") for path in address.paths]
            places = [(collection, path) for collection, _, path in parts]
        forms = [[*product(unicode_forms(collection), unicode_forms(path))] for collection, path in places]
        documents = [next(filter(None, starmap(self.documents.at, form)), None) for form in forms]
        return [*{document.id: document for document in documents if document}.values()]

    def _by_end(self, address: Address) -> list[Document]:
        """Return the served documents whose path ends with the address; for hex digits also by docid or name."""
        ending = next(filter(None, map(self.documents.by_suffix, _ends(address))), [])
        documents = verified_if_any(ending)
        if address.docid:
            documents = verified_if_any([*ending, *self._by_name(address)])
            documents += self._by_docid(address)
        return list({document.id: document for document in documents}.values())

    def _gone_with_end(self, address: Address) -> list[Document]:
        ends = tuple(normalize("NFC", f"/{path}") for path in _ends(address) if path)
        return self._inactive(lambda note: normalize("NFC", f"/{note.display_path}").endswith(ends))

    def _by_name(self, address: Address) -> list[Document]:
        """Return the documents with this file name, else this title or alias, exact case first: the served ones, else others."""
        is_named = partial(is_called, address)
        served = verified_if_any([*filter(is_named, every_served(self.documents))])
        forms: tuple[Callable[[str], str], ...] = (str, str.casefold)
        for is_file, form in product((True, False), forms):
            names = {*unicode_forms(form(address.name))}
            called = ((note, (file_name(note.path),) if is_file else document_names(note)) for note in served)
            if notes := [note for note, given in called if not names.isdisjoint(map(form, given))]:
                return notes
        return served or self._inactive(is_named)

    def _by_docid(self, address: Address) -> list[Document]:
        """
        Return the documents of a docid, or of ``#docid place``, the format in which candidates are printed.

        The docid of a forgotten document is recorded only in the log of lifecycle acts.
        """
        if not address.docid:
            return []
        digits, place = address.docid, address.name.partition(" ")[2].strip()
        documents = self.documents.by_docid(digits)
        for note in () if documents else self.documents.latest(active=False):
            acts = self.acts.latest(1, note.id) if note.inactive is InactiveReason.FORGOTTEN else ()
            recorded = [act.before for act in acts]
            if note.first_hash.startswith(digits) or digits[: identity.DOCID_LENGTH] in recorded:
                documents.append(note)
        return [document for document in documents if place.startswith(document.display_path) or not place]

    def _inactive(self, fits: Callable[[Document], bool]) -> list[Document]:
        return [document for document in self.documents.latest(active=False) if fits(document)]

    def find(self, address: str, collections: Collection[str] = ()) -> Document:
        """
        Return the one served document that *address* names, as `resolve` does; line numbers at its end are passed over.

        Raises:
            InvalidInput: as `resolve`.
        """
        return self.resolve(address, collections=collections)[0]

    def forgettable(self, address: str) -> Document:
        """
        Return the document as `find` does; one whose file was removed, or that was forgotten before, as well.

        Raises:
            Ambiguous: a name or the end of a path also fits a forgotten note, which a repeated command may mean.
            NotFound: with candidates; the intended note may be forgotten already.
        """
        try:
            document, reading = self.resolve(address)
            if not self._by_place(reading):
                gone = [*self._gone_with_end(reading), *self._inactive(partial(is_called, reading))]
                forgotten = [note for note in gone if note.inactive is InactiveReason.FORGOTTEN]
                self._only(address, [document, *forgotten[:1]])
            return document
        except NotServed as error:
            if error.document.inactive not in (InactiveReason.REMOVED, InactiveReason.FORGOTTEN):
                raise
            return error.document
        except NotFound as error:
            remark = "If it is forgotten already, only its path is known."
            raise NotFound("document", address, candidates=error.candidates, remark=remark) from error

    def get(
        self,
        address: str,
        *,
        from_line: int | None = None,
        max_lines: int | None = None,
        suggestions: int = SUGGESTIONS,
    ) -> Excerpt:
        """
        Return lines of the document that *address* names.

        The first line is *from_line*, else the first of ``:13`` or ``:13-34`` at the end of the address, else where
        the body begins. The last line is set by *max_lines*, else by the range, the section or the block, else the body's
        last. A line inside the front matter means the body's first.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS`` for a number below 1 or beyond the last line; else as `find`.
        """
        document, reading = self.resolve(address, suggestions)
        lines = reading.lines
        first = from_line if from_line is not None or lines is None else lines[0]
        if lines and (lines[1] or lines[0]) < lines[0]:
            raise InvalidInput("OUT_OF_BOUNDS", f"{address} ends before it begins. Exchange the lines.")
        if first is None and reading.part:
            note = Markdown(self.documents.body(document.id) or "", document.body_line)
            if (first := part_line(reading.part, note)) is None:
                raise NotFound("heading or block", reading.part)
            if max_lines is None:
                first, last = note.block_lines(first)
                max_lines = last - first + 1
        if lines and lines[1] is not None and max_lines is None and from_line is None:
            max_lines = max(lines[1] - max(lines[0], document.body_line) + 1, 1)
        excerpt = self._excerpt(document, first, max_lines)
        count = max(excerpt.total_lines, 1)
        if first is not None and not 1 <= first <= count:
            reason = f"There is no line {first} in {document.display_path}. Give a line from 1 to {count}."
            raise InvalidInput("OUT_OF_BOUNDS", reason)
        return excerpt

    def multi_get(
        self, pattern: str | Sequence[str], *, max_bytes: int = MAX_BYTES
    ) -> tuple[list[Excerpt], list[LookupFailure]]:
        """
        Return several documents by collection and path, and the names and documents that were left out.

        They are named by a glob, a comma-separated list of addresses, or a list of both.

        A list contains a comma and neither ``*`` nor ``?``; its addresses are read as by `get`. A glob is matched
        against ``collection/path`` and against the path alone; one that begins with ``clawmem://`` or ``//`` against
        ``collection/path`` only, where a bare collection means all of it. A glob without matches is tried as an address.

        An address that cannot be resolved, or a body of more than *max_bytes* bytes of UTF-8, becomes an error entry;
        the other documents are returned.

        Raises:
            InvalidInput: for a glob, as `check_path` and `compile_pattern`; ``OUT_OF_BOUNDS`` for too many names.
        """
        texts = [pattern] if isinstance(pattern, str) else [name.rstrip(", ") or name for name in pattern]
        if isinstance(pattern, str) and "," in pattern and not re.search(r"[*?]", pattern):
            texts = [*filter(None, map(str.strip, pattern.split(",")))] or texts
        names, failures = dict.fromkeys(texts), 0
        if len(names) > MOST_NAMES:
            reason = f"These are {len(names):,} names; {MOST_NAMES:,} are the most. Use a glob, or ask several times."
            raise InvalidInput("OUT_OF_BOUNDS", reason)
        parts: list[Excerpt | LookupFailure] = []
        for name in names:
            is_glob = re.search(r"[*?]", name) or (isinstance(pattern, str) and len(names) == 1)
            if is_glob:
                identity.check_path(name)
                virtual = identity.parse_virtual_path(name)
                fits = compile_pattern(f"{virtual[0]}/{virtual[1] or '**'}" if virtual else name)
                places = [
                    place
                    for place in self.documents.places()
                    if fits("/".join(place)) or (not virtual and fits(place[1]))
                ]
                if documents := [*filter(None, starmap(self.documents.at, places))]:
                    parts += map(self._excerpt, documents)
                    continue
            try:
                suggestions = LIST_SUGGESTIONS if failures < FAILURES_WITH_SUGGESTIONS else 0
                parts.append(self.get(name, suggestions=suggestions))
            except InvalidInput as refusal:
                similar = refusal.suggestions if isinstance(refusal, NotFound) else ()
                parts.append(LookupFailure(name, refusal.code, str(refusal), similar))
                failures += 1
        excerpts = {part.document.id: part for part in reversed(parts) if isinstance(part, Excerpt)}
        ordered = sorted(excerpts.values(), key=lambda part: PLACE(part.document))
        sizes = {part.document: len(part.text.encode("utf-8", "surrogatepass")) for part in ordered}
        for document, size in sizes.items():
            if size > max_bytes:
                name = document.display_path
                advice = f'Read it with: clawmem get "{name}"  (or raise --max-bytes.)'
                message = f"{name} has {size:,} bytes, more than {max_bytes:,}. {advice}"
                parts.append(LookupFailure(name, TOO_LARGE, message))
        errors = [part for part in parts if isinstance(part, LookupFailure)]
        if not excerpts:
            wanted = ", ".join([*names][:FAILURES_WITH_SUGGESTIONS])
            near = [name for failure in errors for name in failure.suggestions]
            paths = "To see the paths, run: clawmem list  (** also matches subfolders.)"
            remark = paths if re.search(r"[*?]", wanted) else ""
            error = NotFound("document", wanted, suggestions=near, remark=remark)
            if near or any(failure.code != error.code for failure in errors):
                error.args = ("; ".join(map(str, errors[:FAILURES_WITH_SUGGESTIONS])),)
            raise error
        return [part for part in ordered if sizes[part.document] <= max_bytes], errors

    def _excerpt(
        self, document: Document, from_line: int | None = None, max_lines: int | None = None
    ) -> Excerpt:
        lines = list(StringIO(self.documents.body(document.id) or ""))
        before = document.body_line - 1
        start = max(from_line or 1, document.body_line)
        first = start - document.body_line
        text = "".join(lines[first : None if max_lines is None else first + max_lines])
        name = docids(self.documents, [document])[document.id]
        newer = current_successors(self.documents, self.successions, [document.id]).get(document.id)
        text = with_blocks(text, self.documents, self.links)
        return Excerpt(document, name, text, start, before + len(lines), newer)


def tidy_path(path: str) -> str:
    """Return *path* without repeated slashes and ``.`` segments; an absolute path of Windows with forward slashes."""
    if _ABSOLUTE.match(path) and not path.startswith("/"):
        path = path.replace("\\", "/")  # elsewhere a backslash is part of a name
    root = "/" if path.startswith("/") else ""
    return root + "/".join(part for part in path.split("/") if part not in ("", "."))


def _ends(address: Address) -> list[str]:
    """Return the ends of a path that *address* may be, in the spellings that file systems use, and without ``.md``."""
    paths = [form for path in address.paths for form in unicode_forms(tidy_path(path))]
    paths += [path.replace("\\", "/") for path in paths if "\\" in path]
    return paths + [f"{path}.md" for path in paths if "/" in path and not path.endswith(".md")]
