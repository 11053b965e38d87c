"""Maintenance of the memory by its owner: reflect, consolidate, curate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.interfaces.cli.session import opened, settings_of_usual, tell, wants_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.services.briefing.reflecting import Reflection
    from clawmem.app.services.lifecycle.duplicates import Duplicate

cli = typer.Typer(rich_markup_mode=None)

BY = "cli"
NEW = ".new"  # ending of the temporary file that replaces the report

Days = Annotated[int, typer.Argument(min=1, max=36_500, help="Of how many days.")]
Most = Annotated[int, typer.Argument(min=1, max=10_000, help="How many unsure notes are looked at.")]


@cli.command()
def reflect(ctx: typer.Context, days: Days = 14) -> None:
    """Show repeated decisions, failed attempts, and notes used together."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.operations.output import printable
        from clawmem.app.services.briefing.reflecting import reflect as look_back

        found = look_back(services.vault, services.clock, days)
        if wants_json(ctx):
            return Said([json_part(_reflection(found))])
        return Said([*map(printable, _reflection_lines(found))])

    tell(ctx, say)


@cli.command()
def consolidate(
    ctx: typer.Context,
    most: Most = 50,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only name them.")] = False,
) -> None:
    """
    Archive unsure notes that repeat another note of their collection.

    Unsure is a confidence below .4; pinned notes stay. `lifecycle log` lists the archived notes, `lifecycle undo`
    restores them.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.lifecycle.duplicates import Duplicates

    with opened(ctx, read_only=dry_run) as services:
        duplicates = Duplicates(services.vault, services.archiving)
        found = duplicates(most)
        if not dry_run:
            duplicates.archive(found, BY)
    if wants_json(ctx):
        show_json({"dry_run": dry_run, "archived": list(map(_duplicate, found))})
        return
    show(f"{len(found)} {'would be ' if dry_run else ''}archived")
    for one in found:
        show(
            f"  {one.document.display_path} says what {one.kept.display_path} says ({one.overlap:.0%} of the words)"
        )


@cli.command()
def curate(ctx: typer.Context) -> None:
    """Examine the memory and write a report with next steps; the hook curator-nudge passes it to the next session."""
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.interfaces.hooks.curator_nudge import REPORT
    from clawmem.app.records.curation import curator_report
    from clawmem.app.services.lifecycle.examining import examine
    from clawmem.domain.lifecycle.policy import read_policy

    settings = settings_of_usual(ctx, "curate")
    with opened(ctx) as services:  # opened for writing, because doctor updates lagging indexes
        problems = [f"{one.check}: {one.detail} {one.way_out}" for one in services.doctor() if not one.ok]
        policy = read_policy(settings.lifecycle)
        found = examine(services.vault, services.clock, policy, settings.collections, problems)
    report = curator_report(found)
    place = settings.vault.with_name(REPORT)
    _write(place, report)
    if wants_json(ctx):
        show_json(report)
        return
    health, sought = report["health"], "found" if report["retrieval"]["bm25Pass"] else "NOT found"
    show(f"{health['active']} notes, {health['embeddingBacklog']} texts without vectors; by words {sought}")
    show("\n".join(f"- {action}" for action in report["actions"]) or "Nothing has to be done.")
    show(f"Written: {place}")


def _write(place: Path, report: object) -> None:
    """Write *report* atomically: a concurrent reader sees the old report or the new one."""
    import json

    beside = place.with_name(place.name + NEW)
    beside.touch(mode=0o600)
    beside.write_text(json.dumps(report, ensure_ascii=False, indent=1), "utf-8")
    beside.replace(place)


def _reflection(found: Reflection) -> dict[str, Any]:
    from clawmem.app.records.provenance import titled_file

    return {
        "days": found.days,
        "decisions": [one.display_path for one in found.decisions],
        "phrases": [one._asdict() for one in found.phrases],
        "antipatterns": [titled_file(one) for one in found.antipatterns],
        "together": [
            {"files": [pair.one.display_path, pair.other.display_path], "count": pair.count}
            for pair in found.together
        ],
    }


def _reflection_lines(found: Reflection) -> Iterator[str]:
    from clawmem.domain.security.quoting import shown_title

    yield f"{len(found.decisions)} decisions in {found.days} days"
    for phrase in found.phrases:
        yield f"  said {phrase.times} times: {phrase.text}"
    for one in found.antipatterns:
        yield f"  tried in vain: {shown_title(one)} ({one.display_path})"
    for pair in found.together:
        yield f"  {pair.count} times of use together: {pair.one.display_path}, {pair.other.display_path}"


def _duplicate(one: Duplicate) -> dict[str, Any]:
    return {
        "file": one.document.display_path,
        "kept": one.kept.display_path,
        "overlap": round(one.overlap, 4),
    }
