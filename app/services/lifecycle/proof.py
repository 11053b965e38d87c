"""Proof of forgetting: probes that look for forgotten documents everywhere; each must return an empty list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from clawmem.app.services.documents.timeline import MOST_AROUND, ReadTimeline
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.lifecycle.derived import derived_documents
from clawmem.app.services.lifecycle.forgetting import ForgetReport, tells_of
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import read_request
from clawmem.app.services.retrieval.similar import FindSimilar
from clawmem.domain.documents.identity import body_hash, document_without_file
from clawmem.domain.lifecycle.marks import is_code
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.journal import Act, ActEntry, ActJournal, ForgetLog, ForgetRecord, ForgottenPlace
from clawmem.ports.knowledge import Direction
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.storage import Transactions
from clawmem.ports.vault import Vault

BY = "forget record"  # author of the acts in a recreated vault


@dataclass(frozen=True, slots=True)
class ForgottenPlaces:
    """
    Forgetting that outlasts the vault: a recreated, repaired or restored vault forgets the same documents again.

    A path is written to the log after its transaction. If the process ends in between, the next `agree` writes it.
    """

    documents: DocumentStore
    acts: ActJournal
    transactions: Transactions
    publisher: Publisher
    forget_log: ForgetLog

    def note(self, documents: Sequence[Document], at: str) -> None:
        """
        Record in the log that *documents* were forgotten.

        Raises:
            VaultFull, VaultReadOnly: the log could not be written; the documents are forgotten nevertheless.
        """
        if self.forget_log.read().is_damaged:
            self.agree()
        elif documents:
            self._add([ForgottenPlace(document.collection, document.path, at) for document in documents])

    def agree(self, *, lost_records: bool = False) -> int:
        """
        Forget the documents that the log names, and complete the log; return the number of newly forgotten documents.

        A damaged file is written again from the vault. A copy of it stays unless the vault surely knows everything that
        the file held: see `warnings`.

        Args:
            lost_records: Whether the vault was repaired and records of it are lost.

        Raises:
            VaultError: possibly only a part was done; the call can be repeated.
        """
        record = self.forget_log.read()
        waiting = {place: self.documents.at(place.collection, place.path) for place in record.places}
        waiting = {
            place: document
            for place, document in waiting.items()
            if document is None or document.inactive is not InactiveReason.FORGOTTEN
        }
        away = self.documents.latest(active=False)
        is_new = not away and not self.documents.following(0, 1)
        if waiting:
            with self.transactions.writing():
                for place, document in waiting.items():
                    empty = document_without_file(place.collection, place.path, "", "", place.at, place.at)
                    number = document.id if document else self.documents.save(empty, "", ())
                    self.publisher.withdraw([number], InactiveReason.FORGOTTEN)
                    self.acts.add([ActEntry(number, Act.FORGET, BY, place.at)])
        if record.is_damaged and (lost_records or waiting or is_new):
            self.forget_log.set_aside()
        missing = _missing(record, away)
        if missing or record.is_damaged:
            self._add([*record.places, *missing])
        return len(waiting)

    def warnings(self) -> list[str]:
        """Return a sentence if forgotten documents may come back because the file is or was damaged, or lacks some."""
        log = self.forget_log.location
        said = [
            f"{log} was damaged, and so was the vault: notes that were forgotten may come back. Forget them again, "
            f"then delete {copy}."
            for copy in self.forget_log.damaged_copies()
        ]
        record = self.forget_log.read()
        if record.is_damaged or _missing(record, self.documents.latest(active=False)):
            state = "is damaged" if record.is_damaged else "lacks some of the forgotten notes"
            said.append(
                f"{log} {state}: notes that were forgotten may come back if the vault is lost. Run: clawmem update"
            )
        return said

    def _add(self, places: Sequence[ForgottenPlace]) -> None:
        with self.transactions.writing():  # so that one process writes the file at a time
            every: dict[tuple[str, str], ForgottenPlace] = {}
            for place in (*self.forget_log.read().places, *places):
                every.setdefault((place.collection, place.path), place)
            self.forget_log.write(every.values())


def _missing(record: ForgetRecord, away: Iterable[Document]) -> list[ForgottenPlace]:
    """Return the forgotten documents among *away* that *record* lacks."""
    written = {(place.collection, place.path) for place in record.places}
    return [
        ForgottenPlace(document.collection, document.path, document.modified_at)
        for document in away
        if document.inactive is InactiveReason.FORGOTTEN
        and (document.collection, document.path) not in written
    ]


READ_AT_ONCE = 1 << 20
NOTHING = body_hash("")
SAME_TEXT = "same text"  # the probe for other documents with the text of a forgotten one
_EVERY = 1_000_000
_LOOKED_AT = 20  # documents and results per unbounded probe


@dataclass(frozen=True, slots=True)
class Prove:
    """
    Searches all pipelines and stores for forgotten documents, and the files for their words.

    It calls no generator, because its answers would be cached under the secret question.

    Args:
        pipelines: Factories of the pipelines by name; `vsearch` is skipped if there are no vectors.
        find_similar: Factory of the search for similar documents.
        places: Files and folders that may contain bytes of the vault.
    """

    vault: Vault
    clock: Clock
    pipelines: Mapping[str, Callable[[], Pipeline]]
    find_similar: Callable[[], FindSimilar]
    timeline: ReadTimeline
    places: Sequence[str]

    def __call__(self, forgotten: ForgetReport) -> dict[str, list[str]]:
        """
        Return the findings of each probe.

        If the documents had no words and sentences of their own, only the documents themselves are looked for.

        Raises:
            VaultError, ModelMismatch: a probe failed.
        """
        vault, marks, sentences = self.vault, forgotten.traces.words, forgotten.traces.sentences
        gone = frozenset(document.id for document in forgotten.documents)
        hashes = {document.hash for document in forgotten.documents} - {NOTHING}
        by_meaning = vault.embeddings.fingerprint() is not None
        pipelines = {name: make for name, make in self.pipelines.items() if by_meaning or name != "vsearch"}
        entities = [entity for mark in marks for entity in vault.entities.search(mark, _LOOKED_AT)]
        triples = (vault.triples.recorded(entity.id, _LOOKED_AT, Direction.BOTH) for entity in entities)
        probes: dict[str, Iterable[str]] = {
            **{name: self._answers(make(), gone, marks) for name, make in pipelines.items()},
            "similar": self._near(gone) if by_meaning else (),
            "timeline": self._around(gone),
            "records": self._records(gone),
            SAME_TEXT: (
                f"{_where(document)} holds it"
                for hash in hashes
                for document in vault.documents.holding(hash)
            ),
            "unserved notes": self._unserved(sentences),
            "derived": (document.display_path for document in derived_documents(vault, gone)),
            "vectors": (f"document {n}" for n in sorted(gone) if any(vault.embeddings.of_document(n))),
            "entities": (entity.name for entity in entities),
            "triples": (
                f"document {triple.document_id}" for triple in chain(*triples) if triple.document_id in gone
            ),
            "captures": (
                sighting.source for n in gone for sighting in vault.captures.sightings(n) if sighting.quote
            ),
            "sessions": (
                session.id
                for session in vault.sessions.recent(_EVERY)
                if any(sentence in session.summary for sentence in sentences)
            ),
            "receipts": (
                f"receipt {stored.id}"
                for stored in vault.receipts.latest(_EVERY)
                if tells_of(stored.content, gone, marks)
            ),
            "model answers": (f"{n} of {purpose}" for purpose, n in vault.answers.counts().items()),
            "bytes": self._bytes([*filter(is_code, marks), *sentences]),
        }
        return {name: list(probe) for name, probe in probes.items()}

    def _answers(self, pipeline: Pipeline, gone: frozenset[int], marks: Sequence[str]) -> list[str]:
        """Return the documents in answers to *marks* that are forgotten or contain the word."""
        found: dict[str, None] = {}
        for mark in marks:
            request = read_request(mark, now_ms=self.clock.now_ms(), limit=_LOOKED_AT, show_all=True)
            for result in pipeline(request).results:
                if result.document.id in gone or mark.casefold() in words(result.body):
                    found[result.document.display_path] = None
        return list(found)

    def _near(self, gone: frozenset[int]) -> Iterator[str]:
        similar = self.find_similar()
        for document in self.vault.documents.latest(limit=_LOOKED_AT):
            results = similar(document, now_ms=self.clock.now_ms(), limit=_LOOKED_AT).answer.results
            yield from (result.document.display_path for result in results if result.document.id in gone)

    def _around(self, gone: frozenset[int]) -> Iterator[str]:
        for document in self.vault.documents.latest(limit=_LOOKED_AT):
            around = self.timeline(document, before=MOST_AROUND, after=MOST_AROUND)
            entries = (*around.before, *around.after)
            yield from (entry.document.display_path for entry in entries if entry.document.id in gone)

    def _records(self, gone: frozenset[int]) -> Iterator[str]:
        for document in self.vault.documents.many(gone).values():
            erased = (document.title, self.vault.documents.body(document.id), *document.tags)
            if any(erased) or self.vault.documents.fragments(document.id) or document.inactive is None:
                yield document.display_path

    def _unserved(self, sentences: Sequence[str]) -> Iterator[str]:
        """Yield the documents that are not served and contain a sentence of a forgotten one."""
        for document in self.vault.documents.latest(active=False):
            text = f"{document.title}\n{self.vault.documents.body(document.id) or ''}"
            if any(sentence in text for sentence in sentences):
                yield f"{_where(document)} says some of it"

    def _bytes(self, texts: Sequence[str]) -> Iterator[str]:
        for place in map(Path, self.places):
            files = [place] if place.is_file() else sorted(place.rglob("*"))
            yield from (str(file) for file in files if file.is_file() and _file_holds(file, texts))


def _file_holds(file: Path, texts: Sequence[str]) -> bool:
    """Whether a file contains one of *texts* as UTF-8, ignoring the case of ASCII letters."""
    sought = [text.encode("utf-8", "replace").lower() for text in texts]
    overlap = max(map(len, sought), default=1) - 1
    before = b""
    with file.open("rb") as opened:
        while block := opened.read(READ_AT_ONCE):
            read = before + block.lower()
            if any(text in read for text in sought):
                return True
            before = read[len(read) - overlap :] if overlap else b""
    return False


def _where(document: Document) -> str:
    """Return the path of *document*, and why it is not served."""
    return f"{document.display_path} ({document.inactive})" if document.inactive else document.display_path
