"""Test vectors of the installed package, and the conformance test of a program against them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.resources import files
from typing import Any

from clawmem.app.conformance.program import Answer, Difference, NoAnswer, PortProgram, differences


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
            cases = tuple(Case(value["name"], value["input"], value["expected"]) for value in read["cases"])
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
        return [verdict for verdict in self.verdicts if verdict.outcome is Outcome.FAILED]

    def by_policy(self) -> dict[str, PortReport]:
        """Return one report per policy."""
        parted: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            parted.setdefault(verdict.policy, []).append(verdict)
        return {policy: PortReport(verdicts) for policy, verdicts in parted.items()}

    def count(self, outcome: str) -> int:
        """Return the number of cases with this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)


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
