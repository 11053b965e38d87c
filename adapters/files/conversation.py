"""Files of a conversation: its transcript, the state saved before compaction, and the client's own memory."""

import os
import re
import time
from contextlib import suppress
from pathlib import Path

from clawmem.adapters.files.disk import open_regular_file
from clawmem.ports.json_text import read_json
from clawmem.ports.sessions import session_key

FOLDER = "memory"  # the client's memory folder of one project
STATES, INDEX = "precompact-state-*.md", "MEMORY.md"
LOADED_LINES, LOADED_BYTES = 200, 25_000  # the part of its index that the client loads into every session
STATE_BYTES = 200_000
STATE_DAYS, DRAFT_S = 30, 120
_DAY_S = 86_400

PATIENCE_S, STEP_S = 1.0, 0.05
READ = 1 << 18  # bytes from the end of a transcript: the client appends own lines after an answer
LONGEST = 80

_PLAIN = r"[A-Za-z0-9][A-Za-z0-9 ,.;:()-]{10,}"  # looks the same however JSON is written


class ConversationFiles:
    """
    The files of the conversation in *transcript*; an empty path names none.

    Clients write the transcripts of a project or of a day into one folder, so the state is one file for each session.
    """

    def __init__(self, transcript: str, session_id: str) -> None:
        self._transcript = transcript
        self._folder = Path(transcript).parent / FOLDER
        self.state_file = self._folder / STATES.replace("*", session_key(session_id))
        """The path at which the state is saved before a compaction."""

    def state(self) -> str:
        """Return the saved state; empty if there is none."""
        return self._start(self.state_file, STATE_BYTES)

    def note_compaction(self) -> None:
        """Set the time of the last compaction to now, with an empty state if there is none. Best effort."""
        if Path(self._transcript).is_absolute():
            with suppress(OSError, ValueError):
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self.state_file.touch(0o600)

    def drop_old_states(self) -> None:
        """Delete states of sessions that were compacted over 30 days ago, and drafts of killed processes. Best effort."""
        with suppress(OSError, ValueError):
            for pattern, most_s in ((STATES, STATE_DAYS * _DAY_S), (f".{STATES}*", DRAFT_S)):
                for file in self._folder.glob(pattern):
                    if time.time() - file.lstat().st_mtime > most_s:
                        file.unlink(missing_ok=True)

    def compacted_at_ms(self) -> int:
        """Return the time of the last compaction (the modification time of the saved state); 0 if there was none."""
        with suppress(OSError, ValueError):
            if self._transcript:
                return self.state_file.stat().st_mtime_ns // 1_000_000
        return 0

    def loaded_by_client(self) -> str:
        """Return the memory that the client has loaded into the session, with blanks collapsed; empty if none."""
        text = self._start(self._folder / INDEX, LOADED_BYTES)
        return " ".join(" ".join(text.splitlines()[:LOADED_LINES]).split())

    def tasks(self, agent_type: str, patience_s: float = PATIENCE_S / 2) -> list[str]:
        """Return the tasks of subagents of a type that have no result yet, oldest first; wait until there is any."""
        end = time.monotonic() + patience_s
        while not (tasks := self._tasks(agent_type)) and time.monotonic() < end and self._transcript:
            time.sleep(STEP_S)
        return [*tasks.values()]

    def _tasks(self, agent_type: str) -> dict[str, str]:
        tasks: dict[str, str] = {}
        lines: list[bytes] = []
        with suppress(OSError, ValueError), open_regular_file(self._transcript) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - READ))
            lines = file.read().splitlines()
        for line in (line for line in lines if b'"tool_' in line):
            with suppress(ValueError, TypeError, AttributeError, KeyError):  # cut, or of another form
                for part in read_json(line)["message"]["content"]:
                    call = part.get("input", {})
                    if part["type"] == "tool_result":
                        tasks.pop(part["tool_use_id"], None)
                    elif "prompt" in call and call.get("subagent_type", agent_type) == agent_type:
                        tasks[part["id"]] = str(call["prompt"])
        return tasks

    def _start(self, path: Path, most: int) -> str:
        if Path(self._transcript).is_absolute():
            with suppress(OSError, ValueError), open_regular_file(path) as file:
                return file.read(most).decode("utf-8", "ignore")
        return ""

    def wait_for(self, message: str, patience_s: float = PATIENCE_S) -> bool:
        """
        Wait until the transcript contains *message*, the last message of the assistant; return whether it does.

        The client reports the end of a turn slightly before it writes the transcript. Return at once if the message
        has no text that can be searched for, or if the transcript cannot be read.
        """
        plain = re.findall(_PLAIN, message[-READ:])
        end = time.monotonic() + patience_s
        with suppress(OSError, ValueError), open_regular_file(self._transcript) as file:
            while plain:
                file.seek(max(0, os.fstat(file.fileno()).st_size - READ))
                if plain[-1][-LONGEST:].encode() in file.read():
                    break
                if time.monotonic() >= end:
                    return False
                time.sleep(STEP_S)
            return True
        return False
