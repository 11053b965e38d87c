"""Pins and snoozes with author and reason, and undo of lifecycle acts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.journal import Act, ActEntry, ActJournal
from clawmem.ports.records import Document
from clawmem.ports.storage import Transactions

_DAYS = re.compile(r"(\d{1,5})d")
FOR_GOOD = frozenset({Act.FORGET, Act.PURGE})


@dataclass(frozen=True)
class RecordedAct:
    """An act: a change of a document, with its author, time and reason."""

    id: int
    act: Act
    by: str
    at: str
    why: str
    file: str | None = None  # None: gone


@dataclass(frozen=True, slots=True)
class LifecycleActions:
    """Changes the state of documents, never their text. A change to the current state is ignored."""

    documents: DocumentStore
    acts: ActJournal
    transactions: Transactions
    archiving: Archiving
    clock: Clock

    def pin(self, document: Document, by: str, why: str = "", *, pinned: bool = True) -> bool:
        """
        Pin *document*, so that it precedes equally good ones, or unpin it; return whether that is new.

        A pin in the front matter of a note stays.
        """
        if document.pinned is pinned:
            return False
        entry = ActEntry(document.id, Act.PIN if pinned else Act.UNPIN, by, self._now(), why)
        with self.transactions.writing():
            self.documents.pin(document.id, pinned)
            self.acts.add([entry])
        return True

    def snooze(self, document: Document, until: str | None, by: str, why: str = "") -> bool:
        """
        Exclude *document* from surfacing until a time, see `read_until`; ``None`` ends the snooze.

        Searches still find the document. Return whether that is new.
        """
        if until == document.snoozed_until:
            return False
        act = Act.UNSNOOZE if until is None else Act.SNOOZE
        entry = ActEntry(document.id, act, by, self._now(), why, document.snoozed_until or "")
        with self.transactions.writing():
            self.documents.snooze(document.id, until)
            self.acts.add([entry])
        return True

    def read_until(self, text: str) -> str:
        """
        Return the time that *text* names: a date, a time, or a number of days from now such as ``30d``.

        Raises:
            InvalidInput: *text* is none of these, or the time is not in the future.
        """
        now = self.clock.now_ms()
        days = _DAYS.fullmatch(text.strip())
        until = now + int(days[1]) * DAY_MS if days else parse_iso(text)
        if until is None:
            raise InvalidInput(
                "INVALID_INPUT", f"{text!r} is no date. Write one as 2026-01-31, or days from now as 30d."
            )
        if until <= now:
            raise InvalidInput("OUT_OF_BOUNDS", "A note is snoozed until a day that is still to come.")
        return iso_utc(until)

    def latest(self, limit: int) -> list[RecordedAct]:
        """Return the latest acts, the last one first."""
        entries = self.acts.latest(limit)
        known = self.documents.many({entry.document_id for entry in entries})
        return [_recorded(entry, known.get(entry.document_id)) for entry in entries]

    def undo(self, act_id: int, by: str) -> RecordedAct:
        """
        Undo one act by a recorded counter-act; return the act that was undone.

        Raises:
            NotFound: no such act.
            InvalidInput: ``NOT_UNDOABLE``: the document is forgotten, or a later act changed it.
        """
        entry = self.acts.get(act_id)
        if entry is None:
            raise NotFound("act", str(act_id))
        [last] = self.acts.latest(1, entry.document_id)
        document = self.documents.get(entry.document_id)
        if document is None or FOR_GOOD & {entry.act, last.act}:
            raise InvalidInput("NOT_UNDOABLE", "What was forgotten is gone and cannot be brought back.")
        if last.id != entry.id:
            raise InvalidInput(
                "NOT_UNDOABLE",
                f"{document.display_path} has been changed since, by act {last.id} ({last.act}). Take that back first.",
            )
        why = f"takes back act {act_id}"
        if entry.act in (Act.PIN, Act.UNPIN):
            self.pin(document, by, why, pinned=entry.act is Act.UNPIN)
        elif entry.act is Act.ARCHIVE:
            self.archiving.restore([document.id], by, why)
        elif entry.act is Act.RESTORE:
            self.archiving.archive([document], by, lambda document: why)
        else:
            self.snooze(document, entry.before or None, by, why)
        return _recorded(entry, document)

    def _now(self) -> str:
        return iso_utc(self.clock.now_ms())


def _recorded(entry: ActEntry, document: Document | None) -> RecordedAct:
    file = document.display_path if document else None
    return RecordedAct(entry.id, entry.act, entry.by, entry.at, entry.why, file)
