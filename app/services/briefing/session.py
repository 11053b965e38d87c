"""Context at the start of a session: the profile, the last handoff, current and stale notes, and the report on curation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.app.services.briefing.profile import PATH as PROFILE
from clawmem.app.services.briefing.profile import is_sound
from clawmem.app.services.briefing.telling import is_told, without_replaced
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.briefing.current import current_rank, is_current, is_stale
from clawmem.domain.briefing.packing import block, packed, section
from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.capture.notes import COLLECTION as OWN
from clawmem.domain.documents.frontmatter import without_broken_head
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.lifecycle.policy import idle_days
from clawmem.domain.security.safety import safe
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

SESSION_TOKENS, PROFILE_TOKENS, HANDOFF_TOKENS, CURRENT_TOKENS, STALE_TOKENS = 2000, 800, 600, 400, 200
STALENESS_TOKENS, MOST_STALE = 250, 5

SESSION_TAG, STALENESS_TAG = "vault-session", "vault-staleness"
_LENGTH_OF_DAY = len("2026-01-31")


class SessionBriefing:
    """Context for a new session. It reads records only; it uses no model and no index."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def at_start(self) -> str:
        """Return the block ``<vault-session>`` within 2000 tokens; empty when there is nothing to say."""
        documents = self._heard()
        stale = section("## Not looked at for a while", self._due(documents), STALE_TOKENS)
        return block(
            SESSION_TAG,
            "From the vault, as of now: notes of earlier sessions, for information.",
            [self._profile(), self._handoff(documents), self._current(documents), stale],
            SESSION_TOKENS,
        )

    def staleness(self) -> str:
        """Return the block ``<vault-staleness>`` with at most five notes within 250 tokens; empty if none is stale."""
        due = self._due(self._heard())
        introduction = "These notes have not been looked at for a while; what they say may be out of date."
        return block(STALENESS_TAG, introduction, ["\n".join(due)], STALENESS_TOKENS)

    # -- sections -----------------------------------------------------------------------------------

    def _profile(self) -> str:
        profile = self._vault.documents.at(OWN, PROFILE)
        if profile is None or not is_sound(self._vault, profile):
            return ""
        return section("## Profile", self._lines(profile), PROFILE_TOKENS)

    def _handoff(self, documents: Sequence[Document]) -> str:
        # The date of an undated file may only be that of a copy, so dated handoffs take precedence.
        handoffs = [document for document in documents if document.content_type == "handoff"]
        handoffs.sort(key=lambda one: not one.has_own_date)
        last = next((one for one in handoffs if not is_empty(self._vault.documents.body(one.id) or "")), None)
        if last is None:
            return ""
        [told] = without_replaced(self._vault, [last])
        heading = f"## Where the last session stopped ({self._noted(_day(last), told.mark)})"
        return section(heading, self._lines(last), HANDOFF_TOKENS)

    def _current(self, documents: Sequence[Document]) -> str:
        current = [
            document for document in documents if is_current(document.content_type, self._age(document))
        ]
        ranked = sorted(current, key=self._rank, reverse=True)
        lines = [
            f"- {self._title(one)} ({self._noted(one.content_type, _day(one), mark)})"
            for one, mark in without_replaced(self._vault, ranked)
        ]
        return section("## What is going on", lines, CURRENT_TOKENS)

    def _heard(self) -> list[Document]:
        """Return the served documents that may be shown unasked, last written first."""
        now = iso_utc(self._clock.now_ms())
        return [one for one in self._vault.documents.latest() if is_told(one, now)]

    # -- documents ----------------------------------------------------------------------------------

    def _due(self, documents: Sequence[Document]) -> list[str]:
        """Return lines about at most five current notes to review: those with a review date first, then the oldest."""
        now_ms = self._clock.now_ms()
        today = iso_utc(now_ms)[:_LENGTH_OF_DAY]
        due = [
            document
            for document in documents
            if document.collection != OWN
            and is_stale(review_by=document.review_by, today=today, idle_days=idle_days(document, now_ms))
        ]
        replaced = current_successors(
            self._vault.documents, self._vault.successions, [document.id for document in due]
        )
        due = [document for document in due if document.id not in replaced]
        due.sort(
            key=lambda document: (document.review_by is None, document.review_by or document.authored_at)
        )
        return [
            f"- {self._title(one)} ({self._noted(one.display_path, _reason(one))})"
            for one in due[:MOST_STALE]
        ]

    def _lines(self, document: Document) -> list[str]:
        body = without_broken_head(self._vault.documents.body(document.id) or "")
        return packed(filter(str.strip, safe(body).splitlines()), SESSION_TOKENS)

    def _noted(self, *parts: str) -> str:
        return ", ".join(safe(part) for part in parts if part)

    def _title(self, document: Document) -> str:
        return " ".join(safe(document.title).split())

    def _rank(self, document: Document) -> tuple[float, str]:
        age_days = self._age(document)
        rank = current_rank(pinned=document.pinned, age_days=age_days, access_count=document.access_count)
        return rank, document.display_path

    def _age(self, document: Document) -> float:
        written_ms = parse_iso(document.authored_at)
        return max(0.0, (self._clock.now_ms() - written_ms) / DAY_MS) if written_ms is not None else 0.0


def _day(document: Document) -> str:
    return document.authored_at[:_LENGTH_OF_DAY]


def _reason(document: Document) -> str:
    if document.review_by:
        return f"review was due {document.review_by[:_LENGTH_OF_DAY]}"
    return f"written {_day(document)}"


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
    found = _object(report)
    lines = (
        [*_backlog(pending, documents), *_recommended(found, now_ms, acted_at, pending)]
        if found is not None
        else []
    )
    return block(TAG, "State of the memory itself:", ["\n".join(f"- {safe(line)}" for line in lines)], TOKENS)


def _recommended(report: Mapping[str, Any], now_ms: int, acted_at: str, pending: int) -> Sequence[str]:
    made_ms = parse_iso(str(report.get("timestamp", "")))
    if made_ms is None or now_ms - made_ms > FRESH_DAYS * DAY_MS:
        return [
            "The last report on the memory is more than a week old; what it recommends may be done by now."
        ]
    actions = report.get("actions")
    if not isinstance(actions, list) or (parse_iso(acted_at) or 0) > made_ms:
        return []
    sentences = (" ".join(str(action).split()) for action in actions)
    return [one for one in sentences if pending or EMBED not in one]


def _backlog(pending: int, documents: int) -> Sequence[str]:
    if pending <= BACKLOG_SHARE * documents:
        return []
    return [f"{pending} texts have no vector yet and are found by words alone: clawmem embed makes them."]


def _object(report: str | None) -> Mapping[str, Any] | None:
    try:
        found = json.loads(report or "null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
