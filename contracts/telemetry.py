from __future__ import annotations

from clawmem.contracts.base import Contract
from clawmem.ports.telemetry import Recall, RecallHit, Telemetry

MONDAY = "2024-03-04T08:00:00.000Z"
TUESDAY = "2024-03-05T08:00:00.000Z"
WEDNESDAY = "2024-03-06T08:00:00.000Z"


def recall(asked_at: str = MONDAY, *document_ids: int, verb: str = "search", took_ms: float = 12.5) -> Recall:
    """Return a recall that returned these documents, the first at rank 1."""
    hits = tuple(RecallHit(number, rank, 1 / rank) for rank, number in enumerate(document_ids, start=1))
    return Recall(asked_at, verb, "0123456789ab", took_ms, 10, hits=hits)


def times(telemetry: Telemetry, since: str | None = None, until: str | None = None) -> list[str]:
    """Return the times of the recalls in a window, in the order returned."""
    return [found.asked_at for found in telemetry.recalls(since, until)]


class TelemetryRecordContract(Contract):
    """Recording of recalls. Supply ``telemetry``: an EMPTY ``Telemetry``."""

    def test_everything_is_kept(self, telemetry: Telemetry) -> None:
        """A recall is returned with every field of it and of its hits unchanged, with its id."""
        hits = (RecallHit(7, 1, 0.1 + 0.2), RecallHit(3, 2, 1 / 3, was_referenced=True))
        given = Recall(
            MONDAY,
            "context-surfacing",
            "0123456789ab",
            17.03,
            25,
            ("vector", "lexical"),
            hits,
            "session-1",
            4,
            prompt_id="prompt-1",
        )

        recall_id = telemetry.record(given)

        assert recall_id > 0
        assert [*telemetry.recalls()] == [given._replace(id=recall_id)]

    def test_hits_by_rank(self, telemetry: Telemetry) -> None:
        """Hits are returned by rank, regardless of their input order; a document may have several ranks."""
        hits = (RecallHit(5, 3, 0.1), RecallHit(9, 1, 0.3), RecallHit(5, 2, 0.2))

        telemetry.record(recall()._replace(hits=hits))

        [found] = telemetry.recalls()
        assert [(hit.rank, hit.document_id) for hit in found.hits] == [(1, 9), (2, 5), (3, 5)]


class TelemetryReadContract(Contract):
    """Windows, order and deletion. Supply ``telemetry``: an EMPTY ``Telemetry``."""

    def test_oldest_first(self, telemetry: Telemetry) -> None:
        """Recalls are returned by time, then by id, regardless of insertion order."""
        for day, document_id in ((WEDNESDAY, 1), (MONDAY, 2), (TUESDAY, 3), (MONDAY, 4)):
            telemetry.record(recall(day, document_id))

        found = [(recall.asked_at, recall.hits[0].document_id) for recall in telemetry.recalls()]

        assert found == [(MONDAY, 2), (MONDAY, 4), (TUESDAY, 3), (WEDNESDAY, 1)]

    def test_window(self, telemetry: Telemetry) -> None:
        """A window includes its beginning and excludes its end; either side may be open."""
        for day in (MONDAY, TUESDAY, WEDNESDAY):
            telemetry.record(recall(day, 1, 2))

        assert times(telemetry, TUESDAY, WEDNESDAY) == [TUESDAY]
        assert times(telemetry, since=TUESDAY) == [TUESDAY, WEDNESDAY]
        assert times(telemetry, until=TUESDAY) == [MONDAY]
        assert times(telemetry, WEDNESDAY, MONDAY) == []

    def test_mark_referenced(self, telemetry: Telemetry) -> None:
        """Referenced hits are marked once, in their own recall; ids that are not among its hits are ignored."""
        first, second = (telemetry.record(recall(MONDAY, 7, 8, 9)) for _ in range(2))

        assert telemetry.mark_referenced(first, [9, 7, 987_654]) == 2
        assert telemetry.mark_referenced(first, [7]) == 0

        marks = {recall.id: [hit.was_referenced for hit in recall.hits] for recall in telemetry.recalls()}
        assert marks == {first: [True, False, True], second: [False] * 3}

    def test_trim_a_little(self, telemetry: Telemetry) -> None:
        """With `at_most` only that many recalls are deleted, oldest first; the next call continues."""
        for day in (TUESDAY, MONDAY, WEDNESDAY, MONDAY):
            telemetry.record(recall(day, 1, 2))

        assert telemetry.trim(WEDNESDAY, at_most=2) == 2
        assert times(telemetry) == [TUESDAY, WEDNESDAY]
        assert telemetry.trim(WEDNESDAY, at_most=2) == 1
        assert telemetry.trim(WEDNESDAY, at_most=2) == 0
        assert times(telemetry) == [WEDNESDAY]
