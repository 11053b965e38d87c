from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from clawmem.adapters.sqlite.database import open_reader
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.imports import AgentMessage, AgentSession

# The search index of OpenClaw holds the text of the current branch, also of transcripts that are compressed.
_SESSIONS = """
with sizes as (
  select session_id, sum(coalesce(event_utf8_bytes, length(event_json))) as size
  from transcript_events group by session_id
), counts as (
  select session_id, count(*) as messages from session_transcript_fts
  where role in ('user', 'assistant') group by session_id
)
select w.session_id, coalesce(size, 0), coalesce(messages, 0), coalesce(w.transcript_updated_at, w.updated_at)
from session_windows w left join sizes using (session_id) left join counts using (session_id)
order by w.session_id
"""
_MESSAGES = """
select role, text from session_transcript_fts
where session_id = ? and role in ('user', 'assistant') order by cast(timestamp as real), rowid
"""


class OpenClawSessions:
    """``AgentSessions`` in the SQLite database that OpenClaw has in its state folder."""

    def __init__(self, state: str, agent: str) -> None:
        self._agent = agent
        self._database = Path(state, "agents", agent, "agent", "openclaw-agent.sqlite")

    def sessions(self) -> Sequence[AgentSession]:
        return [AgentSession(*row) for row in self._rows(_SESSIONS)]

    def messages(self, session_id: str) -> Sequence[AgentMessage]:
        return [AgentMessage(*row) for row in self._rows(_MESSAGES, session_id)]

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if not self._database.is_file():
            return []
        try:
            with closing(open_reader(str(self._database))) as connection:
                [owner] = connection.execute("select agent_id from schema_meta").fetchone() or [None]
                if owner != self._agent:
                    raise SourceUnreadable(str(self._database), f"it belongs to the agent {owner!r}")
                return connection.execute(query, values).fetchall()
        except apsw.Error as error:
            raise SourceUnreadable(str(self._database), f"it is no database of sessions: {error}") from error
