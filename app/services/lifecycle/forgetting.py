"""Permanent forgetting: the text of a document is erased from the records, all indexes, all caches and the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from clawmem.app.services.briefing.profile import Profile
from clawmem.app.services.documents.listing import docids
from clawmem.app.services.documents.lookup import Lookup
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.lifecycle.derived import DerivedMemories, derived_documents
from clawmem.app.services.progress import Progress
from clawmem.app.services.retrieval.receipts import Receipt, unpack_if_readable
from clawmem.domain.documents.identity import DOCID_LENGTH
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.documents.tokens import words
from clawmem.domain.lifecycle.marks import (
    identifying_words,
    is_earlier_version,
    is_recognisable,
    sentences_of,
)
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, InvalidInput, NotServed
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


class Forgetting:
    """
    Forgets documents permanently; none of them can be restored.

    Args:
        note: Records outside the vault that documents were forgotten, and when.
    """

    def __init__(
        self, vault: Vault, clock: Clock, profile: Profile, note: Note = lambda documents, at: None
    ) -> None:
        self._vault = vault
        self._publisher = Publisher(vault)
        self._note = note
        self._clock = clock
        self._profile = profile
        self._derived = DerivedMemories(vault, clock)

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
            part = [one for one in documents[start : start + PART] if one.id not in gone]
            parts.append(self._forget(part, by, why, Act.FORGET))
            gone |= {one.id for one in parts[-1].documents}
            progress(min(start + PART, len(documents)), len(documents))
        return _joined(parts, self.scrub())

    def _forget(self, documents: Sequence[Document], by: str, why: str, act: Act) -> ForgetReport:
        """Forget *documents*, and leave their bytes in free space."""
        if not documents:
            return ForgetReport(())
        asked = self._with_replaced([*documents, *self._earlier(documents)])
        bodies = {one.hash: self._vault.documents.body(one.id) or "" for one in asked}
        plan = self._derived.plan(asked)
        every = [*asked, *plan.removed]
        ids = [one.id for one in every]
        traces = self._traces(every, [*plan.rebuilt, *([plan.page] if plan.page else [])])
        because = f"derived from {documents[0].display_path}"
        with self._vault.transactions.writing():
            self._profile.drop([*ids, *(one.id for one in plan.rebuilt)])
            self._derived.apply(plan)
            self._vault.forgotten_texts.add(hash for hash, body in bodies.items() if is_recognisable(body))
            self._publisher.withdraw(ids, InactiveReason.FORGOTTEN)
            for removed, reason in ((asked, why), (plan.removed, because)):
                self._vault.acts.add(
                    ActEntry(one.id, act, by, self._now(), reason, one.hash[:DOCID_LENGTH]) for one in removed
                )
        merged = [number for members in plan.merged.values() for number in members]
        traces = self._without(traces, [*(one.id for one in plan.rebuilt), *plan.released, *merged])
        traces = self._kept_away(traces)
        left = " ".join(filter(None, (self._noted(every), self._cleared(ids, traces.words))))
        return ForgetReport(tuple(every), traces, left, plan.rebuilt)

    def scrub(self) -> str:
        """Erase the bytes of documents forgotten earlier; return why that failed, empty on success."""
        try:
            self._vault.storage.scrub()
        except ClawmemError as error:
            return str(error)
        return ""

    def _earlier(self, documents: Sequence[Document]) -> list[Document]:
        """
        Return the documents, not served any more, that are *documents* at another place or in an earlier version.

        They have the same body, or the same title and, their file being gone, half of the same sentences.
        """
        hashes = {one.hash for one in documents if one.body_length}
        titled = {one.title.casefold(): self._text(one) for one in documents}
        return [
            one
            for one in self._vault.documents.latest(active=False)
            if one.inactive is not InactiveReason.FORGOTTEN
            and (one.hash in hashes or self._is_earlier(one, titled.get(one.title.casefold(), "")))
        ]

    def _is_earlier(self, document: Document, text: str) -> bool:
        if document.inactive is not InactiveReason.REMOVED or not text:
            return False
        return is_earlier_version(self._vault.documents.body(document.id) or "", text)

    def _with_replaced(self, documents: Sequence[Document]) -> list[Document]:
        """Return *documents* and all documents that they replaced: a merged document repeats those it replaced."""
        every: dict[int, Document] = {}
        waiting = list(documents)
        while waiting:
            document = waiting.pop()
            if document.id in every or (every and document.inactive is InactiveReason.FORGOTTEN):
                continue
            every[document.id] = document
            standing = self._vault.journal.replacements(document.id)
            replaced = [i for one in standing if one.document_id == document.id for i in one.replaced]
            waiting += self._vault.documents.many(replaced).values()
        return list(every.values())

    def _noted(self, documents: Sequence[Document]) -> str:
        """Record *documents* outside the vault; return why that failed, which the next update repeats."""
        try:
            self._note(documents, self._now())
        except ClawmemError as error:
            return str(error)
        return ""

    def _cleared(self, ids: Sequence[int], marks: Sequence[str]) -> str:
        """Clear data outside the transaction; return why that failed, empty on success."""
        try:
            self._profile.refresh_dropped()
            self._vault.receipts.forget(self._receipts(frozenset(ids), marks))
            self._vault.answers.trim(_LAST_DAY)  # all of them, as their questions are unknown
        except ClawmemError as error:
            return str(error)
        return ""

    def _receipts(self, ids: frozenset[int], marks: Sequence[str]) -> list[int]:
        return [one.id for one in self._vault.receipts.latest(_EVERY) if tells_of(one.content, ids, marks)]

    def _traces(self, documents: Sequence[Document], rebuilt: Sequence[Document]) -> Traces:
        """Return the traces of *documents*. The documents to be *rebuilt* may still repeat these traces."""
        texts = [self._text(one) for one in documents]
        concerned = [*documents, *rebuilt]
        served = [set(words(self._text(one))) for one in concerned if one.inactive is None]
        # A deduction cites the paths of its sources, which remain, so the hash in such a path is no trace.
        places = self._places()
        every = [text for one in texts for text in sentences_of(one, places)]
        said = {text: self._said_elsewhere(text, concerned) for text in every}
        return Traces(
            tuple(identifying_words(texts, " ".join(places), lambda word: self._is_theirs(word, served))),
            tuple(text for text, others in said.items() if not others),
            tuple(sorted({path for others in said.values() for path in others})),
        )

    def _without(self, traces: Traces, kept: Iterable[int]) -> Traces:
        """Return *traces* without the words and sentences of *kept* documents."""
        marks, sentences, said_in = set(traces.words), list(traces.sentences), set(traces.said_in)
        for document in self._vault.documents.many(kept).values():
            text = self._text(document)
            own = set(words(text))
            marks = {word for word in marks if word.casefold() not in own}
            repeated = {one for one in sentences if one in text}
            sentences = [one for one in sentences if one not in repeated]
            said_in |= {document.display_path} if repeated else set()
        found = tuple(one for one in traces.words if one in marks)
        return Traces(found, tuple(sentences), tuple(sorted(said_in)))

    def _kept_away(self, traces: Traces) -> Traces:
        """Return *traces* with unserved documents that contain a sentence, and without words of unserved documents."""
        marks, kept_in = set(traces.words), []
        for document in self._vault.documents.latest(active=False):
            text = self._text(document)
            own = set(words(text))
            marks = {word for word in marks if word.casefold() not in own}
            if any(sentence in text for sentence in traces.sentences):
                kept_in.append(document)
        found = tuple(one for one in traces.words if one in marks)
        return traces._replace(words=found, kept_in=tuple(kept_in))

    def _places(self) -> frozenset[str]:
        """Return the place of every document, forgotten ones included."""
        away = self._vault.documents.latest(active=False)
        served = (f"{collection}/{path}" for collection, path in self._vault.documents.places())
        return frozenset((*served, *(one.display_path for one in away)))

    def _is_theirs(self, word: str, served: Sequence[set[str]]) -> bool:
        """Whether the index, which contains served documents, has *word* from *served* alone."""
        own = sum(word.casefold() in one for one in served)
        return self._vault.lexical.holding(Term(word), Grain.DOCUMENT) <= own

    def _said_elsewhere(self, text: str, documents: Sequence[Document]) -> set[str]:
        phrase = LexicalQuery((Term(" ".join(words(text))),))
        hits = self._vault.lexical.search(phrase, Grain.DOCUMENT, len(documents) + _OTHERS)
        found = {hit.key.document_id for hit in hits} - {one.id for one in documents}
        others = self._vault.documents.many(found).values()
        return {one.display_path for one in others if one.inactive is None}

    def _text(self, document: Document) -> str:
        return f"{document.title}\n{self._vault.documents.body(document.id) or ''}"

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())


def _joined(parts: Sequence[ForgetReport], left: str) -> ForgetReport:
    """Return the report of several *parts*; documents that a later part forgot hold no traces of an earlier one."""
    every = {one.id: one for part in parts for one in part.documents}
    paths = {one.display_path for one in every.values()}
    traces = Traces(
        tuple(dict.fromkeys(word for part in parts for word in part.traces.words)),
        tuple(dict.fromkeys(text for part in parts for text in part.traces.sentences)),
        tuple(sorted({path for part in parts for path in part.traces.said_in} - paths)),
        tuple({one.id: one for part in parts for one in part.traces.kept_in if one.id not in every}.values()),
    )
    rebuilt = {one.id: one for part in parts for one in part.rebuilt if one.id not in every}
    reasons = dict.fromkeys(filter(None, (*(part.left for part in parts), left)))
    return ForgetReport(tuple(every.values()), traces, " ".join(reasons), tuple(rebuilt.values()))


def tells_of(content: bytes, ids: frozenset[int], marks: Sequence[str]) -> bool:
    """Whether a receipt names one of *ids* or contains one of *marks*; True if it is unreadable."""
    receipt = unpack_if_readable(content)
    if receipt is None:
        return True
    asked = set(words(receipt.question))
    return not ids.isdisjoint(_named(receipt)) or any(mark.casefold() in asked for mark in marks)


def _named(receipt: Receipt) -> Iterable[int]:
    yield from (item.document_id for item in receipt.items)
    yield from (drop.document_id for stage in receipt.stages for drop in stage.drops)


class ForgetPreview(NamedTuple):
    """A document to forget: its docid without ``#``, the bytes of its text, its age, and its derived documents."""

    document: Document
    docid: str
    size: int
    age_days: float
    derived: tuple[Document, ...]


def already_forgotten(lookup: Lookup, address: str) -> Document | None:
    """Return the document that *address* names where it was forgotten before; ``None`` for anything else."""
    try:
        lookup.forgettable(address)
    except NotServed as error:
        return error.document if error.document.inactive is InactiveReason.FORGOTTEN else None
    except InvalidInput:
        return None
    return None


def preview_forget(vault: Vault, clock: Clock, document: Document) -> ForgetPreview:
    """Describe *document* and the memories derived from it; nothing is changed."""
    now = clock.now_ms()
    written = parse_iso(document.authored_at)
    return ForgetPreview(
        document,
        docids(vault.documents, [document])[document.id],
        len((vault.documents.body(document.id) or "").encode("utf-8", "surrogatepass")),
        max(0.0, (now - (now if written is None else written)) / DAY_MS),
        tuple(derived_documents(vault, [document.id])),
    )
