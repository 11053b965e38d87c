"""The report about the use and the growth of a vault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.operation import Effect, Option, Result, operation
from clawmem.app.operations.output import Part, plural, records_table
from clawmem.app.services.maintenance.status import MAX_TOP, read_since
from clawmem.ports.errors import InvalidInput


class UsageReport(Result):
    """The recalls, growth, age of documents and speed of a vault, as tables of records; ``files`` were written."""

    now: str
    since: str | None
    documents: int
    recalls: int
    top: int
    tables: dict[str, list[dict[str, Any]]]
    files: list[str]


class Section(NamedTuple):
    """A table of the report: the question that it answers, its columns, and the condition on its rows."""

    title: str
    question: str
    columns: str  # see `records_table`
    latest: bool = False  # whether a long table shows its last rows instead of its first
    where: Mapping[str, str] = {}


_GROWTH = "month collection documents bytes=size documents_total=in_all bytes_total=size_in_all"
_SPEED = "recalls unanswered degraded p50_ms p95_ms"
SECTIONS = (
    Section(
        "Recalled most", "most_recalled", "document content_type recalls questions best_rank last_recalled_at"
    ),
    Section("Never recalled, oldest first", "never_recalled", "document content_type authored_at age_days"),
    Section(
        "By collection and type",
        "coverage",
        "collection content_type documents bytes=size pinned unembedded=without_vectors recalled recalls",
    ),
    Section("Growth, by the month written", "growth", _GROWTH, latest=True, where={"basis": "authored"}),
    Section("Growth, by the month indexed", "growth", _GROWTH, latest=True, where={"basis": "indexed"}),
    Section(
        "Documents by age in days",
        "ages",
        "collection future under_7 under_30 under_90 under_365 older median_days",
    ),
    Section("Age by type", "staleness", "content_type documents median_days oldest_days overdue"),
    Section("No longer served", "inactive", "collection reason documents bytes=size"),
    Section("Recalls by month", "use", "month collection content_type recalls documents", latest=True),
    Section("Speed", "speed", f"verb {_SPEED} slowest_ms"),
    Section("Speed by day", "days", f"day verb {_SPEED}", latest=True),
    Section("Degraded answers", "degraded", "verb leg recalls share last_at"),
)


def _folder(path: Path) -> str:
    try:
        path.expanduser().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error
    return str(path.expanduser())


def _text(result: UsageReport) -> Iterator[Part]:
    period = f"since {result.since}" if result.since else "so far"
    yield f"{plural(result.documents, 'document')}, {plural(result.recalls, 'recorded question')} {period}."
    if not result.documents:
        yield "The vault serves nothing yet. Next: clawmem update"
    if not result.recalls:
        yield "Nothing can be said of recalls: questions are recorded as they are asked."
    for section in SECTIONS:
        if result.recalls or section.question != "never_recalled":  # else it would list all documents
            yield from _section(result, section)
    for path in result.files:
        yield f"Written: {path}"


def _section(result: UsageReport, section: Section) -> Iterator[Part]:
    records = [
        record
        for record in result.tables[section.question]
        if all(record[column] == value for column, value in section.where.items())
    ]
    if not records:
        return
    shown = records[-result.top :] if section.latest else records[: result.top]
    cut = f" ({len(shown)} of {len(records)}; --json has all)" if len(shown) < len(records) else ""
    yield f"\n{section.title}{cut}"
    yield from records_table(shown, section.columns)


@operation(Effect.READS, text=_text, is_tool=False, in_own_process=True)
def report(
    services: Services,
    since: Annotated[
        str | None, Field(description="Count questions from then on: a day, or days such as 30d.")
    ] = None,
    top: Annotated[
        int, Field(ge=1, le=MAX_TOP, description=f"Rows of the tables that are long, 1 to {MAX_TOP}.")
    ] = 10,
    parquet: Annotated[
        Path | None,
        Field(description="Write documents, recalls and hits to this folder, as Parquet."),
        Option(metavar="DIR"),
    ] = None,
    plots: Annotated[
        Path | None, Field(description="Draw the answers in this folder."), Option(metavar="DIR")
    ] = None,
    format: Annotated[Literal["png", "svg"], Field(description="Of the plots: png or svg.")] = "png",
) -> UsageReport:
    """Report recalls, growth, age of documents and speed."""
    first = read_since(since, services.clock.now_ms()) if since is not None else None
    folder = _folder(parquet) if parquet else None
    with services.progress("Reading") as step:
        found = services.report(since=first, top=top, export=folder, progress=step)
    drawn = services.draw_report(found, _folder(plots), format) if plots else []
    return UsageReport(
        now=found.now,
        since=found.since,
        documents=found.documents,
        recalls=found.recalls,
        top=top,
        tables={question.value: table.records() for question, table in found.tables.items()},
        files=[*found.files, *drawn],
    )
