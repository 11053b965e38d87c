"""The conformance test of other implementations: conformance vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from clawmem.app.conformance.judging import JudgePort, PortReport, VectorFile, Verdict, load_vectors
from clawmem.app.conformance.program import PortProgram, shortened
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.rendering import progress, show, show_json, show_table
from clawmem.app.interfaces.cli.session import one_of, wants_json
from clawmem.app.operations.doctor import DIFFERENCES
from clawmem.app.operations.output import plural

cli = typer.Typer(rich_markup_mode=None)
conformance = typer.Typer(
    cls=Verbs, rich_markup_mode=None, help="Whether another implementation answers as this one."
)
cli.add_typer(conformance, name="conformance")

ROOM = 160  # most characters shown of an input or an answer
PLACES = 5  # most differences shown of one answer
OUTCOMES = ("passed", "failed", "unsupported", "unasked")


@conformance.callback()
def judging() -> None:
    """Check whether another implementation gives the same answers as this one."""


@conformance.command()
def vectors(
    ctx: typer.Context,
    cmd: Annotated[str, typer.Option("--cmd", help="Command that starts the program.", metavar="COMMAND")],
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this policy, which must then be supported; repeat it.", metavar="POLICY"),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one case.", min=0.1, max=3600)] = 10.0,
) -> None:
    """Run every case of the test vectors with a program, and show where its answers differ."""
    report = _judged(cmd, only or [], timeout)
    if wants_json(ctx):
        show_json(_record(report))
    else:
        _show(report)
    raise typer.Exit(0 if report.conforms else DIFFERENCES)


def _judged(command: str, only: Sequence[str], timeout_s: float) -> PortReport:
    files = _chosen(only)
    with progress("Asking") as step:
        return JudgePort(PortProgram(command, timeout_s))(files, required=bool(only), progress=step)


def _chosen(only: Sequence[str]) -> list[VectorFile]:
    files = load_vectors()
    wanted = {one_of("--only", name, [file.policy for file in files]) for name in only}
    return [file for file in files if not only or file.policy in wanted]


def _record(report: PortReport) -> dict[str, Any]:
    return {
        "conforms": report.conforms,
        "policies": dict(_counts(report)),
        "failures": [_failure_record(failure) for failure in report.failures],
    }


def _counts(report: PortReport) -> Iterator[tuple[str, dict[str, int]]]:
    for policy, part in report.by_policy().items():
        yield policy, {outcome: part.count(outcome) for outcome in OUTCOMES}


def _failure_record(failure: Verdict) -> dict[str, Any]:
    return {
        "policy": failure.policy,
        "case": failure.case.name,
        "input": failure.case.given,
        "expected": failure.case.expected,
        "got": failure.got,
        "differences": [difference._asdict() for difference in failure.differences],
        "reason": failure.reason,
    }


def _show(report: PortReport) -> None:
    show_table(("policy", *OUTCOMES), [(policy, *counts.values()) for policy, counts in _counts(report)])
    for failure in report.failures:
        show("\n" + "\n".join(_failure_lines(failure)))
    show("\n" + _summary(report))


def _failure_lines(failure: Verdict) -> list[str]:
    lines = [
        f"FAIL  {failure.policy}: {failure.case.name}",
        f"input: {shortened(failure.case.given, ROOM)}",
        f"expected: {shortened(failure.case.expected, ROOM)}",
        *([f"got: {shortened(failure.got, ROOM)}"] if failure.differences else []),
        *(f"{path}: {reason}" for path, reason in failure.differences[:PLACES]),
        *failure.reason.splitlines(),
    ]
    if (more := len(failure.differences) - PLACES) > 0:
        lines.append(f"and {more} more")
    return [lines[0], *(f"      {line}" for line in lines[1:])]


def _summary(report: PortReport) -> str:
    passed, failed, unsupported, unasked = (report.count(name) for name in OUTCOMES)
    if report.conforms:
        return f"{plural(passed, 'case')} passed, {unsupported} not supported."
    left_out = f" {unasked:,} were not asked, after too many losses." if unasked else ""
    return f"{failed:,} of {plural(len(report.verdicts), 'case')} went wrong.{left_out}"
