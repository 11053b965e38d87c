"""Permanent forgetting: the text of a document is erased from the records, all indexes, all caches and the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.lifecycle.derived import DerivedMemories, derived_documents
from clawmem.app.services.progress import Progress
from clawmem.app.services.retrieval.receipts import unpack
from clawmem.domain.documents.identity import DOCID_LENGTH, document_without_file
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.lifecycle.marks import (
    identifying_words,
    is_earlier_version,
    is_recognisable,
    sentences_of,
)
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.journal import Act, ActEntry, ActJournal, ForgetLog, ForgottenPlace
from clawmem.ports.records import Document, Grain, InactiveReason, LexicalQuery, Term
from clawmem.ports.storage import Transactions
from clawmem.ports.vault import Vault

PART = 200  # documents per transaction; each part looks at every document that is not served
BY = "forget record"  # author of the acts in a recreated vault
_OTHERS = 10  # other documents that contain the same sentence
_EVERY = 1_000_000  # receipts; a month holds fewer
_LAST_DAY = "9999-12-31T23:59:59.999Z"


class Traces(NamedTuple):
    """
    Text that would reveal forgotten documents: ``words`` and ``sentences`` that no other document contains.

    ``said_in`` are the paths of served documents that contain other sentences of them, ``kept_in`` the documents that
    are not served and whose stored text contains one of ``sentences``.
    """

    words: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    said_in: tuple[str, ...] = ()
    kept_in: tuple[Document, ...] = ()


class ForgetReport(NamedTuple):
    """
    Forgotten documents, derived ones included.

    ``left`` says why their bytes may remain in free space, and is empty when none remain. ``rebuilt`` are handoffs
    that were written again without them.
    """

    documents: tuple[Document, ...]
    traces: Traces = Traces()
    left: str = ""
    rebuilt: tuple[Document, ...] = ()


class ForgetPreview(NamedTuple):
    """A document to forget: its docid without ``#``, the bytes of its text, its age, and its derived documents."""

    document: Document
    docid: str
    size: int
    age_days: float
    derived: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Forgetting:
    """
    Forgets documents permanently; none of them can be restored.

    Args:
        note: Records outside the vault that documents were forgotten, and when.
    """

    vault: Vault
    publisher: Publisher
    derived: DerivedMemories
    clock: Clock
    note: Callable[[Sequence[Document], str], object] = lambda documents, at: None

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
        again. Earlier versions and locations of them are forgotten as well, other served notes with the same text are
        not. Memories derived from them are forgotten as well; handoffs are written again without them. Each transaction forgets `PART`
        documents.

        Raises:
            VaultError, KeyboardInterrupt: the parts before are forgotten; a call with the rest of *documents* erases
                their bytes too.
        """
        texts: dict[int, str] = {}
        forgotten: dict[int, Document] = {}
        rebuilt: dict[int, Document] = {}
        left: list[str] = []
        traces = Traces()
        try:
            for start in range(0, len(documents), PART):
                part = [note for note in documents[start : start + PART] if note.id not in forgotten]
                left.append(self._forget(part, by, why, act, forgotten, rebuilt, texts))
                progress(min(start + PART, len(documents)), len(documents))
        finally:
            if forgotten:
                traces = self._traces(list(texts.values()), forgotten.values())
                left.append(_failure(lambda: self._clear(forgotten.keys(), traces.words)))
        left.append(self.scrub() if forgotten else "")
        reasons = " ".join(dict.fromkeys(filter(None, left)))
        again = tuple(note for note in rebuilt.values() if note.id not in forgotten)
        return ForgetReport(tuple(forgotten.values()), traces, reasons, again)

    def scrub(self) -> str:
        """Erase the bytes of documents forgotten earlier; return why that failed, empty on success."""
        return _failure(self.vault.storage.scrub)

    def preview(self, document: Document) -> ForgetPreview:
        """Describe *document* and the memories derived from it; nothing is changed."""
        now = self.clock.now_ms()
        written = parse_iso(document.authored_at)
        return ForgetPreview(
            document,
            docids(self.vault.documents, [document])[document.id],
            len((self.vault.documents.body(document.id) or "").encode("utf-8", "surrogatepass")),
            max(0.0, (now - (now if written is None else written)) / DAY_MS),
            tuple(derived_documents(self.vault, [document.id])),
        )

    def _forget(
        self,
        documents: Sequence[Document],
        by: str,
        why: str,
        act: Act,
        forgotten: dict[int, Document],
        rebuilt: dict[int, Document],
        texts: dict[int, str],
    ) -> str:
        """
        Forget *documents*, and leave their bytes in free space; return why they could not be recorded outside.

        Add them to *forgotten*, their texts to *texts*, and derived memories without them to *rebuilt*.
        """
        sources = self._with_replaced([*documents, *self._earlier(documents)])
        bodies = {self.vault.documents.body(note.id) or "" for note in sources}
        plan = self.derived.plan(sources)
        every = {note.id: note for note in (*sources, *plan.removed)}
        texts |= {number: self._text(document) for number, document in every.items()}
        now = iso_utc(self.clock.now_ms())
        with self.vault.transactions.writing():
            self.derived.apply(plan)
            self.vault.forgotten_texts.add(filter(is_recognisable, bodies))
            self.publisher.withdraw([*every], InactiveReason.FORGOTTEN)
            for document in every.values():
                reason = why
                if document in plan.removed:
                    reason = f"derived from {documents[0].display_path}"
                docid = document.hash[:DOCID_LENGTH]
                self.vault.acts.add([ActEntry(document.id, act, by, now, reason, docid)])
        forgotten |= every
        rebuilt |= {document.id: document for document, _ in plan.handoffs}
        return _failure(lambda: self.note([*every.values()], now))  # the next update repeats it

    def _earlier(self, documents: Sequence[Document]) -> list[Document]:
        """
        Return the documents, not served any more, that are *documents* at another place or in an earlier version.

        They have the same body, or the same title and, their file being gone, half of the same sentences.
        """
        hashes = {document.hash for document in documents if document.body_length}
        titled = {document.title.casefold(): self._text(document) for document in documents}
        earlier: list[Document] = []
        for document in self.vault.documents.latest(active=False):
            text = titled.get(document.title.casefold(), "")
            if document.hash in hashes:
                is_earlier = document.inactive is not InactiveReason.FORGOTTEN
            else:
                body = self.vault.documents.body(document.id) or "" if text else ""
                is_earlier = document.inactive is InactiveReason.REMOVED and is_earlier_version(body, text)
            earlier += [document] if is_earlier else []
        return earlier

    def _with_replaced(self, documents: Sequence[Document]) -> list[Document]:
        """Return *documents* and all documents that they replaced: a merged document repeats those it replaced."""
        every: dict[int, Document] = {}
        waiting = list(documents)
        while waiting:
            document = waiting.pop()
            if document.id in every or (every and document.inactive is InactiveReason.FORGOTTEN):
                continue
            every[document.id] = document
            entries = self.vault.journal.replacements(document.id)
            replaced = [i for entry in entries if entry.document_id == document.id for i in entry.replaced]
            waiting += self.vault.documents.many(replaced).values()
        return list(every.values())

    def _clear(self, ids: Iterable[int], marks: Sequence[str]) -> None:
        """Clear what stands outside of the transaction."""
        gone, receipts = frozenset(ids), self.vault.receipts.latest(_EVERY)
        self.vault.receipts.forget(
            receipt.id for receipt in receipts if names_forgotten(receipt.content, gone, marks)
        )
        self.vault.answers.trim(_LAST_DAY)  # all of them, as their questions are unknown

    def _traces(self, texts: Sequence[str], forgotten: Iterable[Document]) -> Traces:
        """Return the words and sentences of the *texts* of *forgotten* documents, without those of other documents."""
        away = self.vault.documents.latest(active=False)
        # A deduction cites the paths of its sources, which remain, so the hash in such a path is no trace.
        places = {f"{collection}/{path}" for collection, path in self.vault.documents.places()}
        places |= {document.display_path for document in away}
        unserved_words = {word for document in away for word in words(self._text(document))}
        ids = {document.id for document in forgotten}

        def served_with(phrase: str) -> set[str]:
            """Return the paths of served documents that contain *phrase*; an external index may lag."""
            query = LexicalQuery((Term(phrase),))
            hits = self.vault.lexical.search(query, Grain.DOCUMENT, len(ids) + _OTHERS)
            known = self.vault.documents.many({hit.key.document_id for hit in hits} - ids).values()
            return {document.display_path for document in known if document.inactive is None}

        def is_theirs(word: str) -> bool:
            return word.casefold() not in unserved_words and not served_with(word)

        paths = frozenset(places)
        elsewhere = {
            sentence: served_with(" ".join(words(sentence)))
            for text in texts
            for sentence in sentences_of(text, paths)
        }
        sentences = [sentence for sentence, served in elsewhere.items() if not served]
        kept_in: list[Document] = []
        for document in away if sentences else ():
            text = self._text(document)
            if any(sentence in text for sentence in sentences):
                kept_in.append(document)
        return Traces(
            tuple(identifying_words(texts, " ".join(places), is_theirs)),
            tuple(sentences),
            tuple(sorted(set().union(*elsewhere.values()))),
            tuple(kept_in),
        )

    def _text(self, document: Document) -> str:
        return f"{document.title}\n{self.vault.documents.body(document.id) or ''}"


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
    named = {item.document_id for item in receipt.items}
    named |= {drop.document_id for stage in receipt.stages for drop in stage.drops}
    question = set(words(receipt.question))
    return not ids.isdisjoint(named) or any(mark.casefold() in question for mark in marks)


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
        self._add([ForgottenPlace(document.collection, document.path, at) for document in documents])

    def agree(self) -> int:
        """
        Forget the documents that the log names, and complete the log; return the number of newly forgotten documents.

        Raises:
            VaultError: possibly only a part was done; the call can be repeated.
        """
        known = {place: self.documents.at(place.collection, place.path) for place in self.forget_log.read()}
        waiting = {
            place: document
            for place, document in known.items()
            if document is None or document.inactive is not InactiveReason.FORGOTTEN
        }
        if waiting:
            with self.transactions.writing():
                for place, document in waiting.items():
                    empty = document_without_file(place.collection, place.path, "", "", place.at, place.at)
                    number = document.id if document else self.documents.save(empty, "", ())
                    self.publisher.withdraw([number], InactiveReason.FORGOTTEN)
                    self.acts.add([ActEntry(number, Act.FORGET, BY, place.at)])
        self._add(self._missing())
        return len(waiting)

    def warnings(self) -> list[str]:
        """Return a sentence if forgotten documents may come back because the log lacks some."""
        lacks = f"{self.forget_log.location} lacks some of the forgotten notes, which may come back if the vault is lost."
        return [f"{lacks} Run: clawmem update"] if self._missing() else []

    def _missing(self) -> list[ForgottenPlace]:
        """Return the forgotten documents that the log lacks."""
        written = {(place.collection, place.path) for place in self.forget_log.read()}
        return [
            ForgottenPlace(document.collection, document.path, document.modified_at)
            for document in self.documents.latest(active=False)
            if document.inactive is InactiveReason.FORGOTTEN
            and (document.collection, document.path) not in written
        ]

    def _add(self, places: Sequence[ForgottenPlace]) -> None:
        if places:
            with self.transactions.writing():  # so that one process writes the file at a time
                self.forget_log.write([*self.forget_log.read(), *places])
