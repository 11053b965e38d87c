from __future__ import annotations

import os


def holder_id() -> str:
    """A name for this process that no other process ever has: ``host:pid:nonce``, another one each call."""
    from socket import gethostname

    return f"{gethostname()}:{os.getpid()}:{os.urandom(6).hex()}"
