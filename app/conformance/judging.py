"""Test vectors of the installed package, and the conformance test of a program against them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.resources import files
from typing import Any, NamedTuple

from clawmem.app.conformance.program import Answer, NoAnswer, PortProgram

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
    for place, (one, other) in enumerate(zip(got, expected, strict=False)):
        yield from _differing(f"{path}[{place}]", one, other, tolerance)


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
    return sorted(_files(), key=lambda file: file.policy)


def _files() -> Iterator[VectorFile]:
    # Located from the root package: importing the contracts package requires pytest.
    for path in files("clawmem").joinpath("contracts", "vectors").iterdir():
        if path.name.endswith(".json"):
            read = json.loads(path.read_text("utf-8"))
            cases = tuple(Case(one["name"], one["input"], one["expected"]) for one in read["cases"])
            yield VectorFile(read["policy"], read.get("tolerance", 0.0), cases)


PATIENCE = 3  # consecutive cases without an answer, after which the rest of the policy is skipped
REFUSAL = {"error": True}

Progress = Callable[[int, int], None]


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
    differences: Sequence[Difference] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PortReport:
    """All verdicts, in the order of the vectors."""

    verdicts: Sequence[Verdict]

    @property
    def conforms(self) -> bool:
        """Whether every case of the supported policies passed."""
        return not self.count(Outcome.FAILED) and not self.count(Outcome.UNASKED)

    @property
    def failures(self) -> list[Verdict]:
        """The failed cases."""
        return [one for one in self.verdicts if one.outcome is Outcome.FAILED]

    def by_policy(self) -> dict[str, PortReport]:
        """Return one report per policy."""
        parted: dict[str, list[Verdict]] = {}
        for one in self.verdicts:
            parted.setdefault(one.policy, []).append(one)
        return {policy: PortReport(verdicts) for policy, verdicts in parted.items()}

    def count(self, outcome: str) -> int:
        """Return the number of cases with this outcome."""
        return sum(one.outcome == outcome for one in self.verdicts)


class JudgePort:
    """Tests one program with every case."""

    def __init__(self, program: PortProgram) -> None:
        self._program = program
        self._lost = 0  # consecutive cases without an answer
        self._has_answered = False

    def __call__(
        self,
        files: Sequence[VectorFile],
        *,
        required: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> PortReport:
        """
        Test the program with *files*, and end it.

        A policy is supported or not as a whole: once one of its cases has passed, "unsupported" is a failure for the
        others.

        Args:
            required: Whether "unsupported" is always a failure.

        Raises:
            InvalidInput: the program cannot be started.
        """
        total, verdicts = sum(len(file.cases) for file in files), list[Verdict]()
        try:
            for verdict in self._verdicts(files):
                verdicts.append(verdict)
                progress(len(verdicts), total)
        finally:
            self._program.close()
        supported = {one.policy for one in verdicts if required or one.outcome is Outcome.PASSED}
        return PortReport([self._reconsidered(verdict, supported) for verdict in verdicts])

    def _verdicts(self, files: Sequence[VectorFile]) -> Iterator[Verdict]:
        for file in files:
            if self._has_answered:
                self._lost = 0
            for case in file.cases:
                yield self._verdict(file, case)

    def _verdict(self, file: VectorFile, case: Case) -> Verdict:
        if self._lost >= PATIENCE:
            return Verdict(file.policy, case, Outcome.UNASKED)
        try:
            answer = self._program.ask(_case_id(file.policy, case), file.policy, case.given)
        except NoAnswer as lost:
            self._lost += 1
            return Verdict(file.policy, case, Outcome.FAILED, reason=f"The program {lost}")
        self._lost, self._has_answered = 0, True
        return _judged(file, case, answer)

    def _reconsidered(self, verdict: Verdict, supported: set[str]) -> Verdict:
        """Return the verdict, corrected for repeated answers and inconsistent support."""
        if _case_id(verdict.policy, verdict.case) in self._program.repeated:
            return replace(verdict, outcome=Outcome.FAILED, reason="The program answered more than once.")
        if verdict.outcome is Outcome.UNSUPPORTED and verdict.policy in supported:
            return replace(verdict, outcome=Outcome.FAILED, reason="The program does not support this case.")
        return verdict


def _case_id(policy: str, case: Case) -> str:
    return f"{policy}: {case.name}"


def _judged(file: VectorFile, case: Case, answer: Answer) -> Verdict:
    if not answer.is_supported:
        return Verdict(file.policy, case, Outcome.UNSUPPORTED)
    got = answer.output if answer.refusal is None else REFUSAL
    found = differences(got, case.expected, file.tolerance)
    reason = f"The program refused the input: {answer.refusal}" if found and answer.refusal else ""
    return Verdict(file.policy, case, Outcome.FAILED if found else Outcome.PASSED, got, found, reason)
