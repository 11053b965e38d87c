"""Fingerprints of injected text, so that a session that repeats it is not captured as new information."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from clawmem.app.environment.private_files import PRIVATE, make_folder, state_folder
from clawmem.domain.security.fingerprint import fingerprint, from_bytes, to_bytes
from clawmem.ports.sessions import session_key

KEPT_DAYS = 30
_DAY_S = 86_400
_MOST_BYTES = 4_000_000  # per session: half a million runs of words
_HASH_BYTES = 8


class InjectedFingerprints:
    """Store of the fingerprints, one file per session. The texts themselves are not stored."""

    def __init__(self, vault: Path) -> None:
        self._folder = state_folder(vault) / "injected"

    def add(self, session_id: str, text: str) -> None:
        """Add *text*, best effort. Also delete the files of sessions older than `KEPT_DAYS`."""
        if not session_id or not text:
            return
        with suppress(OSError):
            make_folder(self._folder)
            self._append(self._file(session_id), to_bytes(fingerprint(text)))
            self._forget_old()

    def of(self, session_id: str) -> frozenset[int]:
        """Return the fingerprint of all text injected into a session; empty if none."""
        try:
            packed = self._file(session_id).read_bytes()
        except OSError:
            return frozenset()
        return from_bytes(packed[: len(packed) - len(packed) % _HASH_BYTES])

    def _append(self, file: Path, packed: bytes) -> None:
        if file.exists() and file.stat().st_size > _MOST_BYTES:
            return
        with open(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE), "wb") as out:  # noqa: PTH123
            out.write(packed)

    def _forget_old(self) -> None:
        for file in self._folder.iterdir():
            if time.time() - file.stat().st_mtime > KEPT_DAYS * _DAY_S:
                file.unlink(missing_ok=True)

    def _file(self, session_id: str) -> Path:
        return self._folder / session_key(session_id)
