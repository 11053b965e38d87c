"""Pins and snoozes with author and reason, and undo of lifecycle acts."""

from __future__ import annotations

import re

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.journal import Act, ActEntry
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

_DAYS = re.compile(r"(\d{1,5})d")
FOR_GOOD = frozenset({Act.FORGET, Act.PURGE})


class LifecycleActions:
    """Changes the state of documents, never their text. A change to the current state is ignored."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def pin(self, document: Document, by: str, why: str = "") -> bool:
        """Pin *document*, so that it precedes equally good ones; return whether that is new."""
        return self._pinned(document, True, by, why)

    def unpin(self, document: Document, by: str, why: str = "") -> bool:
        """Unpin *document*; return whether it was pinned. A pin in the front matter of a note stays."""
        return self._pinned(document, False, by, why)

    def snooze(self, document: Document, until: str, by: str, why: str = "") -> str:
        """
        Exclude *document* from surfacing until the time *until*, as `read_until` returns it; searches still find it.

        Returns:
            The end of the snooze.
        """
        if until != document.snoozed_until:
            self._snoozed(document, Act.SNOOZE, until, by, why)
        return until

    def unsnooze(self, document: Document, by: str, why: str = "") -> bool:
        """End the snooze of *document*; return whether it was snoozed."""
        if document.snoozed_until is None:
            return False
        self._snoozed(document, Act.UNSNOOZE, None, by, why)
        return True

    def read_until(self, text: str) -> str:
        """
        Return the time that *text* names: a date, a time, or a number of days from now such as ``30d``.

        Raises:
            InvalidInput: *text* is none of these, or the time is not in the future.
        """
        now = self._clock.now_ms()
        days = _DAYS.fullmatch(text.strip())
        until = now + int(days[1]) * DAY_MS if days else parse_iso(text)
        if until is None:
            raise InvalidInput(
                "INVALID_INPUT", f"{text!r} is no date. Write one as 2026-01-31, or days from now as 30d."
            )
        if until <= now:
            raise InvalidInput("OUT_OF_BOUNDS", "A note is snoozed until a day that is still to come.")
        return iso_utc(until)

    def undo(self, act_id: int, by: str) -> ActEntry:
        """
        Undo one act by a recorded counter-act; return the act that was undone.

        Raises:
            NotFound: no such act.
            InvalidInput: ``NOT_UNDOABLE``: the document is forgotten, or a later act changed it.
        """
        entry = self._vault.acts.get(act_id)
        if entry is None:
            raise NotFound("act", str(act_id))
        document = self._undoable(entry)
        why = f"takes back act {act_id}"
        if entry.act in (Act.PIN, Act.UNPIN):
            self._pinned(document, entry.act is Act.UNPIN, by, why)
        elif entry.act is Act.ARCHIVE:
            Archiving(self._vault, self._clock).restore([document.id], by, why)
        elif entry.act is Act.RESTORE:
            Archiving(self._vault, self._clock).archive([document], by, lambda one: why)
        else:
            back = Act.SNOOZE if entry.before else Act.UNSNOOZE
            self._snoozed(document, back, entry.before or None, by, why)
        return entry

    def _undoable(self, entry: ActEntry) -> Document:
        [last] = self._vault.acts.latest(1, entry.document_id)
        document = self._vault.documents.get(entry.document_id)
        if document is None or FOR_GOOD & {entry.act, last.act}:
            raise InvalidInput("NOT_UNDOABLE", "What was forgotten is gone and cannot be brought back.")
        if last.id != entry.id:
            raise InvalidInput(
                "NOT_UNDOABLE",
                f"{document.display_path} has been changed since, by act {last.id} ({last.act}). Take that back first.",
            )
        return document

    def _pinned(self, document: Document, pinned: bool, by: str, why: str) -> bool:
        if document.pinned is pinned:
            return False
        with self._vault.transactions.writing():
            self._vault.documents.pin(document.id, pinned)
            act = Act.PIN if pinned else Act.UNPIN
            self._vault.acts.add([ActEntry(document.id, act, by, self._now(), why)])
        return True

    def _snoozed(self, document: Document, act: Act, until: str | None, by: str, why: str) -> None:
        before = document.snoozed_until or ""
        with self._vault.transactions.writing():
            self._vault.documents.snooze(document.id, until)
            self._vault.acts.add([ActEntry(document.id, act, by, self._now(), why, before)])

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())
