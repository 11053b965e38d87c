"""Liveness probe for a server: a hanging server still accepts connections, but does not answer."""

from __future__ import annotations

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
