"""Record of a turn without a search. The process that writes it has a few milliseconds, so it imports little."""

from __future__ import annotations

import os

import apsw

BUSY_TIMEOUT_MS = 5  # no caller waits for this row

_ROW = """
insert into recalls (asked_at, verb, query_hash, took_ms, asked_for, session_id, turn_index)
select strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), :verb, '', 0, 0, :session_id, count(*)
  from recalls where session_id = :session_id and verb = :verb
"""


def record_silent_turn(path: str, verb: str, session_id: str) -> bool:
    """
    Append the row that `clawmem.ports.telemetry.Telemetry.record` would write for a turn without query and
    hits.

    The index of the turn is the number of the session's rows of *verb*, computed in the same statement, so
    two processes never use the same index.

    Returns:
        Whether the row was written. It is not if another process is writing, or if the file is not a vault.
    """
    try:
        if os.stat(path).st_size == 0:  # noqa: PTH116  see `clawmem.adapters.sqlite.vault_file`
            return False
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.pragma("synchronous", "normal")
            connection.execute(_ROW, {"verb": verb, "session_id": session_id})
        finally:
            connection.close()
    except (apsw.Error, OSError):
        return False
    return True
