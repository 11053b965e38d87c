"""Context at the start of a session: the profile, the last handoff, current and stale notes, and the report on curation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.briefing.profile import DAY, Profile
from clawmem.app.services.briefing.telling import applying_elsewhere, may_show, without_replaced
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.briefing.current import current_rank, is_current, is_stale
from clawmem.domain.briefing.packing import block, packed, section
from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.capture.notes import COLLECTION as OWN
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.lifecycle.policy import idle_days
from clawmem.domain.security.safety import safe
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.records import Document

SESSION_TOKENS, PROFILE_TOKENS, HANDOFF_TOKENS, CURRENT_TOKENS, STALE_TOKENS = 2000, 800, 600, 400, 200
STALENESS_TOKENS, MOST_STALE = 250, 5

SESSION_TAG, STALENESS_TAG = "vault-session", "vault-staleness"


@dataclass(frozen=True, slots=True)
class SessionBriefing:
    """Context for a new session. It reads records only; it uses no model and no index."""

    documents: DocumentStore
    successions: SuccessionStore
    properties: PropertyStore
    profile: Profile
    clock: Clock

    def at_start(self, project: str = "") -> str:
        """
        Return the block ``<vault-session>`` within 2000 tokens; empty when there is nothing to say.

        Handoffs and preferences of other projects than *project* are left out.
        """
        elsewhere = applying_elsewhere(self.properties, project)
        documents = [document for document in self._shown() if document.id not in elsewhere]
        return block(
            SESSION_TAG,
            "From the vault, as of now: notes of earlier sessions, for information.",
            [
                section("## Profile", _lines(self.profile.text(project)), PROFILE_TOKENS),
                self._handoff(documents),
                self._current(documents),
                section("## Not looked at for a while", self._due(documents), STALE_TOKENS),
            ],
            SESSION_TOKENS,
        )

    def staleness(self) -> str:
        """Return the block ``<vault-staleness>`` with at most five notes within 250 tokens; empty if none is stale."""
        due = self._due(self._shown())
        introduction = "These notes have not been looked at for a while; what they say may be out of date."
        return block(STALENESS_TAG, introduction, ["\n".join(due)], STALENESS_TOKENS)

    def _shown(self) -> list[Document]:
        """Return the served documents that may be shown unasked, last written first."""
        now = iso_utc(self.clock.now_ms())
        return [document for document in self.documents.latest() if may_show(document, now)]

    def _handoff(self, documents: Sequence[Document]) -> str:
        # The date of an undated file may only be that of a copy, so dated handoffs take precedence.
        handoffs = [document for document in documents if document.content_type == "handoff"]
        for last in sorted(handoffs, key=lambda note: not note.has_own_date):
            if not is_empty(self.documents.body(last.id) or ""):
                [(_, mark)] = without_replaced(self.documents, self.successions, [last])
                heading = f"## Where the last session stopped ({_noted(last.authored_at[:DAY], mark)})"
                return section(heading, _lines(self.documents.body(last.id) or ""), HANDOFF_TOKENS)
        return ""

    def _current(self, documents: Sequence[Document]) -> str:
        """Return the section about current notes; of equal rank the path decides."""
        now_ms = self.clock.now_ms()
        ranked: list[tuple[float, str, Document]] = []
        for note in documents:
            written_ms = parse_iso(note.authored_at)
            age = max(0.0, (now_ms - written_ms) / DAY_MS) if written_ms is not None else 0.0
            if is_current(note.content_type, age):
                rank = current_rank(pinned=note.pinned, age_days=age, access_count=note.access_count)
                ranked.append((rank, note.display_path, note))
        notes = [note for *_, note in sorted(ranked, key=lambda entry: entry[:2], reverse=True)]
        lines = [
            _line(note, note.content_type, note.authored_at[:DAY], mark)
            for note, mark in without_replaced(self.documents, self.successions, notes)
        ]
        return section("## What is going on", lines, CURRENT_TOKENS)

    def _due(self, documents: Sequence[Document]) -> list[str]:
        """Return lines about at most five current notes to review: those with a review date first, then the oldest."""
        now_ms = self.clock.now_ms()
        today = iso_utc(now_ms)[:DAY]
        due = [
            note
            for note in documents
            if note.collection != OWN
            and is_stale(review_by=note.review_by, today=today, idle_days=idle_days(note, now_ms))
        ]
        replaced = current_successors(self.documents, self.successions, [note.id for note in due])
        due.sort(key=lambda note: (note.review_by is None, note.review_by or note.authored_at))
        current = [note for note in due if note.id not in replaced][:MOST_STALE]
        return [_line(note, note.display_path, _age(note)) for note in current]


def _age(note: Document) -> str:
    if note.review_by:
        return f"review was due {note.review_by[:DAY]}"
    return f"written {note.authored_at[:DAY]}"


def _lines(text: str) -> list[str]:
    return packed(filter(str.strip, safe(text).splitlines()), SESSION_TOKENS)


def _line(document: Document, *parts: str) -> str:
    return f"- {' '.join(safe(document.title).split())} ({_noted(*parts)})"


def _noted(*parts: str) -> str:
    return ", ".join(safe(part) for part in parts if part)


TOKENS = 200
FRESH_DAYS = 7  # age after which a report counts as outdated
TAG = "vault-curator"
EMBED = "clawmem embed"  # recommended while texts have no vector
BACKLOG_SHARE = 0.2  # share of documents; a smaller backlog can wait for the next embedding run


def curation_note(
    report: str | None, now_ms: int, *, pending: int, documents: int, acted_at: str = ""
) -> str:
    """
    Return the block ``<vault-curator>`` within 200 tokens; empty when there is nothing to say.

    Args:
        report: The curator's report as JSON; ``None`` when there is none.
        pending: Number of texts without a vector.
        documents: Number of served documents.
        acted_at: Time of the last pin, snooze or other act. The recommendations of an earlier report are left out,
            because they may be done by now.
    """
    lines: list[str] = []
    with suppress(ValueError):
        content = json.loads(report or "null")
        if isinstance(content, dict):
            if pending > BACKLOG_SHARE * documents:
                lines.append(
                    f"{pending} texts have no vector yet and are content by words alone: clawmem embed makes them."
                )
            made_ms, actions = parse_iso(str(content.get("timestamp", ""))), content.get("actions")
            if made_ms is None or now_ms - made_ms > FRESH_DAYS * DAY_MS:
                lines.append(
                    "The last report on the memory is more than a week old; what it recommends may be done by now."
                )
            elif isinstance(actions, list) and (parse_iso(acted_at) or 0) <= made_ms:
                sentences = (" ".join(str(action).split()) for action in actions)
                lines += [sentence for sentence in sentences if pending or EMBED not in sentence]
    return block(TAG, "State of the memory itself:", ["\n".join(f"- {safe(line)}" for line in lines)], TOKENS)
