"""The conformance test of a program against the test vectors of the installed package, by JSON lines."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.resources import files
from threading import Event, Timer
from typing import Any

from clawmem.app.services.progress import Progress
from clawmem.ports.errors import InvalidInput

ROOM = 60  # most characters of a value in a reason
PATIENCE = 3  # consecutive cases without an answer, after which no more are asked
LONGEST_LINE = 16_000_000  # bytes; protects against a line that never ends
ENDING_S = 1.0  # time for the process to exit after it closed its output, or after the last case
LAST_LINES = 10  # lines of stderr to report
REFUSAL = {"error": True}


@dataclass(frozen=True, slots=True)
class Case:
    """One input of a policy and the expected answer, as decoded JSON."""

    name: str
    given: Any
    expected: Any


@dataclass(frozen=True, slots=True)
class VectorFile:
    """The cases of one policy; ``tolerance`` is absolute and applies only to numbers with a fraction."""

    policy: str
    tolerance: float
    cases: tuple[Case, ...]


def load_vectors() -> list[VectorFile]:
    """Return every vector file, sorted by policy."""
    vectors = []
    # Located from the root package: importing the contracts package requires pytest.
    for path in files("clawmem").joinpath("contracts", "vectors").iterdir():
        if path.name.endswith(".json"):
            read = json.loads(path.read_text("utf-8"))
            cases = tuple(Case(value["name"], value["input"], value["expected"]) for value in read["cases"])
            vectors.append(VectorFile(read["policy"], read.get("tolerance", 0.0), cases))
    return sorted(vectors, key=lambda file: file.policy)


def differences(got: Any, expected: Any, tolerance: float = 0.0, path: str = "$") -> list[str]:
    """
    Return the differences between *got* and *expected*, each with its place, such as ``$.fragments[2].text``.

    Objects must have the same keys in any order, lists the same length and order. Where a number with a fraction is
    expected, a number may differ by at most *tolerance*; everything else must be equal, and a boolean is no number.
    """
    if isinstance(got, dict) and isinstance(expected, dict):
        keys = got.keys() & expected.keys()
        pairs = [(f"{path}.{key}", got[key], expected[key]) for key in expected if key in keys]
        faults = [f"{path}.{key}: missing" for key in expected.keys() - keys]
        faults += [f"{path}.{key}: not expected" for key in got.keys() - keys]
    elif isinstance(got, list) and isinstance(expected, list):
        pairs = [(f"{path}[{place}]", *pair) for place, pair in enumerate(zip(got, expected, strict=False))]
        lengths = f"{path}: expected a list of {len(expected)}, got one of {len(got)}"
        faults = [lengths] if len(got) != len(expected) else []
    else:
        is_equal = got == expected and isinstance(got, bool) is isinstance(expected, bool)
        if isinstance(expected, float) and isinstance(got, int | float) and not isinstance(got, bool):
            with suppress(OverflowError):  # a whole number beyond every float
                is_equal = abs(got - expected) <= tolerance
        return [] if is_equal else [f"{path}: expected {shortened(expected)}, got {shortened(got)}"]
    return faults + [
        fault for at, value, other in pairs for fault in differences(value, other, tolerance, at)
    ]


def shortened(value: Any, room: int = ROOM) -> str:
    """Return *value* as JSON, cut after *room* characters."""
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= room else f"{written[:room]}…"


class NoAnswer(Exception):
    """The program failed to answer a case; the message says how."""


@dataclass(eq=False, slots=True)
class PortProgram:
    """
    The program that is tested, started on first use and again after it failed.

    Cases are sent one at a time, so that a crash, a hang or invalid output belongs to a known case. A deadline kills the
    process and its children.

    Args:
        command: The command, quoted as for a shell.
        timeout_s: Seconds for one case.
    """

    command: str
    timeout_s: float
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _stderr: Any = field(default_factory=tempfile.TemporaryFile, init=False)

    def ask(self, case_id: str, policy: str, given: Any) -> dict[str, Any]:
        """Return the answer to a case: ``output``, ``error`` or ``unsupported``; raise `NoAnswer` or `InvalidInput`."""
        process = self._process = self._process or self._started()
        assert process.stdin and process.stdout
        is_over = Event()

        def expire() -> None:
            is_over.set()
            _kill(process)

        timer = Timer(self.timeout_s, expire)
        timer.daemon = True
        timer.start()
        try:
            with suppress(OSError):  # ASCII only: some languages treat U+2028 as the end of a line
                question = {"id": case_id, "policy": policy, "input": given}
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
            return _answer(process.stdout.readline(LONGEST_LINE), case_id, process)
        except NoAnswer as error:
            late = f"gave no answer within {self.timeout_s:g} s; is every line ended and flushed at once?"
            self._end()
            self._stderr.seek(0)
            last = self._stderr.read().decode("utf-8", "replace").rstrip().splitlines()[-LAST_LINES:]
            self._stderr.seek(0)
            self._stderr.truncate()
            raise NoAnswer("\n".join([late if is_over.is_set() else str(error), *last])) from None
        finally:
            timer.cancel()

    def close(self) -> None:
        """Close the program's input, give it a moment, and end it."""
        if self._process and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING_S)
        self._end()
        self._stderr.close()

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            # Windows splits the command by its own rules.
            parts = self.command if sys.platform == "win32" else shlex.split(self.command)
            return subprocess.Popen(
                parts,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,  # allows killing its children, too
            )
        except (OSError, ValueError, IndexError) as error:  # IndexError: an empty command
            reason = getattr(error, "strerror", None) or "it is no command"
            fault = f"--cmd {self.command!r} cannot be started: {reason}."
            raise InvalidInput("INVALID_INPUT", fault) from error

    def _end(self) -> None:
        if process := self._process:
            _kill(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
        self._process = None


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):  # already ended; macOS raises the latter
            os.killpg(process.pid, signal.SIGKILL)


def _answer(line: bytes, case_id: str, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Return a line of the program, which must be one answer to the case *case_id*."""
    if not line:
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_S)
        code = process.returncode
        raise NoAnswer(f"ended without an answer{'' if code is None else f', with exit code {code}'}")
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(line)
    forms = {"output", "unsupported", "error"}
    if not isinstance(answer, dict) or answer.get("id") != case_id or len(forms & answer.keys()) != 1:
        raise NoAnswer(
            f"wrote {shortened(line.decode('utf-8', 'replace'))}: an answer is a JSON object with the id of the case, "
            "and an output, an error, or unsupported: true"
        )
    return answer


class Outcome(StrEnum):
    """Result of a case."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    UNASKED = "unasked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of one case with differences and a reason."""

    policy: str
    case: Case
    outcome: Outcome
    got: Any = None
    differences: Sequence[str] = ()
    reason: str = ""


def judge(
    program: PortProgram,
    vectors: Sequence[VectorFile],
    *,
    required: bool = False,
    progress: Progress = lambda done, total: None,
) -> list[Verdict]:
    """
    Test *program* with every case of *vectors* in their order, and end it; raise `InvalidInput` if it cannot start.

    A policy is supported or not as a whole: once one of its cases has passed, or if it is *required*, "unsupported" is a
    failure.
    """
    total, verdicts = sum(len(file.cases) for file in vectors), list[Verdict]()
    lost, has_answered = 0, False
    try:
        for file in vectors:
            lost = 0 if has_answered else lost
            for case in file.cases:
                verdict = Verdict(file.policy, case, Outcome.UNASKED)
                if lost < PATIENCE:
                    verdict = _verdict(program, file, case)
                    is_lost = verdict.outcome is Outcome.FAILED and not verdict.differences
                    lost, has_answered = (lost + 1, has_answered) if is_lost else (0, True)
                verdicts.append(verdict)
                progress(len(verdicts), total)
    finally:
        program.close()
    supported = {verdict.policy for verdict in verdicts if required or verdict.outcome is Outcome.PASSED}
    reason = "The program does not support this case."
    return [
        replace(verdict, outcome=Outcome.FAILED, reason=reason)
        if verdict.outcome is Outcome.UNSUPPORTED and verdict.policy in supported
        else verdict
        for verdict in verdicts
    ]


def _verdict(program: PortProgram, file: VectorFile, case: Case) -> Verdict:
    try:
        answer = program.ask(f"{file.policy}: {case.name}", file.policy, case.given)
    except NoAnswer as error:
        return Verdict(file.policy, case, Outcome.FAILED, reason=f"The program {error}")
    if "unsupported" in answer:
        return Verdict(file.policy, case, Outcome.UNSUPPORTED)
    got = REFUSAL if "error" in answer else answer["output"]
    if faults := differences(got, case.expected, file.tolerance):
        refused = f"The program refused the input: {answer['error']}" if "error" in answer else ""
        return Verdict(file.policy, case, Outcome.FAILED, got, faults, refused)
    return Verdict(file.policy, case, Outcome.PASSED, got)
