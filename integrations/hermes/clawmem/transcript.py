"""Transcript of a session: a file in which clawmem finds decisions, in the format of Claude Code."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

FOLDER = "clawmem"  # in the home folder of Hermes
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_NAME = 40
_KEY_CHARS = 16  # of the digest of a session's id, as clawmem computes it


class Transcript:
    """The transcript of session *session_id*, in its own folder below the home folder *home* of Hermes."""

    def __init__(self, home: str, session_id: str) -> None:
        self._key = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_CHARS]
        name = _OTHER.sub("-", session_id).strip(".-")[:_MOST_NAME] or "session"
        self.file = Path(home, FOLDER, f"{name}-{self._key}", "transcript.jsonl")

    @property
    def state(self) -> Path:
        """The file in which clawmem saves the state of the session before its compaction."""
        return self.file.parent / "memory" / f"precompact-state-{self._key}.md"

    def append(self, user: str, assistant: str) -> None:
        """
        Append one turn.

        Raises:
            OSError: the file cannot be written.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = "".join(_lines(user, assistant)).encode("utf-8", "replace")
        number = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(number, "ab") as file:
            file.write(text)


def _lines(user: str, assistant: str) -> Iterator[str]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for role, text in (("user", user), ("assistant", assistant)):
        if text.strip():
            name = str(uuid.uuid4())
            message = {"id": name, "role": role, "content": [{"type": "text", "text": text}]}
            yield json.dumps({"type": role, "uuid": name, "timestamp": now, "message": message}) + "\n"
