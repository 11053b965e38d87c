"""The benchmark of retrieval: bench retrieval."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from clawmem.app.bench.collection import load_collection
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.rendering import progress, show, show_json, show_table
from clawmem.app.interfaces.cli.session import one_of, settings_of, wants_json
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bench.retrieval import BenchReport, BenchRetrieval
    from clawmem.app.settings.model import Settings

cli = typer.Typer(rich_markup_mode=None)
bench = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Measure the quality and the speed of answers.")
cli.add_typer(bench, name="bench")

PIPELINES = {"words": "search", "vectors": "vsearch", "hybrid": "query"}  # by mode
UNITS = ("doc", "turn")
SHOWN = ("recall@1", "recall@5", "recall@10", "hit@5", "ndcg@10", "mrr@10")


class Setup(NamedTuple):
    """The input of a benchmark run."""

    folder: Path
    mode: str
    turns: bool
    pooled: bool


@bench.callback()
def measuring() -> None:
    """Measure the quality and the speed of retrieval."""


@bench.command()
def retrieval(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A judged collection.", metavar="DIR")],
    mode: Annotated[str, typer.Option(help=f"One of: {', '.join(PIPELINES)}.")] = "hybrid",
    unit: Annotated[str, typer.Option(help="Unit of the results: doc or turn.")] = "doc",
    pooled: Annotated[
        bool, typer.Option("--pooled", help="Ask all of it, not each question's part.")
    ] = False,
    run: Annotated[Path | None, typer.Option(help="Write the ranking here, in TREC form.")] = None,
) -> None:
    """Index a judged collection in a temporary vault, answer every question, and report the measures."""
    one_of("--mode", mode, tuple(PIPELINES))
    one_of("--unit", unit, UNITS)
    setup = Setup(folder, mode, unit == "turn", pooled)
    report = _measured(settings_of(ctx), setup)
    if run:
        _write_run(run, report)
    _show(ctx, setup, report)


def _measured(settings: Settings, setup: Setup) -> BenchReport:
    collection = load_collection(setup.folder.expanduser().resolve(), turns=setup.turns)
    with tempfile.TemporaryDirectory(prefix="clawmem-bench-") as folder:
        vault = Path(folder) / "vault.sqlite"
        return _run(settings.model_copy(update={"vault": vault}), setup, collection)


def _run(settings: Settings, setup: Setup, collection: Any) -> BenchReport:
    from clawmem.app.bootstrap.lazy import lazy
    from clawmem.app.bootstrap.opening import open_services
    from clawmem.app.services.retrieval.request import Ranking

    bench_retrieval = lazy("app.bench.retrieval:BenchRetrieval", extra="bench")
    with open_services(settings) as services, progress("Asking") as step:
        embed = None if setup.mode == "words" else services.embed
        pipeline = services.pipeline(PIPELINES[setup.mode])
        bench: BenchRetrieval = bench_retrieval(services.update, embed, pipeline, services.clock.now_ms())
        ranking = Ranking(settings.ranking)
        return bench(collection, turns=setup.turns, pooled=setup.pooled, ranking=ranking, progress=step)


def _write_run(path: Path, report: BenchReport) -> None:
    from clawmem.app.bench.retrieval import trec_lines

    try:
        path.write_text("".join(f"{line}\n" for line in trec_lines(report.run)), "utf-8")
    except OSError as error:
        raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error


def _show(ctx: typer.Context, setup: Setup, report: BenchReport) -> None:
    if wants_json(ctx):
        show_json({**_figures(setup, report), "groups": report.groups, "run": report.run})
        return
    show_table(("category", "n", *SHOWN), [_row(name, group) for name, group in report.groups.items()])
    show("\n" + _speed(_figures(setup, report)))


def _row(name: str, group: dict[str, Any]) -> tuple[str, ...]:
    cells = []
    for measure in SHOWN:
        low, high = group["interval95"][measure]
        cells.append(f"{group['mean'][measure]:.3f} [{low:.3f}, {high:.3f}]")
    return (name, str(group["n"]), *cells)


def _figures(setup: Setup, report: BenchReport) -> dict[str, Any]:
    return {
        "mode": setup.mode,
        "unit": "turn" if setup.turns else "doc",
        "pooled": setup.pooled,
        "documents": report.documents,
        "questions": len(report.run),
        "index_s": report.index_s,
        "files_per_s": report.documents / report.index_s if report.index_s else None,
        "embed_s": report.embed_s,
        "query_p50_ms": report.p50_ms,
        "query_p95_ms": report.p95_ms,
        "peak_mb": _peak_mb(),
    }


def _speed(figures: dict[str, Any]) -> str:
    peak = f"{figures['peak_mb']:.0f} MB" if figures["peak_mb"] else "unknown"
    return (
        f"{figures['documents']} documents read in {figures['index_s']:.2f} s "
        f"({figures['files_per_s'] or 0:.0f} files/s), vectors in {figures['embed_s']:.2f} s\n"
        f"query p50 {figures['query_p50_ms']:.1f} ms, p95 {figures['query_p95_ms']:.1f} ms; peak memory {peak}"
    )


def _peak_mb() -> float | None:
    """Return the peak memory of this process in MB; ``None`` on Windows, which does not report it."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
