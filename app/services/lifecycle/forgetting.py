"""Permanent forgetting: a text is erased from the records, all indexes, all caches and the log; probes prove it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from mmap import ACCESS_READ, mmap
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.capture.archive import TranscriptArchive
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.progress import Progress
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.receipts import unpack
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.documents.encoding import decode
from clawmem.domain.documents.identity import DOCID_LENGTH, body_hash, document_without_file
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.marks import (
    identifying_words,
    is_earlier_version,
    is_recognisable,
    sentences_of,
)
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.domain.text.words import search_text, words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.journal import (
    Act,
    ActEntry,
    ActJournal,
    ForgetLog,
    ForgottenPlace,
    ForgottenTexts,
    Replacement,
)
from clawmem.ports.records import Document, Grain, InactiveReason, LexicalQuery, Term
from clawmem.ports.storage import Storage, Transactions
from clawmem.ports.vault import Vault

PART = 200  # documents per transaction
_OTHERS = 10  # other documents that contain the same sentence
_EVERY = 1_000_000  # receipts; a month holds fewer
_LOOKED_AT = 20  # results per probe
_BLOCK, _WINDOW, _MANY = 65_536, 12, 500  # bytes; many texts are looked for where a window of them occurs


class ForgetReport(NamedTuple):
    """
    Forgotten documents, derived ones included, and what would reveal them.

    No other served document contains their ``words`` and ``sentences``. ``said_in`` are the paths of served documents
    that contain other sentences of them, ``retained_in`` the documents that are not served and whose stored text
    contains one of ``sentences``. ``transcripts`` were deleted from the archive. ``left`` says why their bytes may remain in free space, and is empty when none remain.
    """

    documents: tuple[Document, ...]
    words: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    said_in: tuple[str, ...] = ()
    retained_in: tuple[Document, ...] = ()
    transcripts: tuple[str, ...] = ()
    left: str = ""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """
    Forgets documents permanently; none of them can be restored.

    Args:
        note: Records outside the vault which documents are forgotten, see `ForgottenPlaces.complete`.
    """

    vault: Vault
    publisher: Publisher
    clock: Clock
    transcript_archive: TranscriptArchive
    files: FileSource
    roots: Mapping[str, str]
    note: Callable[[], object] = lambda: None

    def __call__(
        self,
        documents: Sequence[Document],
        by: str,
        why: str = "",
        act: Act = Act.FORGET,
        progress: Progress = lambda done, total: None,
    ) -> ForgetReport:
        """
        Forget *documents*, served or archived, and erase their bytes from the vault where possible.

        Their paths stay in the records, so that neither their files nor other files with the same text are indexed
        again. Earlier versions and locations of them are forgotten as well, and memories derived from them; other
        served notes with the same text are not. Of a document forgotten before, the rest is erased, as far as its
        file tells its text. Each transaction forgets `PART` documents.

        Raises:
            VaultError, KeyboardInterrupt: a call with the same *documents* does the rest; the next update erases bytes.
        """
        if not documents:
            return ForgetReport(())
        new = {note.id: note for note in documents if note.inactive is not InactiveReason.FORGOTTEN}
        sources = {note.id: note for note in self._sources([*new.values()])}
        derived = {note.id: note for note in derived_documents(self.vault, sources)}
        every = sources | {note.id: note for note in documents} | derived
        # Nothing leads from a forgotten note to what else is to be forgotten with it, so *documents* go last.
        waiting = sorted((derived | sources).values(), key=lambda note: note.id in new)
        # Observations that were merged into a derived one are served again; the next consolidation merges them.
        merged = [note for note in derived.values() if CONSOLIDATED in note.tags]
        merges = [entry for note in merged for entry in self._replacements(note)]
        numbers = {number for entry in merges for number in entry.replaced}
        released = self.vault.documents.many(numbers - every.keys())
        with self.vault.transactions.writing():
            for entry in merges:
                self.vault.journal.undo(entry.id, iso_utc(self.clock.now_ms()))
            for note in sorted(released.values(), key=attrgetter("id")):
                if note.inactive is InactiveReason.SUPERSEDED:
                    self.publisher.publish_again(note)
        files = (self._file_text(note) for note in documents if note.id not in new)
        report = self._report([*map(self._text, waiting), *files], tuple(every.values()), progress)
        # This first, as it needs the words; and again for receipts written since.
        clear = partial(_failure, partial(self._clear, frozenset(every), report.words))
        left = [clear()]
        report = report._replace(transcripts=tuple(self.transcript_archive.forget(in_files(report))))
        reasons = dict.fromkeys(derived, f"derived from {documents[0].display_path}")
        for start in range(0, len(waiting), PART):
            part, now = waiting[start : start + PART], iso_utc(self.clock.now_ms())
            acts = [
                ActEntry(note.id, act, by, now, reasons.get(note.id, why), note.first_hash[:DOCID_LENGTH])
                for note in part
            ]
            bodies = {self.vault.documents.body(note.id) or "" for note in part if note.id not in derived}
            with self.vault.transactions.writing():
                self.vault.forgotten_texts.add(filter(is_recognisable, bodies))
                self.publisher.withdraw([note.id for note in part], InactiveReason.FORGOTTEN)
                self.vault.acts.add(acts)
            progress(start + len(part), len(waiting))
        # The note last: without it, the next update knows that bytes may be left.
        left += [clear(), self.scrub(), _failure(self.note)]
        return report._replace(left=" ".join(dict.fromkeys(filter(None, left))))

    def scrub(self) -> str:
        """Erase the bytes of documents forgotten earlier; return why that failed, empty on success."""
        return _failure(self.vault.storage.scrub)

    def _sources(self, documents: Sequence[Document]) -> list[Document]:
        """
        Return *documents*, their earlier places and versions, and all that these replaced: a merged one repeats them.

        Earlier ones have the same body, or the same title and, their file being gone, half of the same sentences.
        """
        hashes = {document.hash for document in documents if document.body_length}
        titled = {document.title.casefold(): self._text(document) for document in documents}
        every: dict[int, Document] = {}
        waiting = [*documents]
        for note in self.vault.documents.latest(active=False):
            is_earlier = note.hash in hashes and note.inactive is not InactiveReason.FORGOTTEN
            if note.hash not in hashes and note.inactive is InactiveReason.REMOVED:
                text = titled.get(note.title.casefold(), "")
                body = self.vault.documents.body(note.id) or "" if text else ""
                is_earlier = is_earlier_version(body, text)
            waiting += [note] if is_earlier else []
        while waiting:
            document = waiting.pop()
            if document.id in every or (every and document.inactive is InactiveReason.FORGOTTEN):
                continue
            every[document.id] = document
            replaced = [number for entry in self._replacements(document) for number in entry.replaced]
            waiting += self.vault.documents.many(replaced).values()
        return list(every.values())

    def _replacements(self, document: Document) -> list[Replacement]:
        entries = self.vault.journal.replacements(document.id)
        return [entry for entry in entries if entry.document_id == document.id]

    def _clear(self, gone: frozenset[int], marks: Sequence[str]) -> None:
        receipts = self.vault.receipts.latest(_EVERY)
        self.vault.receipts.forget(
            receipt.id for receipt in receipts if names_forgotten(receipt.content, gone, marks)
        )
        self.vault.answers.trim("9999-12-31")  # all of them, as their questions are unknown

    def _report(
        self, texts: Sequence[str], forgotten: tuple[Document, ...], progress: Progress
    ) -> ForgetReport:
        """Return the *forgotten* documents and what in their *texts* no other document contains."""
        ids = {document.id for document in forgotten}
        away = [note for note in self.vault.documents.latest(active=False) if note.id not in ids]
        # A deduction cites the paths of its sources, which remain as ids of sessions do: what they have is no trace.
        places = {f"{collection}/{path}" for collection, path in self.vault.documents.places()}
        places |= {document.display_path for document in (*away, *forgotten)}
        unserved = {document.id: self._text(document) for document in away}
        unserved_words = {word for text in unserved.values() for word in words(text)}

        def served_with(phrase: str) -> set[str]:
            """Return the paths of served documents that contain *phrase*; an external index may lag."""
            query = LexicalQuery((Term(search_text(phrase)),))
            hits = self.vault.lexical.search(query, Grain.DOCUMENT, len(ids) + _OTHERS)
            known = self.vault.documents.many({hit.key.document_id for hit in hits} - ids).values()
            return {document.display_path for document in known if document.inactive is None}

        elsewhere: dict[str, set[str]] = {}
        for done, text in enumerate(texts):
            progress(done, len(texts))
            for sentence in sentences_of(text, places):
                elsewhere[sentence] = served_with(" ".join(words(sentence)))
        sentences = [sentence for sentence, served in elsewhere.items() if not served]
        own_words = identifying_words(
            texts,
            " ".join((*places, *(session.id for session in self.vault.sessions.recent(_EVERY)))),
            lambda word: word.casefold() not in unserved_words and not served_with(word),
        )
        said_in = sorted(set().union(*elsewhere.values()))
        retained = (note for note in away if any(sentence in unserved[note.id] for sentence in sentences))
        return ForgetReport(forgotten, tuple(own_words), tuple(sentences), tuple(said_in), tuple(retained))

    def _text(self, document: Document) -> str:
        return f"{document.title}\n{self.vault.documents.body(document.id) or ''}"

    def _file_text(self, document: Document) -> str:
        """Return the text of the file of a forgotten document, empty if it has none any more."""
        if root := self.roots.get(document.collection):
            with suppress(SourceUnreadable):
                return decode(self.files.read(root, document.path))[0]
        return ""


def derived_documents(vault: Vault, document_ids: Iterable[int]) -> list[Document]:
    """
    Return every document that was derived from these, over any number of steps, by collection and path.

    The documents themselves and forgotten ones are left out; archived and superseded ones are not. A handoff that
    repeats the quote of a captured memory is derived as well: both repeat the same sentence of a session.
    """
    sources = set(document_ids)
    derived: dict[int, Document] = {}
    waiting = list(sources)
    while waiting:
        source = waiting.pop()
        children = set(vault.derivations.children(source))
        for sighting in vault.captures.sightings(source):
            session = vault.sessions.get(sighting.session_id)
            collection, _, path = (session.handoff_path or "" if session else "").partition("/")
            handoff = vault.documents.at(collection, path) if path else None
            if handoff is not None and sighting.quote:
                body = vault.documents.body(handoff.id) or ""
                if " ".join(sighting.quote.split()) in " ".join(body.split()):
                    children.add(handoff.id)
        for document in vault.documents.many(children - sources - derived.keys()).values():
            if document.inactive is not InactiveReason.FORGOTTEN:
                derived[document.id] = document
                waiting.append(document.id)
    return sorted(derived.values(), key=attrgetter("collection", "path"))


def in_files(report: ForgetReport) -> list[str]:
    """
    Return the texts that no file may contain: the sentences of *report*, and words that mix letters and digits.

    Other words occur in a file by chance; what the path has as well, such as a title, stays in the log of forgotten paths.
    """
    paths = " ".join(document.path for document in report.documents).casefold()
    mixed = (word for word in report.words if not word.isalpha() and not word.isdigit())
    return [text for text in (*mixed, *report.sentences) if text.casefold() not in paths]


def _failure(step: Callable[[], object]) -> str:
    """Run *step*; return why it failed, empty on success."""
    try:
        step()
    except ClawmemError as error:
        return str(error)
    return ""


def names_forgotten(content: bytes, ids: frozenset[int], marks: Sequence[str]) -> bool:
    """Whether a receipt names one of *ids* or contains one of *marks*; True if it is unreadable."""
    receipt = unpack(content)
    if receipt is None:
        return True
    named = {item["document_id"] for item in receipt.items}
    named |= {drop["document_id"] for stage in receipt.stages for drop in stage["drops"]}
    question = set(words(receipt.question))
    return not ids.isdisjoint(named) or any(mark.casefold() in question for mark in marks)


def prove(
    forgotten: ForgetReport,
    vault: Vault,
    clock: Clock,
    transcript_archive: TranscriptArchive,
    pipelines: Mapping[str, Callable[[], Pipeline]],
    places: Sequence[str],
) -> dict[str, list[str]]:
    """
    Search pipelines and stores for forgotten documents, and the files for their sentences; return what each probe finds.

    Without words or sentences of their own, or where these are not known any more, the probes that look for them are
    left out. No generator is called, because its answers would be cached under the secret question.

    Args:
        pipelines: Factories of the pipelines by name.
        places: Files and folders that may contain bytes of the vault.

    Raises:
        VaultError, ModelMismatch: a probe failed.
    """
    marks, sentences, texts = forgotten.words, forgotten.sentences, in_files(forgotten)
    gone = frozenset(document.id for document in forgotten.documents)
    hashes = {document.hash for document in forgotten.documents} - {body_hash("")}
    probes: dict[str, Iterable[str]] = {
        **{name: _answers(make(), clock, gone, marks) for name, make in pipelines.items()},
        "records": (
            document.display_path
            for document in vault.documents.many(gone).values()
            if document.inactive is None
            or any((document.title, document.tags, vault.documents.body(document.id)))
            or any((vault.documents.fragments(document.id), vault.embeddings.of_document(document.id)))
        ),
        "same text": (
            f"{document.display_path} ({document.inactive or 'served'})"
            for hash in hashes
            for document in vault.documents.holding(hash)
        ),
        "unserved notes": (
            f"{document.display_path} ({document.inactive})"
            for document in vault.documents.latest(active=False)
            for text in [f"{document.title}\n{vault.documents.body(document.id) or ''}"]
            if any(sentence in text for sentence in sentences)
        ),
        "derived": (document.display_path for document in derived_documents(vault, gone)),
        "entities": (entity.name for mark in marks for entity in vault.entities.search(mark, _LOOKED_AT)),
        "sessions": (
            session.id
            for session in vault.sessions.recent(_EVERY)
            if any(sentence in session.summary for sentence in sentences)
        ),
        "receipts": (
            f"receipt {stored.id}"
            for stored in vault.receipts.latest(_EVERY)
            if names_forgotten(stored.content, gone, marks)
        ),
        "transcripts": map(str, transcript_archive.holding(texts)),
        "bytes": _bytes(places, texts),
    }
    needs = {**dict.fromkeys(pipelines, marks), "entities": marks, "transcripts": texts, "bytes": texts}
    needs |= dict.fromkeys(("unserved notes", "sessions"), sentences)
    return {name: list(probe) for name, probe in probes.items() if needs.get(name, True)}


def _answers(pipeline: Pipeline, clock: Clock, gone: frozenset[int], marks: Sequence[str]) -> list[str]:
    """Return the documents in answers to *marks* that are forgotten or contain the word."""
    paths: dict[str, None] = {}
    for mark in marks:
        request = read_request(mark, now_ms=clock.now_ms(), limit=_LOOKED_AT, show_all=True)
        for result in pipeline(request).results:
            if result.document.id in gone or mark.casefold() in words(result.body):
                paths[result.document.display_path] = None
    return list(paths)


def _bytes(places: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    """Yield the files that contain one of *texts* as UTF-8, ignoring the case of ASCII letters."""
    sought = defaultdict[bytes, list[bytes]](list)  # each text by its middle; short ones by nothing
    encoded = [text.encode("utf-8", "replace").lower() for text in texts]
    for text in encoded:
        sought[text[len(text) // 4 :][:_WINDOW] if len(text) >= 2 * _WINDOW else b""].append(text)
    longest = max(map(len, encoded), default=0)
    for place in map(Path, places) if sought else ():
        for file in [place] if place.is_file() else sorted(place.rglob("*")):
            if file.is_file() and file.stat().st_size:
                with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
                    for start in range(0, len(content), _BLOCK):
                        block = content[start : start + _BLOCK + longest].lower()
                        windows = {*sought}
                        if len(texts) > _MANY:
                            windows = {block[at : at + _WINDOW] for at in range(len(block))} | {b""}
                        if any(text in block for key in sought.keys() & windows for text in sought[key]):
                            yield str(file)
                            break


@dataclass(frozen=True, slots=True)
class ForgottenPlaces:
    """
    Forgetting that outlasts the vault: a recreated, repaired or restored vault forgets the same documents again.

    Paths and texts are written to the log after their bytes were erased. If the process ends in between, the next `agree`
    does both.
    """

    documents: DocumentStore
    acts: ActJournal
    transactions: Transactions
    storage: Storage
    publisher: Publisher
    forget_log: ForgetLog
    forgotten_texts: ForgottenTexts

    def complete(self) -> None:
        """
        Write to the log what it lacks.

        Raises:
            VaultFull, VaultReadOnly: the log could not be written; the documents are forgotten nevertheless.
        """
        missing, lacks_texts = self._lacking()
        if missing or lacks_texts:
            with self.transactions.writing():  # so that one process writes the file at a time
                places, texts = self.forget_log.read()
                every = dict.fromkeys([*texts, *self.forgotten_texts.digests()])
                self.forget_log.write([*places, *missing], every)

    def agree(self) -> None:
        """
        Forget the documents that the log names, erase the bytes of those that it lacks, and complete it.

        Raises:
            VaultError: possibly only a part was done; the call can be repeated.
        """
        places, texts = self.forget_log.read()
        lost = {*texts} - {*self.forgotten_texts.digests()}
        known = {place: self.documents.at(place.collection, place.path) for place in places}
        waiting = {
            place: document
            for place, document in known.items()
            if document is None or document.inactive is not InactiveReason.FORGOTTEN
        }
        if waiting or lost:
            with self.transactions.writing():
                self.forgotten_texts.restore(lost)
                for place, document in waiting.items():
                    empty = document_without_file(place.collection, place.path, "", "", place.at, place.at)
                    number = document.id if document else self.documents.save(empty, "", ())
                    self.publisher.withdraw([number], InactiveReason.FORGOTTEN)
                    self.acts.add([ActEntry(number, Act.FORGET, "forget record", place.at)])
        # What cannot be erased now stays unwritten for the next time.
        if (waiting or any(self._lacking())) and not _failure(self.storage.scrub):
            self.complete()

    def warnings(self) -> list[str]:
        """Return a sentence if forgotten documents may come back because the log lacks some."""
        lacks = f"{self.forget_log.location} lacks some of the forgotten notes, which may come back if the vault is lost."
        return [f"{lacks} Run: clawmem update"] if any(self._lacking()) else []

    def _lacking(self) -> tuple[list[ForgottenPlace], bool]:
        """Return the forgotten documents that the log lacks, and whether it lacks forgotten texts."""
        places, texts = self.forget_log.read()
        written = {(place.collection, place.path) for place in places}
        missing = [
            ForgottenPlace(document.collection, document.path, document.modified_at)
            for document in self.documents.latest(active=False)
            if document.inactive is InactiveReason.FORGOTTEN
            and (document.collection, document.path) not in written
        ]
        return missing, not {*texts}.issuperset(self.forgotten_texts.digests())
