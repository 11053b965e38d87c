"""Identity of processes: names for the holders of leases and locks."""

from __future__ import annotations

import os
import sys


def holder_id() -> str:
    """Return a unique name for this process, ``host:pid:nonce``; each call returns another one."""
    return f"{_host()}:{os.getpid()}:{os.urandom(6).hex()}"


def is_gone(holder: str) -> bool:
    """
    Whether *holder* was a process of this machine that has ended.

    False if that is unknown: the holder is on another machine, or its process id was reused. If several
    containers share a host name, the result can be wrong; the token of a lease makes that harmless.
    """
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    return host == _host() and rest.isdecimal() and not _is_running(int(rest))


def _host() -> str:
    if sys.platform == "win32":
        from socket import gethostname

        return gethostname()
    # the same as gethostname(), without the cost of importing `socket` for every prompt
    return os.uname().nodename


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # on Windows, signal 0 would terminate the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether the process is a zombie: it has ended, and its parent has not waited for it yet."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  avoids importing `pathlib` for every prompt
            state = file.read().rpartition(b")")[2].split()[:1]
    except OSError:  # not available on this operating system
        return False
    return state == [b"Z"]
