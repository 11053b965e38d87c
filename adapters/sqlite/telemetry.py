from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, nullcontext
from itertools import groupby
from pathlib import Path

import apsw

from clawmem.adapters.sqlite.database import MEMORY, Database, Row
from clawmem.ports.telemetry import Recall, RecallHit

BUSY_TIMEOUT_MS = 5  # a question is not kept waiting for its own diary

_RECORD = """
insert into recalls (asked_at, verb, query_hash, took_ms, asked_for, degraded, session_id, turn_index)
values (?, ?, ?, ?, ?, ?, ?, ?) returning id
"""
_RECORD_HIT = "insert into recall_hits values (?, ?, ?, ?, ?)"
_RECALLS = """
select id, asked_at, verb, query_hash, took_ms, asked_for, degraded, session_id, turn_index,
       document_id, rank, score, was_referenced
  from recalls left join recall_hits on recall_id = id
 where asked_at >= ? and (asked_at < ? or ? is null)
 order by asked_at, id, rank
"""
_OF_RECALL = 9  # so many columns of a row are the recall's, the rest are its hit's


class SqliteTelemetry:
    """``Telemetry`` in two tables of the vault, written by a connection of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def record(self, recall: Recall) -> int:
        in_memory = self._db.path == MEMORY
        with nullcontext(self._db) if in_memory else closing(_Jotter(self._db.path)) as jotter:
            log_was_empty = self._log_is_empty()
            recall_id = _insert(jotter, recall)
            # A vault opened for reading cannot put the log away when it closes. What lay beside the file would
            # spoil a backup that somebody copies back over it.
            if self._db.read_only and log_was_empty:
                jotter.write("pragma wal_checkpoint(truncate)")
        return recall_id

    def recalls(self, since: str | None = None, until: str | None = None) -> Iterator[Recall]:
        rows = self._db.stream(_RECALLS, (since or "", until, until))
        for recall, hits in groupby(rows, key=lambda row: row[:_OF_RECALL]):
            yield _recall(
                recall, tuple(_hit(row[_OF_RECALL:]) for row in hits if row[_OF_RECALL] is not None)
            )

    def trim(self, before: str) -> int:
        self._db.write("delete from recalls where asked_at < ?", (before,))
        return self._db.changes()

    def _log_is_empty(self) -> bool:
        log = Path(f"{self._db.path}-wal")
        return not log.exists() or log.stat().st_size == 0


class _Jotter(Database):
    """A writer for what may be lost: it waits for nobody, and not for the disk either."""

    def _open(self, read_only: bool) -> apsw.Connection:
        # Not created: a vault that was deleted in the meantime stays deleted.
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        self._opened.append(connection)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        # In write-ahead mode safe for everything but the last transactions before a power failure.
        connection.pragma("synchronous", "normal")
        return connection


def _insert(db: Database, recall: Recall) -> int:
    asked = (recall.asked_at, recall.verb, recall.query_hash, recall.took_ms, recall.limit)
    seen = (json.dumps(recall.degraded), recall.session_id, recall.turn_index)
    with db.atomic():
        recall_id = int(db.write(_RECORD, (*asked, *seen))[0][0])
        hits = ((recall_id, h.rank, h.document_id, h.score, h.was_referenced) for h in recall.hits)
        db.write_many(_RECORD_HIT, hits)
    return recall_id


def _recall(row: Row, hits: tuple[RecallHit, ...]) -> Recall:
    recall_id, asked_at, verb, query_hash, took_ms, limit, degraded, session_id, turn_index = row
    missing = tuple(json.loads(degraded))
    asked = (asked_at, verb, query_hash, took_ms, limit, missing)
    return Recall(*asked, hits, session_id, turn_index, recall_id)


def _hit(row: Row) -> RecallHit:
    document_id, rank, score, was_referenced = row
    return RecallHit(document_id, rank, score, bool(was_referenced))
