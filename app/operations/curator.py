"""Maintenance of the memory by its owner: repeated statements, duplicates and recommended actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.operations.operation import Command, Effect, NoParameters, Operation, Option, Request, Result
from clawmem.app.operations.provenance import TitledFile, titled_file
from clawmem.app.services.briefing import reflecting
from clawmem.app.services.lifecycle.archiving import read_policy
from clawmem.app.services.lifecycle.examining import Duplicates, Examination, examine, recommended
from clawmem.domain.security.quoting import title_to_read

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.app.bootstrap.services import Services

NEW = ".new"  # ending of the temporary file that replaces the report


class Days(Request):
    """The days to look back."""

    days: Annotated[
        int, Field(ge=1, le=36_500, description="Of how many days."), Option(metavar="DAYS", is_argument=True)
    ] = 14


class RepeatedPhrase(Result):
    """A text that several decisions contain."""

    text: str
    times: int


class UsedTogether(Result):
    """Two notes, and how often they were used together."""

    files: list[str]
    count: int


class Reflection(Result):
    """Decisions of the last days, their repeated phrases, failed attempts, and notes used together."""

    days: int
    decisions: list[str]
    phrases: list[RepeatedPhrase]
    antipatterns: list[TitledFile]
    together: list[UsedTogether]


class Consolidation(Request):
    """Number of notes to examine, and whether duplicates are archived or only listed."""

    most: Annotated[
        int,
        Field(ge=1, le=10_000, description="Number of uncertain notes to examine."),
        Option(metavar="MOST", is_argument=True),
    ] = 50
    dry_run: Annotated[bool, Field(description="Only name them."), Option(("--dry-run",))] = False


class DuplicateFile(Result):
    """A note, the note that is kept, and the share of words that both contain."""

    file: str
    kept: str
    overlap: float


class ArchivedDuplicates(Result):
    """Duplicates that were archived, or would be."""

    dry_run: bool
    archived: list[DuplicateFile]


class CuratorReport(Result):
    """
    An examination of the memory.

    ``health`` has numbers of documents by state, of texts without vectors, and the problems around the vault;
    ``retrieval`` whether the latest note is found by its own title; ``actions`` are sentences, each with a command.
    """

    timestamp: str
    health: dict[str, Any]
    sweep: dict[str, int]
    consolidation: dict[str, int]
    retrieval: dict[str, Any]
    collections: dict[str, Any]
    actions: list[str]
    written_to: str = Field(description="The file of the report, for the hook.")


def reflect(services: Services, request: Days) -> Reflection:
    """Show repeated decisions, failed attempts, and notes used together."""
    found = reflecting.reflect(services.vault, services.clock, request.days)
    return Reflection(
        days=found.days,
        decisions=[one.display_path for one in found.decisions],
        phrases=[RepeatedPhrase(**one._asdict()) for one in found.phrases],
        antipatterns=[titled_file(one) for one in found.antipatterns],
        together=[
            UsedTogether(files=[pair.one.display_path, pair.other.display_path], count=pair.count)
            for pair in found.together
        ],
    )


def consolidate(services: Services, request: Consolidation) -> ArchivedDuplicates:
    """
    Archive unsure notes that repeat another note of their collection.

    Unsure is a confidence below .4; pinned notes stay. `lifecycle log` lists the archived notes, `lifecycle undo`
    restores them.
    """
    duplicates = Duplicates(services.vault, services.archiving)
    found = duplicates(request.most)
    if not request.dry_run:
        duplicates.archive(found, services.caller)
    files = [
        DuplicateFile(
            file=one.document.display_path, kept=one.kept.display_path, overlap=round(one.overlap, 4)
        )
        for one in found
    ]
    return ArchivedDuplicates(dry_run=request.dry_run, archived=files)


def curate(services: Services, request: NoParameters) -> CuratorReport:
    """Examine the memory and write a report with next steps; the hook curator-nudge passes it to the next session."""
    settings = services.settings
    problems = [f"{one.check}: {one.detail} {one.way_out}" for one in services.doctor() if not one.ok]
    policy = read_policy(settings.lifecycle)
    found = examine(services.vault, services.clock, policy, settings.collections, problems)
    place = settings.vault.with_name(CURATOR_REPORT)
    report = _report(found, place)
    _write(place, report)
    return report


def _report(found: Examination, place: Path) -> CuratorReport:
    counts = found.lifecycle
    return CuratorReport(
        timestamp=found.at,
        health={
            "active": counts.active,
            "archived": counts.archived,
            "forgotten": counts.forgotten,
            "pinned": counts.pinned,
            "snoozed": counts.snoozed,
            "neverAccessed": counts.never_accessed,
            "embeddingBacklog": found.pending,
            "infrastructure": list(found.problems),
        },
        sweep={"candidates": found.idle},
        consolidation={"candidates": found.duplicates},
        retrieval={"bm25Pass": found.is_found, "topScore": round(found.top_score, 4)},
        collections={
            "total": found.collections,
            "orphaned": list(found.unlisted),
            "neverAccessedPct": round(100 * found.never_accessed_share, 1),
        },
        actions=list(recommended(found)),
        written_to=str(place),
    )


def _write(place: Path, report: CuratorReport) -> None:
    """Write *report* atomically: a concurrent reader sees the old report or the new one."""
    beside = place.with_name(place.name + NEW)
    beside.touch(mode=0o600)
    beside.write_text(report.model_dump_json(indent=1), "utf-8")
    beside.replace(place)


def _reflection_text(result: Reflection) -> Iterator[str]:
    yield f"{len(result.decisions)} decisions in {result.days} days"
    for phrase in result.phrases:
        yield f"  said {phrase.times} times: {phrase.text}"
    for one in result.antipatterns:
        yield f"  tried in vain: {title_to_read(one['title'], one['origin'])} ({one['file']})"
    for pair in result.together:
        yield f"  {pair.count} times of use together: {', '.join(pair.files)}"


def _consolidation_text(result: ArchivedDuplicates) -> Iterator[str]:
    yield f"{len(result.archived)} {'would be ' if result.dry_run else ''}archived"
    for one in result.archived:
        yield f"  {one.file} says what {one.kept} says ({one.overlap:.0%} of the words)"


def _report_text(result: CuratorReport) -> Iterator[str]:
    health, found = result.health, "found" if result.retrieval["bm25Pass"] else "NOT found"
    yield f"{health['active']} notes, {health['embeddingBacklog']} texts without vectors; by words {found}"
    yield from (f"- {action}" for action in result.actions)
    if not result.actions:
        yield "Nothing has to be done."
    yield f"Written: {result.written_to}"


OPERATIONS = (
    Operation(
        name="reflect",
        run=reflect,
        effect=Effect.READS,
        commands=(Command("reflect"),),
        text=_reflection_text,
        is_tool=False,
    ),
    Operation(
        name="consolidate",
        run=consolidate,
        effect=Effect.REPEATABLE,
        commands=(Command("consolidate"),),
        text=_consolidation_text,
        is_tool=False,
    ),
    Operation(
        name="curate",
        run=curate,
        effect=Effect.REPEATABLE,
        commands=(Command("curate"),),
        text=_report_text,
        is_tool=False,
        any_vault=False,
    ),
)
