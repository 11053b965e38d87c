"""What the record of surfaced documents says of each of them."""

from __future__ import annotations

from collections import defaultdict

from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
from clawmem.domain.lifecycle.recall import Surfacing, recall_stats
from clawmem.ports.captures import RecallStats
from clawmem.ports.telemetry import Telemetry


def surfaced_stats(telemetry: Telemetry) -> dict[int, RecallStats]:
    """By document, as far back as recalls are kept. What was searched for does not count: nobody says of what use it was."""
    times = defaultdict[int, list[Surfacing]](list)
    for recall in telemetry.recalls():
        if recall.verb == CONTEXT_SURFACING:
            for hit in recall.hits:
                times[hit.document_id].append(
                    Surfacing(recall.asked_at, recall.query_hash, hit.was_referenced)
                )
    return {number: recall_stats(number, found) for number, found in times.items()}
