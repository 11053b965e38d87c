"""Whether a server runs, and whether it answers: a hanging server still accepts connections, but does not answer."""

from __future__ import annotations

from pathlib import Path

from clawmem.app.client.announcement import Announcement
from clawmem.app.client.request import posted

PATIENCE_S = 1.0  # even a busy server rejects an unauthorised request within some hundredths of a second


def answers(server: Announcement) -> bool:
    """Whether *server* sends any response within `PATIENCE_S`, even a rejection; no token is sent to it."""
    try:
        posted(server, "/health", "", b"", first_s=PATIENCE_S, answer_s=PATIENCE_S)
    except (OSError, UnicodeError):
        return False
    return True


def is_running(vault: Path) -> bool:
    """Whether a process holds the server lock of *vault*; it may still be starting or already be stopping."""
    if not lock_file(vault).exists():
        return False
    from filelock import FileLock, Timeout  # here, because other users of this module do not need it

    try:
        with FileLock(lock_file(vault), blocking=False, is_singleton=False):
            return False
    except Timeout:
        return True


def lock_file(vault: Path) -> Path:
    """Return the path of the file that a server locks while it runs; its existence alone means nothing."""
    return vault.with_name(f"{vault.name}.server-lock")
