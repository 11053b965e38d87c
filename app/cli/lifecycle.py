"""What becomes of notes: lifecycle status, sweep, search, restore, purge, log, undo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.cli.addresses import ADDRESS, named_note
from clawmem.app.cli.command_line import Verbs
from clawmem.app.cli.session import opened, tell, wants_json

if TYPE_CHECKING:
    from clawmem.app.cli.rendering import Part, Said
    from clawmem.app.opened import Services
    from clawmem.app.records.lifecycle import Done
    from clawmem.app.services.lifecycle.status import LifecycleStatus
    from clawmem.app.services.lifecycle.sweeping import Swept
    from clawmem.domain.lifecycle.policy import ArchivePolicy
    from clawmem.ports.records import Document

cli = typer.Typer(rich_markup_mode=None)
lifecycle = typer.Typer(
    cls=Verbs, rich_markup_mode=None, help="What becomes of notes: pinned, snoozed, archived, forgotten."
)
cli.add_typer(lifecycle, name="lifecycle")

DryRun = Annotated[bool, typer.Option("--dry-run", help="Name what would go, change nothing.")]
Number = Annotated[int, typer.Option("-n", "--limit", min=1, help="How many at most.")]

BY = "cli"
LEFT = 1  # bytes of what was forgotten, or notes that could not be restored


@cli.callback()
def _verbs() -> None:
    """One verb, and still a group: the command line loads verbs by their names."""


@lifecycle.command()
def status(ctx: typer.Context) -> None:
    """How many notes are served, pinned, snoozed, archived and forgotten."""

    def say(services: Services) -> Said:
        from clawmem.app.cli.rendering import Said, json_part
        from clawmem.app.services.lifecycle.status import lifecycle_status
        from clawmem.domain.lifecycle.policy import read_policy

        policy = read_policy(services.settings.lifecycle)
        counted = lifecycle_status(services.vault, services.clock, policy)
        return Said([json_part(counted)] if wants_json(ctx) else _status_lines(counted))

    tell(ctx, say)


@lifecycle.command()
def sweep(ctx: typer.Context, dry_run: DryRun = False) -> None:
    """Archive what is idle for long, and forget what was archived for long, by the policy of the config file."""
    with opened(ctx) as services:
        policy, sweep = _policy(services), services.sweep
        only_preview = dry_run or policy.only_previews
        swept = sweep.preview(policy) if only_preview else sweep(policy, BY)
    _show_swept(ctx, swept)
    _note_preview(policy, asked_for=dry_run)


@lifecycle.command()
def purge(ctx: typer.Context, dry_run: DryRun = False) -> None:
    """Forget for good what was archived for longer than the policy keeps it, and clear the vault's free space."""
    from clawmem.app.services.lifecycle.sweeping import Swept

    with opened(ctx) as services:
        policy = _policy(services)
        preview = dry_run or policy.only_previews
        due = services.archiving.due_for_good(policy)
        left = "" if dry_run else _purged(services, [] if preview else due) or services.forgetting.scrub()
    _show_swept(ctx, Swept(preview, [], due, left=left))
    _note_preview(policy, asked_for=dry_run)


@lifecycle.command()
def search(
    ctx: typer.Context, words: Annotated[list[str], typer.Argument(metavar="WORDS...")], limit: Number = 20
) -> None:
    """Find among what is archived."""

    def say(services: Services) -> Said:
        from clawmem.app.cli.rendering import Said

        found = services.archiving.archived(" ".join(words), limit=limit)
        return Said([_documents_part(ctx, found, "Nothing archived holds these words.")])

    tell(ctx, say)


@lifecycle.command()
def restore(
    ctx: typer.Context,
    note: Annotated[
        list[str] | None, typer.Argument(metavar="[NOTE...]", help=ADDRESS, show_default=False)
    ] = None,
    collection: Annotated[
        str, typer.Option("-c", "--collection", help="Restore every archived note of it.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Restore every archived note.")] = False,
) -> None:
    """Serve archived notes again: one note, those of a collection, or all."""
    from clawmem.app.cli.rendering import show_part
    from clawmem.app.services.lifecycle.archiving import to_restore

    with opened(ctx) as services:
        archiving = services.archiving
        resolve = partial(archiving.named, services.lookup)
        chosen = to_restore(
            archiving,
            lambda address: named_note(ctx, resolve, [address]),
            " ".join(note or ()),
            collection,
            everything=everything,
        )
        report = services.restore(chosen, BY)
    if report.restored or not report.without_file:
        show_part(_documents_part(ctx, report.restored, "Nothing of that is archived."))
    for sentence in report.sentences():
        typer.echo(sentence, err=True)
    raise typer.Exit(LEFT if report.without_file else 0)


@lifecycle.command()
def log(ctx: typer.Context, limit: Number = 20) -> None:
    """Who pinned, snoozed, archived, restored or forgot what, when and why; the last act first."""

    def say(services: Services) -> Said:
        from clawmem.app.cli.rendering import Said, json_part
        from clawmem.app.records.lifecycle import acts_of

        acts = acts_of(services.vault, services.vault.acts.latest(limit))
        return Said([json_part(acts) if wants_json(ctx) else _acts_part(acts)])

    tell(ctx, say)


@lifecycle.command()
def undo(
    ctx: typer.Context, act: Annotated[int, typer.Argument(help="Its number, as in lifecycle log.")]
) -> None:
    """Take back an act; what was forgotten cannot be brought back."""
    from clawmem.app.cli.rendering import show, show_json
    from clawmem.app.records.lifecycle import acts_of

    with opened(ctx) as services:
        [undone] = acts_of(services.vault, [services.tending.undo(act, BY)])
    if wants_json(ctx):
        show_json({"undone": undone})
    else:
        show(f"{undone['act']} of {undone['file']} is taken back.")


def _status_lines(counted: LifecycleStatus) -> list[Part]:
    could = f"{counted.pin_candidates} could be pinned, {counted.snooze_candidates} snoozed"
    return [
        f"{counted.active} served, of them {counted.pinned} pinned, {counted.snoozed} snoozed",
        f"{counted.never_accessed} never accessed; oldest access {counted.oldest_access or 'none'}",
        f"{counted.archived} archived, {counted.forgotten} forgotten; {counted.recalls} recalls",
        f"{counted.surfaced} put beside prompts, of them {could}",
        _policy_in_words(counted.policy),
    ]


def _acts_part(acts: list[Done]) -> Part:
    from clawmem.app.cli.rendering import table

    if not acts:
        return "Nothing was done to any note yet."
    rows = [
        (a["id"], a["at"][:16].replace("T", " "), a["act"], a["by"], a["file"] or "", a["why"]) for a in acts
    ]
    return table(("act", "when", "what", "by", "note", "why"), rows)


def _policy(services: Services) -> ArchivePolicy:
    from clawmem.domain.lifecycle.policy import read_policy
    from clawmem.ports.errors import ConfigError

    policy = read_policy(services.settings.lifecycle)
    if policy is None:
        raise ConfigError(
            "No lifecycle policy is configured. Say in the config file, for example: "
            "lifecycle: {archive_after_days: 90, dry_run: false}"
        )
    return policy


def _purged(services: Services, documents: list[Document]) -> str:
    from clawmem.ports.acts import Act

    return services.forgetting(documents, BY, "archived for long", Act.PURGE).left


def _note_preview(policy: ArchivePolicy, *, asked_for: bool) -> None:
    """Say on stderr that nothing was changed because the config file allows only previews."""
    if policy.only_previews and not asked_for:
        typer.echo(
            "Nothing was changed: the lifecycle policy of the config file only previews. To let it archive and forget, "
            "add to it: dry_run: false",
            err=True,
        )


def _policy_in_words(policy: ArchivePolicy | None) -> str:
    if policy is None:
        return "no policy: nothing is archived unasked"
    kept = "never" if policy.purge_after_days is None else f"{policy.purge_after_days:g} days later"
    only = ", only previewed" if policy.only_previews else ""
    return f"policy: archived after {policy.after_days:g} idle days, forgotten {kept}{only}"


def _show_swept(ctx: typer.Context, swept: Swept) -> None:
    from clawmem.app.cli.rendering import show, show_json
    from clawmem.app.records.lifecycle import went_lines, went_of

    if wants_json(ctx):
        show_json(went_of(swept))
    else:
        for line in went_lines(swept):
            show(line)
    if swept.left:
        typer.echo(f"Forgotten bytes may still lie in the vault's free space: {swept.left}", err=True)
        raise typer.Exit(LEFT)


def _documents_part(ctx: typer.Context, documents: list[Document], nothing: str) -> Part:
    from clawmem.app.cli.rendering import json_part, table

    if wants_json(ctx):
        return json_part([{"file": one.display_path, "title": one.title} for one in documents])
    if not documents:
        return nothing
    return table(("note", "title"), [(one.display_path, one.title) for one in documents])
