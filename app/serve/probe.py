"""Whether a server that is there says anything: one that hangs still takes connections."""

from __future__ import annotations

from clawmem.app.hooks.thin_client import posted
from clawmem.app.serve.announcement import Announcement

PATIENCE_S = 1.0  # a server that has much to do says who it is not for in some hundredths


def answers(server: Announcement) -> bool:
    """Whether *server* says something within `PATIENCE_S`, be it no: it is shown no token."""
    try:
        posted(server, "/health", "", b"", first_s=PATIENCE_S, answer_s=PATIENCE_S)
    except (OSError, UnicodeError):
        return False
    return True
