"""Files next to the transcript of a conversation: the state saved before compaction, and the client's own memory."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from clawmem.adapters.files.regular import open_regular_file

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "memory"  # the client's memory folder of one project
STATE, INDEX = "precompact-state.md", "MEMORY.md"
LOADED_LINES, LOADED_BYTES = 200, 25_000  # the part of its index that the client loads into every session


def state_file(transcript: str) -> Path:
    """Return the path at which the state of a conversation is saved before its compaction."""
    from pathlib import Path  # imported here: the prompt hook does not need it

    return Path(_beside(transcript, STATE))


def compacted_at(transcript: str) -> str:
    """Return the time of the last compaction (the modification time of the saved state), or an empty string."""
    from clawmem.domain.documents.times import iso_utc

    with suppress(OSError, ValueError):
        if transcript:
            return iso_utc(os.stat(_beside(transcript, STATE)).st_mtime_ns // 1_000_000)  # noqa: PTH116
    return ""


def loaded_by_client(transcript: str) -> str:
    """Return the memory that the client has loaded into the session, with blanks collapsed; empty if none."""
    with suppress(OSError, ValueError):
        if transcript:
            with open_regular_file(_beside(transcript, INDEX)) as file:
                text = file.read(LOADED_BYTES).decode("utf-8", "ignore")
            return " ".join(" ".join(text.splitlines()[:LOADED_LINES]).split())
    return ""


def _beside(transcript: str, name: str) -> str:
    return os.path.join(os.path.dirname(transcript), FOLDER, name)  # noqa: PTH118, PTH120
