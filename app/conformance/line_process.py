"""Subprocess with line-based communication and deadlines."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer

from clawmem.ports.errors import InvalidInput

LONGEST_LINE = 16_000_000  # bytes; protects against a line that never ends
ENDING_S = 1.0  # time for the process to exit after it closed its output
LAST_LINES = 10  # lines of stderr to report


class LineProcess:
    """
    One run of a command.

    Sending and receiving may block, so run both inside a `deadline`, which kills the process and its children.
    """

    def __init__(self, command: str) -> None:
        """Start *command*, quoted as for a shell. Raises `InvalidInput` if that fails."""
        parts = _parted(command)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        try:
            self._process = subprocess.Popen(
                parts,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,  # allows killing its children, too
            )
        except OSError as error:
            self._stderr.close()
            raise _unusable(command, f"cannot be started: {error.strerror}") from error
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Event]:
        """Kill the process unless the block ends in time; the event is set if it was killed."""
        is_over = Event()

        def expire() -> None:
            is_over.set()
            self._kill()

        timer = Timer(seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            yield is_over
        finally:
            timer.cancel()

    def send(self, line: str) -> None:
        """Write a line; if the process has ended, the error only appears in `receive`."""
        with suppress(OSError):
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()

    def send_end(self) -> None:
        """Close the standard input of the process."""
        with suppress(OSError):
            self._stdin.close()

    def receive(self) -> bytes:
        """Return the next line, or the start of an overlong one; empty at the end of the output."""
        return self._stdout.readline(LONGEST_LINE)

    def ending(self) -> str:
        """Describe how the process ended; to be called at the end of its output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_S)
        code = self._process.returncode
        if code is None:
            return "closed its output"
        return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"

    def last_words(self) -> list[str]:
        """Return the last lines of stderr."""
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace").rstrip().splitlines()[-LAST_LINES:]

    def end(self) -> None:
        """Kill the process and release all resources."""
        self._kill()
        self._process.wait()
        self.send_end()
        self._stdout.close()
        self._stderr.close()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):  # already ended; macOS raises the latter
                os.killpg(self._process.pid, signal.SIGKILL)


def _parted(command: str) -> str | list[str]:
    if sys.platform == "win32":
        return command  # Windows splits the command by its own rules
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise _unusable(command, f"cannot be understood: {error}") from error
    if not parts:
        raise _unusable(command, "names no program")
    return parts


def _unusable(command: str, why: str) -> InvalidInput:
    return InvalidInput("INVALID_INPUT", f"--cmd {command!r} {why}.")
