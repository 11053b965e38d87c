"""Opening of files at untrusted paths, without blocking on pipes and devices."""

from __future__ import annotations

import errno
import os
from stat import S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

# Non-blocking, because opening a pipe without a writer would otherwise wait forever.
READ_ONLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular_file(path: str | os.PathLike[str], flags: int = 0) -> BinaryIO:
    """
    Open *path* for reading. Links are followed unless *flags* has ``O_NOFOLLOW``.

    Raises:
        OSError: the file cannot be opened, or is a pipe, a device, a socket or a folder.
    """
    handle = os.open(path, READ_ONLY | flags)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise PermissionError(errno.EACCES, "it is not a regular file", str(path))
    return os.fdopen(handle, "rb")
