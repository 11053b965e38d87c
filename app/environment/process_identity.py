"""Identity of processes: names for the holders of leases and locks."""

from __future__ import annotations

import os
from socket import gethostname


def holder_id() -> str:
    """Return a unique name for this process, ``host:pid:nonce``; each call returns another one."""
    return f"{gethostname()}:{os.getpid()}:{os.urandom(6).hex()}"


def is_gone(holder: str) -> bool:
    """
    Whether *holder* was a process of this machine that has ended.

    False if that is unknown: the holder is on another machine, or its process id was reused. If several
    containers share a host name, the result can be wrong; the token of a lease makes that harmless.
    """
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    return host == gethostname() and rest.isdecimal() and not _is_running(int(rest))


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # on Windows, signal 0 would terminate the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True
