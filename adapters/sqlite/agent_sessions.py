from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from clawmem.adapters.sqlite.database import open_reader
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.imports import AgentMessage, AgentSession

LARGEST_LINE = 8 << 20  # bytes of one line of a transcript; longer ones are attachments

_AGENT = "select agent_id from schema_meta"
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
    """
    ``AgentSessions`` in the state folder of OpenClaw: its SQLite database, and the JSONL files of earlier versions.

    A session that both have is read from the database.
    """

    def __init__(self, state: str, agent: str) -> None:
        folder = Path(state, "agents", agent)
        self._agent = agent
        self._database = folder / "agent" / "openclaw-agent.sqlite"
        self._files = folder / "sessions"

    def sessions(self) -> Sequence[AgentSession]:
        sessions = {session.id: session for session in self._in_files()}
        sessions |= {row[0]: AgentSession(*row) for row in self._rows(_SESSIONS)}
        return [session for _, session in sorted(sessions.items())]

    def messages(self, session_id: str) -> Sequence[AgentMessage]:
        file = self._files / f"{Path(session_id).name}.jsonl"
        return [AgentMessage(*row) for row in self._rows(_MESSAGES, session_id)] or [*_messages_in(file)]

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        if not self._database.is_file():
            return []
        try:
            with closing(open_reader(str(self._database))) as connection:
                [owner] = connection.execute(_AGENT).fetchone() or [None]
                if owner != self._agent:
                    raise SourceUnreadable(str(self._database), f"it belongs to the agent {owner!r}")
                return connection.execute(query, values).fetchall()
        except apsw.Error as error:
            raise SourceUnreadable(str(self._database), f"it is no database of sessions: {error}") from error

    def _in_files(self) -> Iterator[AgentSession]:
        for file in sorted(self._files.glob("*.jsonl")):
            if file.is_file() and not file.is_symlink():
                status, messages = file.stat(), sum(1 for _ in _messages_in(file))
                yield AgentSession(file.stem, status.st_size, messages, status.st_mtime_ns // 1_000_000)


def _messages_in(file: Path) -> Iterator[AgentMessage]:
    """Yield the messages of a transcript; a line of another kind or an unreadable one is left out."""
    if not file.is_file() or file.is_symlink():
        return
    with file.open("rb") as lines:
        while line := lines.readline(LARGEST_LINE):
            try:
                message = json.loads(line)["message"]
                role, content = message["role"], message["content"]
                if not isinstance(content, str):
                    content = "\n\n".join(str(part["text"]) for part in content if part.get("type") == "text")
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                continue
            if role in ("user", "assistant") and content.strip():
                yield AgentMessage(role, content)
