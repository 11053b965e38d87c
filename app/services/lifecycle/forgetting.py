"""Permanent forgetting: the text of a document is erased from the records, all indexes, all caches and the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.lifecycle.derived import DerivedMemories, derived_documents
from clawmem.app.services.progress import Progress
from clawmem.app.services.retrieval.receipts import unpack_if_readable
from clawmem.domain.documents.identity import DOCID_LENGTH
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.lifecycle.marks import (
    identifying_words,
    is_earlier_version,
    is_recognisable,
    sentences_of,
)
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError
from clawmem.ports.journal import Act, ActEntry
from clawmem.ports.records import Document, Grain, InactiveReason, LexicalQuery, Term
from clawmem.ports.vault import Vault

Note = Callable[[Sequence[Document], str], object]

PART = (
    200  # documents of a transaction that forgets many; each part looks at every document that is not served
)
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

    ``left`` says why their bytes may remain in free space, and is empty when none remain. ``rebuilt`` are derived
    memories that were written again without them.
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
    note: Note = lambda documents, at: None

    def __call__(
        self, documents: Sequence[Document], by: str, why: str = "", act: Act = Act.FORGET
    ) -> ForgetReport:
        """
        Forget *documents*, served or archived, and erase their bytes from the vault where possible.

        Their paths stay in the records, so that neither their files nor other files with the same text are indexed
        again. Earlier versions and locations of them are forgotten as well, other served notes with the same text are
        not. Memories derived from them are rebuilt without them, or forgotten as well.

        Raises:
            VaultError: nothing was forgotten.
        """
        report = self._forget(documents, by, why, act)
        return _joined([report], self.scrub() if documents else "")

    def in_parts(
        self, documents: Sequence[Document], by: str, why: str, progress: Progress = lambda done, total: None
    ) -> ForgetReport:
        """
        Forget many *documents* as a call does, in transactions of `PART` documents each.

        Raises:
            VaultError, KeyboardInterrupt: the parts before are forgotten; a call with the rest of *documents* erases
                their bytes too.
        """
        parts: list[ForgetReport] = []
        gone: set[int] = set()
        for start in range(0, len(documents), PART):
            part = [note for note in documents[start : start + PART] if note.id not in gone]
            parts.append(self._forget(part, by, why, Act.FORGET))
            gone |= {note.id for note in parts[-1].documents}
            progress(min(start + PART, len(documents)), len(documents))
        return _joined(parts, self.scrub())

    def _forget(self, documents: Sequence[Document], by: str, why: str, act: Act) -> ForgetReport:
        """Forget *documents*, and leave their bytes in free space."""
        if not documents:
            return ForgetReport(())
        sources = self._with_replaced([*documents, *self._earlier(documents)])
        bodies = {self.vault.documents.body(note.id) or "" for note in sources}
        plan = self.derived.plan(sources)
        every = [*sources, *plan.removed]
        ids = [document.id for document in every]
        traces = self._traces(every, plan.rebuilt)
        because, now = f"derived from {documents[0].display_path}", iso_utc(self.clock.now_ms())
        with self.vault.transactions.writing():
            self.derived.apply(plan)
            self.vault.forgotten_texts.add(filter(is_recognisable, bodies))
            self.publisher.withdraw(ids, InactiveReason.FORGOTTEN)
            for removed, reason in ((sources, why), (plan.removed, because)):
                self.vault.acts.add(
                    ActEntry(note.id, act, by, now, reason, note.hash[:DOCID_LENGTH]) for note in removed
                )
        merged = [number for members in plan.merged.values() for number in members]
        traces = self._narrowed(traces, [*(note.id for note in plan.rebuilt), *plan.released, *merged])
        not_noted = _failure(lambda: self.note(every, now))  # the next update repeats it
        not_cleared = _failure(lambda: self._clear(frozenset(ids), traces.words))
        left = " ".join(filter(None, (not_noted, not_cleared)))
        return ForgetReport(tuple(every), traces, left, plan.rebuilt)

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

    def _earlier(self, documents: Sequence[Document]) -> list[Document]:
        """
        Return the documents, not served any more, that are *documents* at another place or in an earlier version.

        They have the same body, or the same title and, their file being gone, half of the same sentences.
        """
        hashes = {document.hash for document in documents if document.body_length}
        titled = {document.title.casefold(): self._text(document) for document in documents}

        def is_earlier(document: Document) -> bool:
            if document.hash in hashes:
                return document.inactive is not InactiveReason.FORGOTTEN
            text = titled.get(document.title.casefold(), "")
            return (
                bool(text)
                and document.inactive is InactiveReason.REMOVED
                and is_earlier_version(self.vault.documents.body(document.id) or "", text)
            )

        return [*filter(is_earlier, self.vault.documents.latest(active=False))]

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

    def _clear(self, ids: frozenset[int], marks: Sequence[str]) -> None:
        """Clear what stands outside of the transaction."""
        receipts = self.vault.receipts.latest(_EVERY)
        self.vault.receipts.forget(
            receipt.id for receipt in receipts if tells_of(receipt.content, ids, marks)
        )
        self.vault.answers.trim(_LAST_DAY)  # all of them, as their questions are unknown

    def _traces(self, documents: Sequence[Document], rebuilt: Sequence[Document]) -> Traces:
        """Return the traces of *documents*. The documents to be *rebuilt* may still repeat these traces."""
        texts = [self._text(document) for document in documents]
        concerned = [*documents, *rebuilt]
        served = [set(words(self._text(note))) for note in concerned if note.inactive is None]
        # A deduction cites the paths of its sources, which remain, so the hash in such a path is no trace.
        away = self.vault.documents.latest(active=False)
        places = frozenset(
            (
                *(f"{collection}/{path}" for collection, path in self.vault.documents.places()),
                *(document.display_path for document in away),
            )
        )

        def is_theirs(word: str) -> bool:
            """Whether the index, which contains served documents, has *word* from *served* alone."""
            own = sum(word.casefold() in words_of_one for words_of_one in served)
            return self.vault.lexical.holding(Term(word), Grain.DOCUMENT) <= own

        sentences = [sentence for text in texts for sentence in sentences_of(text, places)]
        elsewhere = {sentence: self._said_elsewhere(sentence, concerned) for sentence in sentences}
        return Traces(
            tuple(identifying_words(texts, " ".join(places), is_theirs)),
            tuple(sentence for sentence, paths in elsewhere.items() if not paths),
            tuple(sorted({path for paths in elsewhere.values() for path in paths})),
        )

    def _narrowed(self, traces: Traces, kept: Iterable[int]) -> Traces:
        """
        Return *traces* without the words and sentences of *kept* documents, and without words of unserved documents.

        Unserved documents that contain one of the sentences are added.
        """
        marks, sentences, said_in = list(traces.words), list(traces.sentences), set(traces.said_in)
        kept_in: list[Document] = []
        for document in self.vault.documents.many(kept).values():
            text = self._text(document)
            marks = _unused(marks, text)
            if repeated := {sentence for sentence in sentences if sentence in text}:
                sentences = [sentence for sentence in sentences if sentence not in repeated]
                said_in.add(document.display_path)
        for document in self.vault.documents.latest(active=False):
            text = self._text(document)
            marks = _unused(marks, text)
            if any(sentence in text for sentence in sentences):
                kept_in.append(document)
        return Traces(tuple(marks), tuple(sentences), tuple(sorted(said_in)), tuple(kept_in))

    def _said_elsewhere(self, sentence: str, documents: Sequence[Document]) -> set[str]:
        """Return the paths of served documents other than *documents* that contain *sentence*."""
        phrase = LexicalQuery((Term(" ".join(words(sentence))),))
        hits = self.vault.lexical.search(phrase, Grain.DOCUMENT, len(documents) + _OTHERS)
        others = {hit.key.document_id for hit in hits} - {document.id for document in documents}
        known = self.vault.documents.many(others).values()
        return {document.display_path for document in known if document.inactive is None}

    def _text(self, document: Document) -> str:
        return f"{document.title}\n{self.vault.documents.body(document.id) or ''}"


def _failure(step: Callable[[], object]) -> str:
    """Run *step*; return why it failed, empty on success."""
    try:
        step()
    except ClawmemError as error:
        return str(error)
    return ""


def _unused(marks: Sequence[str], text: str) -> list[str]:
    own = set(words(text))
    return [mark for mark in marks if mark.casefold() not in own]


def _joined(parts: Sequence[ForgetReport], left: str) -> ForgetReport:
    """Return the report of several *parts*; documents that a later part forgot hold no traces of an earlier one."""
    every = {note.id: note for part in parts for note in part.documents}
    paths = {note.display_path for note in every.values()}
    traces = Traces(
        tuple(dict.fromkeys(word for part in parts for word in part.traces.words)),
        tuple(dict.fromkeys(text for part in parts for text in part.traces.sentences)),
        tuple(sorted({path for part in parts for path in part.traces.said_in} - paths)),
        tuple(
            {note.id: note for part in parts for note in part.traces.kept_in if note.id not in every}.values()
        ),
    )
    rebuilt = {note.id: note for part in parts for note in part.rebuilt if note.id not in every}
    reasons = dict.fromkeys(filter(None, (*(part.left for part in parts), left)))
    return ForgetReport(tuple(every.values()), traces, " ".join(reasons), tuple(rebuilt.values()))


def tells_of(content: bytes, ids: frozenset[int], marks: Sequence[str]) -> bool:
    """Whether a receipt names one of *ids* or contains one of *marks*; True if it is unreadable."""
    receipt = unpack_if_readable(content)
    if receipt is None:
        return True
    named = {item.document_id for item in receipt.items}
    named |= {drop.document_id for stage in receipt.stages for drop in stage.drops}
    question = set(words(receipt.question))
    return not ids.isdisjoint(named) or any(mark.casefold() in question for mark in marks)
