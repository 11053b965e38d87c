"""Recommendations of the last vault examination, and the embedding backlog."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.app.services.briefing.session import Safe
from clawmem.domain.briefing.packing import block
from clawmem.domain.documents.times import DAY_MS, parse_iso

TOKENS = 200
FRESH_DAYS = 7  # age after which a report counts as outdated
TAG = "vault-curator"
EMBED = "clawmem embed"  # recommended while texts have no vector
BACKLOG_SHARE = 0.2  # share of documents; a smaller backlog can wait for the next embedding run


def curation_note(
    report: str | None, now_ms: int, safe: Safe, *, pending: int, documents: int, acted_at: str = ""
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
