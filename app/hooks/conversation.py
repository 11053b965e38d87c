"""What stands near the transcript of a conversation: what was saved of it, and what the client remembers by itself."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from clawmem.adapters.files.regular import open_regular_file

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "memory"  # the client's own, for one project
STATE, INDEX = "precompact-state.md", "MEMORY.md"
LOADED_LINES, LOADED_BYTES = 200, 25_000  # of its index the client puts so much before every session


def state_file(transcript: str) -> Path:
    """Where the state of a conversation is saved when it is about to be compacted."""
    from pathlib import Path  # a prompt does without

    return Path(_beside(transcript, STATE))


def compacted_at(transcript: str) -> str:
    """When a conversation was last compacted, by what was saved then; empty where it never was."""
    from clawmem.domain.documents.times import iso_utc

    with suppress(OSError, ValueError):
        if transcript:
            return iso_utc(os.stat(_beside(transcript, STATE)).st_mtime_ns // 1_000_000)  # noqa: PTH116
    return ""


def loaded_by_client(transcript: str) -> str:
    """What the client itself has put before the session, blanks collapsed; empty where it remembers nothing."""
    with suppress(OSError, ValueError):
        if transcript:
            with open_regular_file(_beside(transcript, INDEX)) as file:
                text = file.read(LOADED_BYTES).decode("utf-8", "ignore")
            return " ".join(" ".join(text.splitlines()[:LOADED_LINES]).split())
    return ""


def _beside(transcript: str, name: str) -> str:
    return os.path.join(os.path.dirname(transcript), FOLDER, name)  # noqa: PTH118, PTH120
