"""The report about the use and the growth of a vault: report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from clawmem.app.interfaces.cli.session import one_of, opened, wants_json

if TYPE_CHECKING:
    from clawmem.ports.analytics import VaultReport

cli = typer.Typer(rich_markup_mode=None)

Since = Annotated[
    str | None,
    typer.Option(help="Count questions from then on: a day, or days such as 30d.", show_default=False),
]
Top = Annotated[int, typer.Option(help="Rows of the tables that are long, 1 to 1000.")]
Parquet = Annotated[
    Path | None,
    typer.Option(
        help="Write documents, recalls and hits here, as Parquet.", metavar="DIR", show_default=False
    ),
]
Plots = Annotated[Path | None, typer.Option(help="Draw the answers here.", metavar="DIR", show_default=False)]
Format = Annotated[str, typer.Option(help="Of the plots: png or svg.")]

FORMATS = ("png", "svg")


class Section(NamedTuple):
    """A table of the report: the question that it answers, its columns, and the condition on its rows."""

    title: str
    question: str
    columns: str  # column names, separated by blanks
    latest: bool = False  # whether a long table shows its last rows instead of its first
    where: Mapping[str, str] = {}


_GROWTH = "month collection documents bytes documents_total bytes_total"
SECTIONS = (
    Section(
        "Recalled most",
        "most_recalled",
        "document content_type recalls questions best_rank last_recalled_at",
    ),
    Section("Never recalled, oldest first", "never_recalled", "document content_type authored_at age_days"),
    Section(
        "By collection and type",
        "coverage",
        "collection content_type documents bytes pinned unembedded recalled recalls",
    ),
    Section("Growth, by the month written", "growth", _GROWTH, latest=True, where={"basis": "authored"}),
    Section("Growth, by the month indexed", "growth", _GROWTH, latest=True, where={"basis": "indexed"}),
    Section(
        "Documents by age in days",
        "ages",
        "collection future under_7 under_30 under_90 under_365 older median_days",
    ),
    Section("Age by type", "staleness", "content_type documents median_days oldest_days overdue"),
    Section("No longer served", "inactive", "collection reason documents bytes"),
    Section("Recalls by month", "use", "month collection content_type recalls documents", latest=True),
    Section("Speed", "speed", "verb recalls unanswered degraded p50_ms p95_ms slowest_ms"),
    Section("Speed by day", "days", "day verb recalls unanswered degraded p50_ms p95_ms", latest=True),
    Section("Degraded answers", "degraded", "verb leg recalls share last_at"),
)

# Headings for columns whose names are unclear.
HEADINGS = {
    "under_7": "<7",
    "under_30": "<30",
    "under_90": "<90",
    "under_365": "<365",
    "older": "≥365",
    "unembedded": "without vectors",
    "documents_total": "in all",
    "bytes_total": "size in all",
    "bytes": "size",
}


@cli.callback()
def owning() -> None:
    """Make the command line a group even with one command."""


@cli.command()
def report(
    ctx: typer.Context,
    since: Since = None,
    top: Top = 10,
    parquet: Parquet = None,
    plots: Plots = None,
    format: Format = "png",
) -> None:
    """Report recalls, growth, age of documents and speed."""
    from clawmem.app.interfaces.cli.rendering import show_json

    one_of("--format", format, FORMATS)
    found = _made(ctx, since, top, parquet)
    drawn = _drawn(found, plots, format) if plots else []
    if wants_json(ctx):
        show_json(_record(found, drawn))
    else:
        _show(found, top, drawn)


def _made(ctx: typer.Context, since: str | None, top: int, parquet: Path | None) -> VaultReport:
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.services.maintenance.report import check_top, read_since

    check_top(top)
    with opened(ctx, read_only=True) as services:
        begin = read_since(since, services.clock.now_ms()) if since is not None else None
        folder = _folder(parquet) if parquet else None
        with progress("Reading") as step:
            return services.report(since=begin, top=top, export=folder, progress=step)


def _drawn(found: VaultReport, plots: Path, kind: str) -> list[str]:
    from clawmem.app.bootstrap.adapters import report_plots

    return report_plots()(found, _folder(plots), kind)


def _folder(path: Path) -> str:
    from clawmem.ports.errors import InvalidInput

    try:
        path.expanduser().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error
    return str(path.expanduser())


def _record(found: VaultReport, drawn: Sequence[str]) -> dict[str, Any]:
    return {
        "now": found.now,
        "since": found.since,
        "documents": found.documents,
        "recalls": found.recalls,
        "tables": {question.value: table.records() for question, table in found.tables.items()},
        "files": [*found.files, *drawn],
    }


def _show(found: VaultReport, top: int, drawn: Sequence[str]) -> None:
    from clawmem.app.interfaces.cli.rendering import show
    from clawmem.app.operations.output import plural

    period = f"since {found.since}" if found.since else "so far"
    show(f"{plural(found.documents, 'document')}, {plural(found.recalls, 'recorded question')} {period}.")
    if not found.documents:
        show("The vault serves nothing yet. Next: clawmem update")
    if not found.recalls:
        show("Nothing can be said of recalls: search, vsearch and query are recorded as they are asked.")
    for section in SECTIONS:
        if found.recalls or section.question != "never_recalled":  # else it would list all documents
            _show_section(found, section, top)
    for path in (*found.files, *drawn):
        show(f"Written: {path}")


def _show_section(found: VaultReport, section: Section, top: int) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_table

    records = _rows(found, section)
    if not records:
        return
    shown = records[-top:] if section.latest else records[:top]
    cut = f" ({len(shown)} of {len(records)}; --json has all)" if len(shown) < len(records) else ""
    columns = section.columns.split()
    show(f"\n{section.title}{cut}")
    show_table(
        [_heading(column) for column in columns],
        [[_cell(column, record[column]) for column in columns] for record in shown],
    )


def _rows(found: VaultReport, section: Section) -> list[dict[str, Any]]:
    from clawmem.ports.analytics import Question

    records = found.tables[Question(section.question)].records()
    return [r for r in records if all(r[column] == value for column, value in section.where.items())]


def _heading(column: str) -> str:
    return HEADINGS.get(column, column.replace("_at", "").replace("_", " "))


def _cell(column: str, value: Any) -> str:
    for ending, shown in _SHOWN.items():
        if column.endswith(ending):
            return shown(value)
    return str(value)


def _size(count: int) -> str:
    for unit, length in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count} B"


_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "_at": lambda time: str(time)[:10],
    "_ms": lambda ms: f"{ms:.1f}",
    "share": lambda share: f"{share:.0%}",
    "bytes": _size,
    "bytes_total": _size,
}
