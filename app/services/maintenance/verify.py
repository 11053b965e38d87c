"""Verification that files, records and indexes agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.indexing.source import ParseYaml, decode, parse_source
from clawmem.app.services.indexing.update import is_forgotten_file, is_hidden
from clawmem.app.services.maintenance.doctor import (
    MISSING_FOLDER,
    REBUILD,
    REPAIR,
    entries_by_grain,
    spread,
    without_remedy,
)
from clawmem.domain.documents.identity import body_hash, has_lost_text, is_current, is_forgotten, source_hash
from clawmem.domain.text.words import words
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import IndexBypassed, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.models import is_in_process
from clawmem.ports.records import (
    Document,
    Grain,
    InactiveReason,
    LexicalQuery,
    Scope,
    SourceFile,
    Term,
)
from clawmem.ports.storage import Storage

SAMPLE = 50  # documents that are searched for
OWN_WORDS = 12  # longest words of a text, which tend to be its rarest
DEPTH = 200  # hits among which a document must be found by one of its rare words


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

    def __call__(self) -> list[str]:
        """
        Return every difference as a sentence; empty when there is none.

        Storage: faults that each part detects in itself, for example by checksums, with the command that repairs
        them. Nothing else is compared while storage is damaged. Disk: files missing from the vault, changed since, or
        deleted. Unreadable files missing from the vault are not reported: an update names them. Files of forgotten,
        archived and superseded documents, and files with a forgotten text, are not compared. Records: bodies that
        differ from their hash or were lost. Indexes: their counts; of a sample, served documents that are not found
        and others that are. The samples are every k-th document by path, at most 50.

        Raises:
            VaultError: the vault cannot be read.
        """
        damage = [f"{fault}. {REPAIR}" for fault in self.storage.check()]
        for faults in (self.lexical.faults(), self.vectors.faults()):
            damage += [f"{without_remedy(fault)}. {REBUILD}" for fault in faults]
        if damage:
            return damage
        documents = sorted(self.documents.latest(), key=attrgetter("collection", "path"))
        withdrawn = [note for note in self.documents.latest(active=False) if not is_forgotten(note)]
        return [
            *(sentence for folder in self.folders for sentence in self._disk(folder)),
            *(fault for note in (*documents, *withdrawn) for fault in self._text(note)),
            *self._indexes(documents, withdrawn),
        ]

    def _text(self, document: Document) -> Iterator[str]:
        name = document.display_path
        if has_lost_text(document):
            yield f'{name} has lost its text. Copy it from a backup, or run: clawmem forget "{name}"'
        elif body_hash(self.documents.body(document.id) or "") != document.hash:
            yield f"{name} has another body stored than its hash says. {REPAIR}"

    def _disk(self, folder: Folder) -> Iterator[str]:
        exclusions = Exclusions(self.files, folder)
        scan = scan_folder(self.files, folder, exclusions)
        if not scan.root_exists:
            reason = scan.problem or f"{folder.root} is not there, or is no folder."
            yield f"{reason} {MISSING_FOLDER.format(folder.name)}"
            return
        for path in scan.unreadable:
            if path in exclusions.unreadable:
                yield f"{folder.name}: {exclusions.why_unreadable(path)}."
            else:
                yield f"{folder.name}/{path} could not be listed. Check its permissions."
        known = self.documents.sources(folder.name)
        for file in scan.files:
            yield from self._file(folder, file, known.get(file.path))
        present = {file.path for file in scan.files}
        for path, document in sorted(known.items()):
            is_missing = document.inactive is None and document.stamp and path not in present
            if is_missing and not is_hidden(path, scan.unreadable):
                yield f"{document.display_path} is in the vault, but its file is gone."

    def _file(self, folder: Folder, file: SourceFile, known: Document | None) -> Iterator[str]:
        if is_forgotten(known):
            return
        name = f"{folder.name}/{file.path}"
        try:
            data = self.files.read(folder.root, file.path)
            if is_current(known, source_hash(data)):
                return
            if known is None or known.inactive is InactiveReason.REMOVED:
                parse = partial(parse_source, now_ms=0, parse_yaml=self.parse_yaml, extract=folder.extract)
                body = parse(data, folder.name, file.path, file.stamp).body
                if not is_forgotten_file(self.documents, self.forgotten_texts, body, known):
                    yield f"{name} is on disk, but not in the vault."
            else:
                if not (folder.extract and folder.extract(file.path, data)):
                    decode(data, file.path)
                yield f"{name} was changed on disk since it was indexed."
        except SourceUnreadable as error:
            if known and known.inactive is None:
                yield f"{name} cannot be read: {error.reason}. The vault keeps its last text."

    def _indexes(self, documents: Sequence[Document], withdrawn: Sequence[Document]) -> list[str]:
        differences = [
            f"The {grain} index holds {entries} entries, the records {expected}."
            for grain, (entries, expected) in entries_by_grain(self.documents, self.lexical).items()
            if entries != expected
        ]
        # The vectors of the vault are the records: `VectorSearch.faults` compares them with their texts.
        if not is_in_process(self.vectors):
            entries = self.vectors.count()
            expected = sum(len(self.embeddings.of_document(document.id)) for document in documents)
            if entries != expected:
                differences.append(f"The vector index holds {entries} entries, the records {expected}.")
        try:
            for document in spread(documents, SAMPLE):
                if self._is_found(document) is False:
                    differences.append(f"{document.display_path} is not found by its own rarest words.")
            for document in spread(withdrawn, SAMPLE):
                if self._is_found(document):
                    state = f"{document.display_path} is {document.inactive}"
                    differences.append(f"{state}, but still found in the document index.")
        except IndexBypassed as error:
            return [str(error)]
        return [*differences, f"The indexes differ from the records. {REBUILD}"] if differences else []

    def _is_found(self, document: Document) -> bool | None:
        """Whether the words of *document* find it; ``None`` for a text without words."""
        distinct = set(words(self.documents.body(document.id) or ""))
        terms = tuple(map(Term, sorted(distinct, key=lambda word: (-len(word), word))[:OWN_WORDS]))
        if not terms:
            return None
        # An engine may split words in another way, so that a single word is enough. In a collection of copies of one
        # template no single word is rare, but all of them together find every copy.
        queries = [(LexicalQuery(terms, every=True), self.lexical.count(Grain.DOCUMENT))]
        queries += [(LexicalQuery((term,)), DEPTH) for term in terms]
        scope = Scope(frozenset({document.collection}))
        return any(
            hit.key.document_id == document.id
            for query, limit in queries
            for hit in self.lexical.search(query, Grain.DOCUMENT, limit, scope)
        )
