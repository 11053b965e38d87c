from __future__ import annotations

import os
from pathlib import Path


def holder_id() -> str:
    """A name for this process that no other process ever has: ``host:pid:nonce``, another one each call."""
    from socket import gethostname

    return f"{gethostname()}:{os.getpid()}:{os.urandom(6).hex()}"


def is_gone(holder: str) -> bool:
    """
    Whether *holder* was a process of this machine that is not there any more.

    False when nothing can be told: another machine's, or a number that was given to another process. Where
    process numbers of several containers share a host name it can be wrong; a lease's token keeps that harmless.
    """
    from socket import gethostname

    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    return host == gethostname() and rest.isdigit() and not _is_running(int(rest))


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # where signal 0 would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not _waits_to_be_buried(pid)


def _waits_to_be_buried(pid: int) -> bool:
    """Whether the process has ended, and only its parent has not asked for it yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:1]
    except OSError:  # no such thing on this system
        return False
    return state == [b"Z"]
