"""Verification that files, records and indexes agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, filterfalse
from operator import attrgetter
from string import ascii_lowercase, digits

from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.indexing.moves import is_forgotten_file
from clawmem.app.services.indexing.source import ParsedSource, ParseYaml, check_readable, parse_source
from clawmem.app.services.maintenance.finding import (
    MISSING_FOLDER,
    REBUILD,
    REINDEX,
    REPAIR,
    spread,
    text_fault,
    without_remedy,
)
from clawmem.domain.documents.fragments import GRAIN_OF
from clawmem.domain.documents.identity import is_current, is_forgotten, source_hash
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import IndexBypassed, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.models import is_in_process
from clawmem.ports.records import (
    Document,
    Fragment,
    Grain,
    Hit,
    InactiveReason,
    LexicalQuery,
    Scan,
    Scope,
    SourceFile,
    SourceStamp,
    Term,
)
from clawmem.ports.storage import Storage

SAMPLE = 50  # documents that are searched for, and split into fragments again
OWN_WORDS = 12  # longest words of a text, which tend to be its rarest
DEPTH = 200  # hits among which a document must be found by one of its rare words
TERMS_AT_ONCE = 40

NOT_INDEXED, CHANGED, GONE = (
    "is on disk, but not in the vault.",
    "was changed on disk since it was indexed.",
    "is in the vault, but its file is gone.",
)
OF_FILES = (NOT_INDEXED, CHANGED, GONE)  # ends of the sentences about files, which the next update indexes
_DIFFERENT = f"The indexes differ from the records. {REBUILD}"

_TWINS = 0.999  # cosine above which vectors are indistinguishable
_PLACE = attrgetter("collection", "path")
Keys = dict[int, set[int]]  # seq numbers of fragments by document id
Lost = Callable[[Document, Sequence[int]], Sequence[int]]  # the given fragments that an index lacks


@dataclass(frozen=True, slots=True)
class Verify:
    """
    Compares files, records and indexes; changes nothing.

    Reads every file of the configured collections and every fragment. Takes no lock: concurrent writes may appear as
    differences that a second run no longer reports.
    """

    documents: DocumentStore
    storage: Storage
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    forgotten_texts: ForgottenTexts
    files: FileSource
    folders: Sequence[Folder]
    parse_yaml: ParseYaml
    clock: Clock

    def __call__(self) -> list[str]:
        """
        Return every difference as a sentence that names the document; empty when there is none.

        Storage: faults that each part detects in itself, for example by checksums, with the command that repairs
        them. Nothing else is compared while storage is damaged. Disk: files missing from the vault, changed since, or
        deleted. Unreadable files missing from the vault are not reported, see `skipped_files`. Files of forgotten,
        archived and superseded documents, and files with a forgotten text, are not compared. Records: bodies that
        differ from their hash or were lost; of a sample, fragments that differ when computed again. Indexes: for words at every
        granularity and for vectors, entries that are found but not served, served but not found, and unexplained
        counts. The samples are every k-th document by path, at most 50.

        Raises:
            VaultError: the vault cannot be read.
        """
        if damage := self._damage():
            return damage
        documents = sorted(self.documents.latest(), key=_PLACE)
        withdrawn = {document.id: document for document in self.documents.latest(active=False)}
        recorded = chain(documents, filterfalse(is_forgotten, withdrawn.values()))
        return [
            *(sentence for folder in self.folders for sentence in self._disk(folder)),
            *filter(None, (text_fault(note, self.documents.body(note.id)) for note in recorded)),
            *self._indexes(documents, withdrawn),
            *self._fragmented_otherwise(spread(self._from_files(documents), SAMPLE)),
        ]

    def _damage(self) -> list[str]:
        indexes = (self.lexical, self.vectors)
        faults = [without_remedy(fault) for index in indexes for fault in index.faults()]
        return [
            *(f"{fault}. {REPAIR}" for fault in self.storage.check()),
            *(f"{fault}. {REBUILD}" for fault in faults),
        ]

    # -- disk and records ---------------------------------------------------------------------------

    def _disk(self, folder: Folder) -> Iterator[str]:
        exclusions = Exclusions(self.files, folder)
        scan = scan_folder(self.files, folder, exclusions=exclusions)
        if not scan.root_exists:
            yield f"{folder.root} is not there, or is no folder. {MISSING_FOLDER.format(folder.name)}"
            return
        yield from (
            f"{folder.name}: {exclusions.why_unreadable(path)}."
            if path in exclusions.unreadable
            else f"{folder.name}/{path} could not be listed. Check its permissions."
            for path in scan.unreadable
        )
        known = self.documents.sources(folder.name)
        for file in scan.files:
            yield from self._file(folder, file, known.get(file.path))
        yield from _gone(scan, known)

    def _file(self, folder: Folder, file: SourceFile, known: Document | None) -> Iterator[str]:
        if is_forgotten(known):
            return
        name = f"{folder.name}/{file.path}"
        try:
            data = self.files.read(folder.root, file.path)
            if is_current(known, source_hash(data)):
                return
            if known is None or known.inactive is InactiveReason.REMOVED:
                parsed = self._parse(data, folder, file.path, file.stamp)
                if not is_forgotten_file(self.documents, self.forgotten_texts, parsed.body, known):
                    yield f"{name} {NOT_INDEXED}"
            else:
                check_readable(data, file.path, folder.extract)
                yield f"{name} {CHANGED}"
        except SourceUnreadable as error:
            if known and known.inactive is None:
                yield f"{name} cannot be read: {error.reason}. The vault keeps its last text."

    def _parse(self, data: bytes, folder: Folder, path: str, stamp: SourceStamp) -> ParsedSource:
        return parse_source(
            data,
            folder.name,
            path,
            stamp,
            now_ms=self.clock.now_ms(),
            parse_yaml=self.parse_yaml,
            extract=folder.extract,
        )

    def _from_files(self, documents: Sequence[Document]) -> list[Document]:
        names = {folder.name for folder in self.folders}
        return [document for document in documents if document.collection in names and document.stamp]

    def _fragmented_otherwise(self, documents: Sequence[Document]) -> Iterator[str]:
        folders = {folder.name: folder for folder in self.folders}
        for document in documents:
            parsed = self._again(document, folders[document.collection])
            if parsed and _differ(parsed.fragments, self.documents.fragments(document.id)):
                yield f"{document.display_path} gives other fragments now than those that are stored. {REINDEX}"

    def _again(self, document: Document, folder: Folder) -> ParsedSource | None:
        """Parse the unchanged file of *document* again, with the recorded time, as the file time may be newer."""
        ms = parse_iso(document.modified_at) or 0
        try:
            data = self.files.read(folder.root, document.path)
            if source_hash(data) != document.source_hash:
                return None  # reported as a changed file
            stamp = SourceStamp(len(data), ms * 1_000_000)
            return self._parse(data, folder, document.path, stamp)
        except SourceUnreadable:
            return None

    # -- indexes ------------------------------------------------------------------------------------

    def _indexes(self, documents: Sequence[Document], withdrawn: Mapping[int, Document]) -> Iterator[str]:
        is_different = False
        try:
            for sentence in chain(self._differing(documents, withdrawn), self._unfindable(documents)):
                is_different = True
                yield sentence
        except IndexBypassed as error:
            yield error.reason
            return
        if is_different:
            yield _DIFFERENT

    def _differing(self, documents: Sequence[Document], withdrawn: Mapping[int, Document]) -> Iterator[str]:
        lexical = {grain: self._lexical(grain, withdrawn.values()) for grain in GRAIN_OF.values()}
        # The vectors of the vault are the records: `VectorSearch.faults` compares them with their texts.
        vectors = None if is_in_process(self.vectors) else self._vectors(documents)
        for document in documents:
            parts = self.documents.fragments(document.id)
            for grain, index in lexical.items():
                yield from index.compare(document, {p.seq for p in parts if GRAIN_OF.get(p.kind) is grain})
            if vectors:
                keys = [entry.key for entry in self.embeddings.of_document(document.id)]
                yield from vectors.compare(document, {key.seq for key in keys})
        for grain, index in lexical.items():
            yield from index.conclude(withdrawn, self._without_entry(grain))
        if vectors:
            yield from vectors.conclude(withdrawn, self._without_vector)

    def _lexical(self, grain: Grain, withdrawn: Iterable[Document]) -> _Index:
        """Return the index of *grain* with the entries found by prefix search for every letter and digit."""
        letters = sorted({*ascii_lowercase, *digits, *self._other_letters(withdrawn)})
        held = self.lexical.count(grain)
        listed: Keys = defaultdict(set)
        for at in range(0, len(letters), TERMS_AT_ONCE):
            terms = tuple(Term(letter, prefix=True) for letter in letters[at : at + TERMS_AT_ONCE])
            _note(listed, self.lexical.search(LexicalQuery(terms), grain, held))
        return _Index(f"{grain} index", held, listed)

    def _other_letters(self, withdrawn: Iterable[Document]) -> set[str]:
        """Return the first letters of words of withdrawn documents, so that every script is listed."""
        bodies = (self.documents.body(document.id) or "" for document in withdrawn)
        return {word[0] for body in bodies if not body.isascii() for word in words(body)}

    def _vectors(self, documents: Sequence[Document]) -> _Index:
        """Return the vector index with the neighbours of sample vectors: all entries if the engine can list them."""
        held = self.vectors.count()
        listed: Keys = defaultdict(set)
        for document in spread(documents, SAMPLE):
            for entry in self.embeddings.of_document(document.id)[:1]:
                if sum(map(len, listed.values())) < held:
                    _note(listed, self.vectors.search(entry.vector, held))
        return _Index("vector index", held, listed)

    def _without_entry(self, grain: Grain) -> Lost:
        def lost(document: Document, seqs: Sequence[int]) -> list[int]:
            parts = {part.seq: part for part in self.documents.fragments(document.id)}
            return [seq for seq in seqs if not self._has_entry(document, parts[seq], grain)]

        return lost

    def _has_entry(self, document: Document, part: Fragment, grain: Grain) -> bool:
        own = _rarest(part.text)
        key = (document.id, part.seq)
        every, either = LexicalQuery(_terms(own), every=True), LexicalQuery(_terms(own))
        # An engine may split words otherwise than we do, so finding any word is enough. A text without words
        # cannot be checked.
        return not own or any(
            key == hit.key for query in (every, either) for hit in self._everything(query, grain, document)
        )

    def _everything(self, query: LexicalQuery, grain: Grain, document: Document) -> list[Hit]:
        return self.lexical.search(query, grain, self.lexical.count(grain), _beside(document))

    def _without_vector(self, document: Document, seqs: Sequence[int]) -> list[int]:
        """Return the fragments without a vector. Vectors of a document are written together: one found means all."""
        vectors = {e.key.seq: e.vector for e in self.embeddings.of_document(document.id)}
        lost: list[int] = []
        for seq in seqs:
            hits = self.vectors.search(vectors[seq], DEPTH, _beside(document))
            crowded = len(hits) == DEPTH and hits[-1].score > _TWINS
            if crowded or any(hit.key == (document.id, seq) for hit in hits):
                return lost
            lost.append(seq)
        return lost

    # -- samples and rest ---------------------------------------------------------------------------

    def _unfindable(self, documents: Sequence[Document]) -> Iterator[str]:
        for document in spread(documents, SAMPLE):
            if not self._is_found(document):
                yield f"{document.display_path} is not found by its own rarest words."

    def _is_found(self, document: Document) -> bool:
        own = _rarest(self.documents.body(document.id) or "")
        queries = (LexicalQuery(_terms([word])) for word in own)
        near = any(
            hit.key.document_id == document.id
            for query in queries
            for hit in self.lexical.search(query, Grain.DOCUMENT, DEPTH, _beside(document))
        )
        # Among hundreds of copies of a template no single word is rare, so search for all its words together.
        whole = self.documents.fragments(document.id)[:1]
        return near or any(self._has_entry(document, part, Grain.DOCUMENT) for part in whole)


@dataclass(slots=True)
class _Index:
    """Comparison of one index with the records, document by document."""

    name: str
    held: int
    listed: Keys  # entries that a search found; those left after all documents belong to no served document
    expected: int = 0
    surplus: int = 0
    unseen: list[tuple[Document, list[int]]] = field(default_factory=list)

    def compare(self, document: Document, seqs: set[int]) -> Iterator[str]:
        """Compare the entries of one served document with its fragments *seqs*; yield superfluous entries."""
        self.expected += len(seqs)
        here = self.listed.pop(document.id, set())
        if hidden := sorted(seqs - here):
            self.unseen.append((document, hidden))
        if extra := here - seqs:
            self.surplus += len(extra)
            yield f"{document.display_path} has {len(extra)} entries in the {self.name} that its records do not know."

    def conclude(self, withdrawn: Mapping[int, Document], lost: Lost) -> Iterator[str]:
        """Yield entries of other documents, missing entries and wrong counts, after all documents were compared."""
        for document_id, seqs in sorted(self.listed.items()):
            self.surplus += len(seqs)
            yield self._stranger(document_id, withdrawn.get(document_id))
        yield from self._missing(lost)
        if self.held != self.expected:
            yield f"The {self.name} holds {self.held} entries, the records {self.expected}."

    def _stranger(self, document_id: int, document: Document | None) -> str:
        if document is None:
            return f"The {self.name} has an orphan: document number {document_id}, which does not exist."
        return f"{document.display_path} is {document.inactive}, but still found in the {self.name}."

    def _missing(self, lost: Lost) -> Iterator[str]:
        # Most unlisted entries exist nevertheless; the counts tell how many are really missing.
        deficit = self.expected - (self.held - self.surplus)
        for document, seqs in self.unseen:
            if deficit <= 0:
                return
            if gone := lost(document, seqs):
                deficit -= len(gone)
                yield f"{document.display_path} is missing from the {self.name} with {len(gone)} of its fragments."


def _gone(scan: Scan, known: Mapping[str, Document]) -> Iterator[str]:
    here = {file.path for file in scan.files}
    for path, document in sorted(known.items()):
        unknown = any(
            folder in ("", ".", path) or path.startswith(f"{folder}/") for folder in scan.unreadable
        )
        if document.inactive is None and document.stamp and path not in here and not unknown:
            yield f"{document.display_path} {GONE}"


def _differ(computed: Sequence[Fragment], stored: Sequence[Fragment]) -> bool:
    """Whether fragments differ, apart from a description of their folder above the context of the *stored* ones."""
    return len(computed) != len(stored) or any(
        old._replace(context="") != new._replace(context="")
        or not f"\n{old.context}".endswith(f"\n{new.context}" if new.context else "")
        for new, old in zip(computed, stored, strict=True)
    )


def _note(listed: Keys, hits: Iterable[Hit]) -> None:
    for hit in hits:
        listed[hit.key.document_id].add(hit.key.seq)


def _rarest(text: str) -> list[str]:
    distinct = dict.fromkeys(words(text))
    return sorted(distinct, key=lambda word: (-len(word), word))[:OWN_WORDS]


def _terms(own: Iterable[str]) -> tuple[Term, ...]:
    return tuple(Term(word) for word in own)


def _beside(document: Document) -> Scope:
    return Scope(frozenset({document.collection}))
