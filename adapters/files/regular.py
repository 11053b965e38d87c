"""Opening files that somebody else names, without waiting for what is no file."""

from __future__ import annotations

import errno
import os
from stat import S_ISREG

TYPE_CHECKING = False  # as `typing` has it, which costs a prompt a millisecond and a half
if TYPE_CHECKING:
    from typing import BinaryIO

# Not blocking: the open of a pipe that nobody writes to would otherwise wait for ever.
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
