"""Maintenance of the memory by its owner: repeated statements, duplicates and recommended actions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.environment.private_files import write_whole
from clawmem.app.operations.fields import Address, Why
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.services.capture.profile import reflect as reflection_of
from clawmem.app.services.documents.records import DocumentReference, TitledFile, place_of, titled_file
from clawmem.app.services.lifecycle.curator import CuratorReport
from clawmem.domain.security.quoting import title_to_read

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.records import Document


DEFAULT_SNOOZE = "30d"


class Treatment(DocumentReference):
    """A note and how it is treated now; ``changed`` is false where it was so before."""

    action: str
    changed: bool
    pinned: bool
    snoozed_until: str | None = None


def _treatment(services: Services, target: Document, **became: Any) -> Treatment:
    return Treatment(**place_of(services.vault.documents, target), **became)


def treatment_text(result: Treatment) -> str:
    """Return one sentence about a note."""
    is_new = result.action == "snoozed"
    until = (
        f" until {result.snoozed_until[:16].replace('T', ' ')} UTC" if is_new and result.snoozed_until else ""
    )
    before = "" if result.changed else " already"
    own = " Its own front matter pins it." if result.action == "unpinned" and result.pinned else ""
    title = title_to_read(result.title, result.origin)
    return f"{result.file} ({title}) is {result.action}{until}{before}.{own}"


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


class DuplicateFile(Result):
    """A note, the note that is kept, and the share of words that both contain."""

    file: str
    kept: str
    overlap: float


class ArchivedDuplicates(Result):
    """Duplicates that were archived, or would be."""

    dry_run: bool
    archived: list[DuplicateFile]


def _reflection_text(result: Reflection) -> Iterator[str]:
    yield f"{len(result.decisions)} decisions in {result.days} days"
    for phrase in result.phrases:
        yield f"  said {phrase.times} times: {phrase.text}"
    for antipattern in result.antipatterns:
        yield f"  tried in vain: {title_to_read(antipattern.title, antipattern.origin)} ({antipattern.file})"
    for pair in result.together:
        yield f"  {pair.count} times of use together: {', '.join(pair.files)}"


def _consolidation_text(result: ArchivedDuplicates) -> Iterator[str]:
    yield f"{len(result.archived)} {'would be ' if result.dry_run else ''}archived"
    for file in result.archived:
        yield f"  {file.file} says what {file.kept} says ({file.overlap:.0%} of the words)"


def _report_text(result: CuratorReport) -> Iterator[str]:
    health, found = result.health, "found" if result.retrieval["bm25Pass"] else "NOT found"
    yield f"{health['active']} notes, {health['embeddingBacklog']} texts without vectors; by words {found}"
    yield from (f"- {action}" for action in result.actions)
    if not result.actions:
        yield "Nothing has to be done."
    yield f"Written: {result.written_to}"


@operation(Effect.READS, text=_reflection_text, is_tool=False)
def reflect(
    services: Services,
    days: Annotated[
        int, Field(ge=1, le=36_500, description="Of how many days."), Option(metavar="DAYS", is_argument=True)
    ] = 14,
) -> Reflection:
    """Show repeated decisions, failed attempts, and notes used together."""
    found = reflection_of(services.vault.documents, services.vault.usage, services.clock, days)
    return Reflection(
        days=found.days,
        decisions=[document.display_path for document in found.decisions],
        phrases=[RepeatedPhrase(**phrase._asdict()) for phrase in found.phrases],
        antipatterns=[titled_file(document) for document in found.antipatterns],
        together=[
            UsedTogether(files=[pair.one.display_path, pair.other.display_path], count=pair.count)
            for pair in found.together
        ],
    )


@operation(
    Effect.REPEATABLE,
    text=_consolidation_text,
    commands=(Command("maintain", "WORK=consolidate"),),
    is_tool=False,
)
def consolidate(
    services: Services,
    most: Annotated[
        int,
        Field(ge=1, le=10_000, description="Number of uncertain notes to examine."),
        Option(metavar="MOST", is_argument=True),
    ] = 50,
    dry_run: Annotated[bool, Field(description="Only name them."), Option(("--dry-run",))] = False,
) -> ArchivedDuplicates:
    """
    Archive unsure notes that repeat another note of their collection.

    Unsure is a confidence below .4; pinned notes stay. `undo` lists the archived notes and
    restores them.
    """
    found = services.curator.duplicates(most)
    if not dry_run:
        services.curator.archive_duplicates(found, services.caller)
    files = [
        DuplicateFile(
            file=duplicate.document.display_path,
            kept=duplicate.kept.display_path,
            overlap=round(duplicate.overlap, 4),
        )
        for duplicate in found
    ]
    return ArchivedDuplicates(dry_run=dry_run, archived=files)


@operation(
    Effect.REPEATABLE,
    text=_report_text,
    commands=(Command("maintain", "WORK=curate"),),
    is_tool=False,
    any_vault=False,
)
def curate(services: Services) -> CuratorReport:
    """Examine the memory and write a report with next steps; the hook curator-nudge passes it to the next session."""
    settings = services.settings
    problems = [
        f"{check.check}: {check.detail} {check.way_out}" for check in services.doctor() if not check.ok
    ]
    policy = settings.archive_policy
    place = settings.vault.with_name(CURATOR_REPORT)
    report = services.curator.examine(policy, settings.collections, problems, str(place))
    write_whole(place, json.dumps(asdict(report), indent=1).encode())  # a hook may read it at this moment
    return report


@operation(
    Effect.REPEATABLE,
    text=treatment_text,
    route="/documents/{query:path}/pin",
    commands=(
        Command("pin", fixed={"unpin": False}),
        Command(
            "pin",
            "--off",
            fixed={"unpin": True},
            about="Take back a pin; one that the note itself asks for stays.",
        ),
    ),
)
def memory_pin(
    services: Services,
    query: Address,
    unpin: Annotated[bool, Field(description="Take the pin back.")] = False,
    why: Why = "",
) -> Treatment:
    """Rank a note before others that fit a question equally well; for notes that the user needs often."""
    target = services.lookup.target(query)
    changed = services.lifecycle.pin(target, services.caller, why, pinned=not unpin)
    is_pinned = target.pins_itself or not unpin
    return _treatment(
        services,
        target,
        action="unpinned" if unpin else "pinned",
        changed=changed,
        pinned=is_pinned,
        snoozed_until=target.snoozed_until,
    )


@operation(
    Effect.REPEATABLE,
    text=treatment_text,
    route="/documents/{query:path}/snooze",
    route_defaults={"until": DEFAULT_SNOOZE},
    commands=(
        Command("snooze", defaults={"until": DEFAULT_SNOOZE}),
        Command("snooze", "--off", fixed={"until": None}, about="Let a note be surfaced again."),
    ),
)
def memory_snooze(
    services: Services,
    query: Address,
    until: Annotated[
        str | None,
        Field(
            description="The day, 2026-03-31, or days from now, 30d. Null lets the note be surfaced again."
        ),
    ] = None,
    why: Why = "",
) -> Treatment:
    """Keep a note out of prompts until a day; searches still find it."""
    tending = services.lifecycle
    moment = None if until is None else tending.read_until(until)
    target = services.lookup.target(query)
    changed = tending.snooze(target, moment, services.caller, why)
    return _treatment(
        services,
        target,
        action="unsnoozed" if moment is None else "snoozed",
        changed=changed,
        pinned=target.is_pinned,
        snoozed_until=moment,
    )
