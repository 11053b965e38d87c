from __future__ import annotations

import os
import sys


def holder_id() -> str:
    """A name for this process that no other process ever has: ``host:pid:nonce``, another one each call."""
    return f"{_host()}:{os.getpid()}:{os.urandom(6).hex()}"


def is_gone(holder: str) -> bool:
    """
    Whether *holder* was a process of this machine that is not there any more.

    False when nothing can be told: another machine's, or a number that was given to another process. Where
    process numbers of several containers share a host name it can be wrong; a lease's token keeps that harmless.
    """
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    return host == _host() and rest.isdecimal() and not _is_running(int(rest))


def _host() -> str:
    if sys.platform == "win32":
        from socket import gethostname

        return gethostname()
    return os.uname().nodename  # the same, for which every prompt would load all of `socket`


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # where signal 0 would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return not _waits_to_be_buried(pid)


def _waits_to_be_buried(pid: int) -> bool:
    """Whether the process has ended, and only its parent has not asked for it yet."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  a prompt would load `pathlib` for it
            state = file.read().rpartition(b")")[2].split()[:1]
    except OSError:  # no such thing on this system
        return False
    return state == [b"Z"]
