"""
Standard input and output as a channel of messages, one per line.

Other output of this process and its children goes to standard error. A signal ends the channel like the end of input:
nothing more is read, and running requests are answered first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

PIECE = 65_536


class Lines:
    """The channel of this process; created once, by the main thread."""

    def __init__(self) -> None:
        self._in = os.dup(0)
        self._out = os.dup(1)
        self._one_at_a_time = threading.Lock()
        self._end, self._ended = os.pipe()
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(2, 1)
        sys.stdout = sys.stderr
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.end())

    def end(self) -> None:
        """Stop reading; may be called from any thread or signal handler."""
        with suppress(OSError):
            os.write(self._ended, b"x")

    def read(self) -> Iterator[bytes]:
        """Yield lines until the end of input or a call of `end`."""
        from select import select

        rest = b""
        while True:
            ready, _, _ = select([self._in, self._end], [], [])
            piece = b"" if self._end in ready else os.read(self._in, PIECE)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line for line in lines if line.strip())

    def write(self, line: bytes) -> None:
        """Write one message; do nothing if the client has gone."""
        content = line.rstrip(b"\n") + b"\n"
        with self._one_at_a_time, suppress(OSError):
            while content:
                content = content[os.write(self._out, content) :]
