"""A process that is spoken to line by line, and that cannot keep anybody waiting."""

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

LONGEST_LINE = 16_000_000  # bytes; a line that never ends is not read for ever
ENDING_S = 1.0  # between the end of its output and its own
LAST_LINES = 10  # of what it wrote on stderr


class LineProcess:
    """
    One run of a command.

    Sending and receiving wait for as long as the process likes: put both under a `deadline`, which kills it
    and everything that it started in turn.
    """

    def __init__(self, command: str) -> None:
        """Start *command*, quoted as for a shell. Raises `InvalidInput` when that cannot be done."""
        parts = _parted(command)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        try:
            self._process = subprocess.Popen(
                parts,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,  # whatever it starts in turn can be killed with it
            )
        except OSError as error:
            self._stderr.close()
            raise _unusable(command, f"cannot be started: {error.strerror}") from error
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Event]:
        """Kill the process unless the block ends in time; the event says that it was killed."""
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
        """Write a line; what has ended does not hear it, and says so when it is asked to `receive`."""
        with suppress(OSError):
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()

    def send_end(self) -> None:
        """Tell it that no line will follow."""
        with suppress(OSError):
            self._stdin.close()

    def receive(self) -> bytes:
        """The next line, or the beginning of one that is too long; empty once there is none any more."""
        return self._stdout.readline(LONGEST_LINE)

    def ending(self) -> str:
        """How it ended, in words; to be asked once there was nothing more to receive."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_S)
        code = self._process.returncode
        if code is None:
            return "closed its output"
        return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"

    def last_words(self) -> list[str]:
        """The last lines of what it wrote on stderr."""
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace").rstrip().splitlines()[-LAST_LINES:]

    def end(self) -> None:
        """Kill it, wherever it stands, and give everything back."""
        self._kill()
        self._process.wait()
        self.send_end()
        self._stdout.close()
        self._stderr.close()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):  # gone already; macOS says the second
                os.killpg(self._process.pid, signal.SIGKILL)


def _parted(command: str) -> str | list[str]:
    if sys.platform == "win32":
        return command  # parted by the system, by other rules
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise _unusable(command, f"cannot be understood: {error}") from error
    if not parts:
        raise _unusable(command, "names no program")
    return parts


def _unusable(command: str, why: str) -> InvalidInput:
    return InvalidInput("INVALID_INPUT", f"--cmd {command!r} {why}.")
