"""Process of a program that answers cases: one JSON object per line, on stdin and stdout."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Timer
from typing import Any, NamedTuple, NoReturn

from clawmem.ports.errors import InvalidInput

ROOM = 60  # most characters of a value in a reason
BEFORE = 20  # characters shown before the first difference of two texts


class Difference(NamedTuple):
    """The path of a differing value, such as ``$.fragments[2].text``, and the reason."""

    path: str
    reason: str


def differences(got: Any, expected: Any, tolerance: float = 0.0) -> list[Difference]:
    """
    Return the differences between *got* and *expected*; empty if they agree.

    Objects must have the same keys in any order, lists the same length and order. Where a number with a fraction is
    expected, a number may differ by at most *tolerance*; everything else must be equal, and a boolean is no number.
    """
    return list(_differing("$", got, expected, tolerance))


def shortened(value: Any, room: int = ROOM) -> str:
    """Return *value* as JSON, cut after *room* characters."""
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= room else f"{written[:room]}…"


def _differing(path: str, got: Any, expected: Any, tolerance: float) -> Iterator[Difference]:
    if isinstance(got, dict) and isinstance(expected, dict):
        yield from _differing_objects(path, got, expected, tolerance)
    elif isinstance(got, list) and isinstance(expected, list):
        yield from _differing_lists(path, got, expected, tolerance)
    elif not _agree(got, expected, tolerance):
        yield Difference(path, _reason(got, expected))


def _differing_objects(
    path: str, got: dict[str, Any], expected: dict[str, Any], tolerance: float
) -> Iterator[Difference]:
    for key, value in expected.items():
        if key in got:
            yield from _differing(_member(path, key), got[key], value, tolerance)
        else:
            yield Difference(_member(path, key), f"missing, expected {shortened(value)}")
    for key, value in got.items():
        if key not in expected:
            yield Difference(_member(path, key), f"not expected, got {shortened(value)}")


def _differing_lists(
    path: str, got: list[Any], expected: list[Any], tolerance: float
) -> Iterator[Difference]:
    if len(got) != len(expected):
        yield Difference(path, f"expected a list of {len(expected)}, got one of {len(got)}")
    for place, (value, other) in enumerate(zip(got, expected, strict=False)):
        yield from _differing(f"{path}[{place}]", value, other, tolerance)


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def _agree(got: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(got, bool) or isinstance(expected, bool):
        return got is expected
    if isinstance(expected, float) and isinstance(got, int | float):
        return _is_near(got, expected, tolerance)
    return bool(got == expected)


def _is_near(got: float, expected: float, tolerance: float) -> bool:
    try:
        return abs(got - expected) <= tolerance
    except OverflowError:  # a whole number beyond every float
        return False


def _reason(got: Any, expected: Any) -> str:
    if not isinstance(got, str) or not isinstance(expected, str):
        return f"expected {shortened(expected)}, got {shortened(got)}"
    place = _parting(got, expected)
    start = place - BEFORE if place > 2 * BEFORE else 0
    cut = "…" if start else ""
    shown = f"expected {cut}{shortened(expected[start:])}, got {cut}{shortened(got[start:])}"
    return f"{shown} (they part at character {place})"


def _parting(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


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


FAREWELL_S = 1.0  # time to exit after the last case
FORMS = frozenset({"output", "unsupported", "error"})


class NoAnswer(Exception):
    """The program failed to answer a case; the message says how."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a case; ``refusal`` is the reason why the input was rejected, if it was."""

    output: Any = None
    refusal: str | None = None
    is_supported: bool = True


class PortProgram:
    """
    The program, started on first use and again after it failed.

    Cases are sent one at a time, so that a crash, a hang or invalid output belongs to a known case. ``repeated`` holds
    the ids that were answered more than once.
    """

    def __init__(self, command: str, timeout_s: float) -> None:
        self._command = command
        self._timeout_s = timeout_s
        self._process: LineProcess | None = None
        self._answered: set[str] = set()
        self.repeated: set[str] = set()

    def ask(self, case_id: str, policy: str, given: Any) -> Answer:
        """
        Return the program's answer to one case.

        Raises:
            NoAnswer: there was no answer, or an invalid one.
            InvalidInput: the program cannot be started.
        """
        process = self._process = self._process or LineProcess(self._command)
        with process.deadline(self._timeout_s) as is_over:
            try:
                # ASCII only: some languages treat U+2028 as the end of a line.
                process.send(json.dumps({"id": case_id, "policy": policy, "input": given}))
                answer = _answer(self._said_about(case_id, process))
            except NoAnswer as lost:
                late = (
                    f"gave no answer within {self._timeout_s:g} s; is every line ended and flushed at once?"
                )
                self._lose(process, late if is_over.is_set() else str(lost))
        self._answered.add(case_id)
        return answer

    def close(self) -> None:
        """Close the program's input, read remaining output, and end the program."""
        if self._process:
            with self._process.deadline(FAREWELL_S), suppress(NoAnswer):
                self._process.send_end()
                while True:
                    self._is_repeated(_said(self._process))
            self._process.end()
            self._process = None

    def _said_about(self, case_id: str, process: LineProcess) -> dict[str, Any]:
        while True:
            said = _said(process)
            if said.get("id") == case_id:
                return said
            if not self._is_repeated(said):
                raise NoAnswer(f"answered the id {shortened(said.get('id'))}, which was not asked")

    def _is_repeated(self, said: dict[str, Any]) -> bool:
        case_id = said.get("id")
        if not isinstance(case_id, str) or case_id not in self._answered:
            return False
        self.repeated.add(case_id)
        return True

    def _lose(self, process: LineProcess, reason: str) -> NoReturn:
        message = "\n".join([reason, *process.last_words()])
        process.end()
        self._process = None
        raise NoAnswer(message) from None


def _said(process: LineProcess) -> dict[str, Any]:
    """Return the next line, which must be a JSON object."""
    line = process.receive()
    if not line:
        raise NoAnswer(f"{process.ending()} without an answer")
    try:
        said = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise NoAnswer(f"wrote {shortened(line.decode('utf-8', 'replace'))}, which is no JSON object")
    return said


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _answer(said: dict[str, Any]) -> Answer:
    forms = FORMS & said.keys()
    if forms == {"output"}:
        return Answer(said["output"])
    if forms == {"unsupported"} and said["unsupported"] is True:
        return Answer(is_supported=False)
    if forms == {"error"}:
        return Answer(refusal=str(said["error"]))
    raise NoAnswer(f"wrote {shortened(said)}: an answer has an output, an error, or unsupported: true")
