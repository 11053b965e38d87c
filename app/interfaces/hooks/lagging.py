"""Waiting for a transcript: the client reports the end of a turn slightly before it writes the transcript."""

from __future__ import annotations

import os
import re
from pathlib import Path
from time import monotonic, sleep

from clawmem.adapters.files.regular import open_regular_file

PATIENCE_S = 1.0
STEP_S = 0.05
READ = 1 << 18  # bytes from the end of a transcript: the client appends own lines after an answer
LONGEST = 80

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,.;:()-]{10,}")  # looks the same however JSON is written


def wait_for(message: str, transcript: Path, patience_s: float = PATIENCE_S) -> bool:
    """
    Wait until *transcript* contains *message*, the last message of the assistant; return whether it does.

    Return at once if the message has no text that can be searched for, or if the transcript cannot be read.
    """
    plain = _PLAIN.findall(message[-READ:])
    end = monotonic() + patience_s
    try:
        while plain and plain[-1][-LONGEST:].encode() not in _end_of(transcript):
            if monotonic() >= end:
                return False
            sleep(STEP_S)
    except (OSError, ValueError):
        return False
    return True


def _end_of(file: Path) -> bytes:
    with open_regular_file(file) as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - READ))
        return opened.read()
