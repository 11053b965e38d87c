"""Measurements: the benchmark of retrieval, and the conformance test of other implementations."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from clawmem.app.bench.collection import cases_file, load_collection, read_cases
from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.conformance.judging import Outcome, PortProgram, judge, load_vectors, shortened
from clawmem.app.environment.places import below_home, real_path
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import (
    chosen_by,
    one_of,
    progress,
    settings_of,
    show,
    show_json,
    show_part,
)
from clawmem.app.operations.output import fields_text, plural, records_table, table
from clawmem.app.services.retrieval.request import Ranking
from clawmem.app.services.surfacing.steps import Choices
from clawmem.domain.surfacing.profiles import profile_named
from clawmem.domain.surfacing.turns import Turns

cli = typer.Typer(rich_markup_mode=None)
bench = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Measure the quality and the speed of answers.")
conformance = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Test another implementation.")
cli.add_typer(bench, name="bench")
cli.add_typer(conformance, name="conformance")

PIPELINES = {"words": "search", "vectors": "vsearch", "hybrid": "query"}  # by mode
MEASURES = ("recall@1", "recall@5", "recall@10", "hit@5", "ndcg@10", "mrr@10")
ROOM = 160  # most characters shown of a part of a failure


@bench.command()
def retrieval(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A judged collection.", metavar="DIR")],
    mode: Annotated[str, typer.Option(help=f"One of: {', '.join(PIPELINES)}.")] = "hybrid",
    unit: Annotated[str, typer.Option(help="Unit of the results: doc or turn.")] = "doc",
    pooled: Annotated[bool, typer.Option("--pooled", help="Ask all of it, not the question's part.")] = False,
) -> None:
    """Index a judged collection in a temporary vault, answer every question, and report the measures."""
    one_of("--mode", mode, tuple(PIPELINES))
    turns = one_of("--unit", unit, ("doc", "turn")) == "turn"
    collection = load_collection(real_path(below_home(folder)), turns=turns)
    settings = settings_of(ctx)
    measure_retrieval = lazy("app.bench.retrieval:measure_retrieval", extra="bench")
    percentile = lazy("app.bench.retrieval:percentile")
    with tempfile.TemporaryDirectory(prefix="clawmem-bench-") as place:
        settings = settings.model_copy(update={"vault": Path(place) / "vault.sqlite"})
        with open_services(settings) as services, progress("Asking") as step:
            embed = None if mode == "words" else services.embed
            pipeline = services.pipeline(PIPELINES[mode])
            system = services.update, embed, pipeline, services.clock.now_ms()
            chosen = {"turns": turns, "pooled": pooled, "ranking": Ranking(settings.ranking)}
            report = measure_retrieval(*system, collection, **chosen, progress=step)
    figures = {
        "mode": mode,
        "unit": unit,
        "pooled": pooled,
        "documents": report.documents,
        "questions": len(report.run),
        "index_s": report.index_s,
        "files_per_s": report.documents / report.index_s if report.index_s else None,
        "embed_s": report.embed_s,
        "query_p50_ms": percentile(report.query_ms, 0.5),
        "query_p95_ms": percentile(report.query_ms, 0.95),
    }
    if chosen_by(ctx).json:
        show_json({**figures, "groups": report.groups, "run": report.run})
        return
    rows = []
    for name, group in report.groups.items():
        means, intervals = group["mean"], group["interval95"]
        cells = ("{:.3f} [{:.3f}, {:.3f}]".format(means[key], *intervals[key]) for key in MEASURES)
        rows.append((name, group["n"], *cells))
    show_part(table(("category", "n", *MEASURES), rows))
    show("\n".join(fields_text(figures)))


@bench.command()
def own(ctx: typer.Context) -> None:
    """
    Report which of your own cases hold: prompts, and notes that they should or should not have received.

    The pages of 'clawmem ui' add cases to the file next to the config file.
    """
    settings = settings_of(ctx)
    file = cases_file(settings.config_file)
    cases, rows = read_cases(file), list[dict[str, object]]()
    profile = profile_named(settings.profile, settings.token_budget)
    with open_services(settings, read_only=True) as services, progress("Asking") as step:
        surface = services.prompt_surfacing(settings)
        surface = replace(surface, recalls=replace(surface.recalls, enabled=False, forgets=False))
        choices = Choices(profile, withheld=services.withheld())

        for done, case in enumerate(cases, start=1):
            surfaced = surface(case.prompt, Turns(None), choices)
            results = surfaced.answer.results if surfaced.block else ()
            is_there = case.file in {result.document.display_path for result in results}
            rows.append({**case._asdict(), "holds": is_there is case.wanted})
            step(done, len(cases))
    if chosen_by(ctx).json:
        show_json({"file": str(file), "cases": rows})
        return
    for part in records_table(rows, "holds wanted file prompt"):
        show_part(part)
    passed = sum(bool(row["holds"]) for row in rows)
    show(f"{passed} of {plural(len(rows), 'case')} hold. {file}" if rows else f"No cases yet in {file}")


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
    files = load_vectors()
    wanted = {one_of("--only", name, [file.policy for file in files]) for name in only or ()}
    with progress("Asking") as step:
        chosen = [file for file in files if not wanted or file.policy in wanted]
        verdicts = judge(PortProgram(cmd, timeout), chosen, required=bool(wanted), progress=step)
    counted = Counter((verdict.policy, verdict.outcome) for verdict in verdicts)
    policies = {file.policy: {name: counted[file.policy, name] for name in Outcome} for file in chosen}
    total = Counter(verdict.outcome for verdict in verdicts)
    conforms = not total[Outcome.FAILED] and not total[Outcome.UNASKED]
    failures = [
        {
            "policy": failure.policy,
            "case": failure.case.name,
            "input": failure.case.given,
            "expected": failure.case.expected,
            "got": failure.got,
            "differences": failure.differences,
            "reason": failure.reason,
        }
        for failure in verdicts
        if failure.outcome is Outcome.FAILED
    ]
    if chosen_by(ctx).json:
        show_json({"conforms": conforms, "policies": policies, "failures": failures})
    else:
        rows = [(name, *counts.values()) for name, counts in policies.items()]
        show_part(table(("policy", *Outcome), rows))
        for failure in failures:
            title = f"\nFAIL  {failure.pop('policy')}: {failure.pop('case')}"
            known = {name: part for name, part in failure.items() if part not in (None, [], "")}
            lines = [f"      {name}: {shortened(part, ROOM)}" for name, part in known.items()]
            show("\n".join([title, *lines]))
        counts = ", ".join(f"{total[name]:,} {name}" for name in Outcome)
        show(f"\n{plural(len(verdicts), 'case')}: {counts}.")
    raise typer.Exit(0 if conforms else 7)
