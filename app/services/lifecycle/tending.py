"""Pins and snoozes, who set them and why, and how any act is taken back."""

from __future__ import annotations

import re

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.ports.acts import Act, ActEntry
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

DAY_MS = 86_400_000
_DAYS = re.compile(r"(\d{1,5})d")
FOR_GOOD = frozenset({Act.FORGET, Act.PURGE})


class Tending:
    """Changes how a document is treated, never what it says; what is so already is not done again."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def pin(self, document: Document, by: str, why: str = "") -> bool:
        """Let a document come before others that fit as well; whether that is new."""
        return self._pinned(document, True, by, why)

    def unpin(self, document: Document, by: str, why: str = "") -> bool:
        """Take back a pin; whether there was one. One that the note itself asks for stays."""
        return self._pinned(document, False, by, why)

    def snooze(self, document: Document, until: str, by: str, why: str = "") -> str:
        """
        Keep a document out of what is surfaced until then, as `read_until` gives it; searches still find it.

        Returns:
            Until when it is.
        """
        if until != document.snoozed_until:
            self._snoozed(document, Act.SNOOZE, until, by, why)
        return until

    def unsnooze(self, document: Document, by: str, why: str = "") -> bool:
        """Let a document be surfaced again; whether it was kept out."""
        if document.snoozed_until is None:
            return False
        self._snoozed(document, Act.UNSNOOZE, None, by, why)
        return True

    def read_until(self, text: str) -> str:
        """
        Return the moment that *text* names: a date, a moment, or a number of days from now such as ``30d``.

        Raises:
            InvalidInput: neither, or a moment that is past.
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
        Take back one act, by another that is written down as well; which one was taken back.

        Raises:
            NotFound: no such act.
            InvalidInput: ``NOT_UNDOABLE``: what was forgotten is gone; or something was done to the document since.
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
        with self._vault.writing():
            self._vault.documents.pin(document.id, pinned)
            act = Act.PIN if pinned else Act.UNPIN
            self._vault.acts.add([ActEntry(document.id, act, by, self._now(), why)])
        return True

    def _snoozed(self, document: Document, act: Act, until: str | None, by: str, why: str) -> None:
        before = document.snoozed_until or ""
        with self._vault.writing():
            self._vault.documents.snooze(document.id, until)
            self._vault.acts.add([ActEntry(document.id, act, by, self._now(), why, before)])

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())
