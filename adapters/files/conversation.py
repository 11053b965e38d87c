"""Files of a conversation: its transcript, the state saved before compaction, and the client's own memory."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from clawmem.adapters.files.regular import open_regular_file

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "memory"  # the client's memory folder of one project
STATE, INDEX = "precompact-state.md", "MEMORY.md"
LOADED_LINES, LOADED_BYTES = 200, 25_000  # the part of its index that the client loads into every session
STATE_BYTES = 200_000

PATIENCE_S, STEP_S = 1.0, 0.05
READ = 1 << 18  # bytes from the end of a transcript: the client appends own lines after an answer
LONGEST = 80

_PLAIN = r"[A-Za-z0-9][A-Za-z0-9 ,.;:()-]{10,}"  # looks the same however JSON is written


class ConversationFiles:
    """The files of the conversation in *transcript*; an empty path names none."""

    def __init__(self, transcript: str) -> None:
        self._transcript = transcript

    @property
    def state_file(self) -> Path:
        """The path at which the state is saved before a compaction."""
        from pathlib import Path  # imported here: the prompt hook does not need it

        return Path(self._beside(STATE))

    def state(self) -> str:
        """Return the saved state; empty if there is none."""
        with suppress(OSError, ValueError):
            if os.path.isabs(self._transcript):  # noqa: PTH117
                with open_regular_file(self._beside(STATE)) as file:
                    return file.read(STATE_BYTES).decode("utf-8", "replace")
        return ""

    def compacted_at_ms(self) -> int:
        """Return the time of the last compaction (the modification time of the saved state); 0 if there was none."""
        with suppress(OSError, ValueError):
            if self._transcript:
                return os.stat(self._beside(STATE)).st_mtime_ns // 1_000_000  # noqa: PTH116
        return 0

    def loaded_by_client(self) -> str:
        """Return the memory that the client has loaded into the session, with blanks collapsed; empty if none."""
        with suppress(OSError, ValueError):
            if self._transcript:
                with open_regular_file(self._beside(INDEX)) as file:
                    text = file.read(LOADED_BYTES).decode("utf-8", "ignore")
                return " ".join(" ".join(text.splitlines()[:LOADED_LINES]).split())
        return ""

    def wait_for(self, message: str, patience_s: float = PATIENCE_S) -> bool:
        """
        Wait until the transcript contains *message*, the last message of the assistant; return whether it does.

        The client reports the end of a turn slightly before it writes the transcript. Return at once if the message
        has no text that can be searched for, or if the transcript cannot be read.
        """
        from time import monotonic, sleep

        plain = re.findall(_PLAIN, message[-READ:])
        end = monotonic() + patience_s
        try:
            while plain and plain[-1][-LONGEST:].encode() not in self._end():
                if monotonic() >= end:
                    return False
                sleep(STEP_S)
        except (OSError, ValueError):
            return False
        return True

    def _end(self) -> bytes:
        with open_regular_file(self._transcript) as opened:
            opened.seek(max(0, os.fstat(opened.fileno()).st_size - READ))
            return opened.read()

    def _beside(self, name: str) -> str:
        return os.path.join(os.path.dirname(self._transcript), FOLDER, name)  # noqa: PTH118, PTH120
