"""Statistics of surfaced documents."""

from __future__ import annotations

from collections import defaultdict

from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
from clawmem.domain.lifecycle.recall import Surfacing, recall_stats
from clawmem.ports.captures import RecallStats
from clawmem.ports.telemetry import Telemetry


def last_accesses(telemetry: Telemetry) -> dict[int, str]:
    """Return when each document was last found by a question, or surfaced and then used, within the retention time."""
    return {
        hit.document_id: recall.asked_at
        for recall in telemetry.recalls()  # oldest first
        for hit in recall.hits
        if recall.verb != CONTEXT_SURFACING or hit.was_referenced
    }


def surfaced_stats(telemetry: Telemetry) -> dict[int, RecallStats]:
    """Return statistics by document within the retention time. Searches do not count, as their use is unknown."""
    times = defaultdict[int, list[Surfacing]](list)
    for recall in telemetry.recalls():
        if recall.verb == CONTEXT_SURFACING:
            for hit in recall.hits:
                times[hit.document_id].append(
                    Surfacing(recall.asked_at, recall.query_hash, hit.was_referenced)
                )
    return {number: recall_stats(number, found) for number, found in times.items()}
