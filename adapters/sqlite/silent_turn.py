"""The row of a turn for which nothing was looked up: written by a process that has milliseconds, and imports little."""

from __future__ import annotations

import os

import apsw

BUSY_TIMEOUT_MS = 5  # nobody waits for a row

_ROW = """
insert into recalls (asked_at, verb, query_hash, took_ms, asked_for, session_id, turn_index)
select strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), :verb, '', 0, 0, :session_id, count(*)
  from recalls where session_id = :session_id and verb = :verb
"""


def note_silent_turn(path: str, verb: str, session_id: str) -> bool:
    """
    Append what `clawmem.ports.telemetry.Telemetry.record` would for a turn without a question and without hits.

    Its index is the number of the session's rows of *verb*, in the same statement: two processes never take the
    same one.

    Returns:
        Whether it is written: not when somebody else is writing, and not into what is no vault.
    """
    try:
        if os.stat(path).st_size == 0:  # noqa: PTH116  see `clawmem.adapters.sqlite.empty_file`
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
