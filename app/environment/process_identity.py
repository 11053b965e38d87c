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
    if host != gethostname() or not rest.isdecimal() or os.name == "nt":  # there signal 0 would terminate it
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False
