"""What somebody thinks of a note: pin, unpin, snooze, unsnooze, forget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.cli.session import opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.services.lifecycle.finding import Target
    from clawmem.app.services.lifecycle.forgetting import Forgotten
    from clawmem.ports.records import Document

cli = typer.Typer(rich_markup_mode=None)

Meant = Annotated[
    list[str],
    typer.Argument(metavar="NOTE...", help="A path, #docid, title, or words of it.", show_default=False),
]
Why = Annotated[str, typer.Option("--why", help="The reason, kept with the act.", show_default=False)]

BY = "cli"
LEFT, FOUND = 1, 7  # exit codes: its bytes could not be cleared yet; the proof found something


@cli.command()
def pin(ctx: typer.Context, note: Meant, why: Why = "") -> None:
    """Let a note come before others that fit a question as well."""
    with opened(ctx) as services:
        target = services.find_target(" ".join(note))
        changed = services.tending.pin(target.document, BY, why)
    _show(
        ctx, target, {"pinned": True, "changed": changed}, "is pinned." if changed else "was pinned already."
    )


@cli.command()
def unpin(ctx: typer.Context, note: Meant, why: Why = "") -> None:
    """Take back a pin; one that the note itself asks for stays."""
    with opened(ctx) as services:
        target = services.find_target(" ".join(note))
        changed = services.tending.unpin(target.document, BY, why)
    stays = target.document.pinned_in_note
    said = "is not pinned any more." if changed else "was not pinned."
    _show(
        ctx,
        target,
        {"pinned": stays, "changed": changed},
        "is pinned by its own front matter." if stays else said,
    )


@cli.command()
def snooze(
    ctx: typer.Context,
    note: Meant,
    until: Annotated[
        str, typer.Option(help="The day or moment, in UTC.", show_default="30 days from now")
    ] = "",
    why: Why = "",
) -> None:
    """Keep a note out of what is surfaced until a day; searches still find it."""
    with opened(ctx) as services:
        moment = services.tending.read_until(until)
        target = services.find_target(" ".join(note))
        services.tending.snooze(target.document, moment, BY, why)
    _show(ctx, target, {"snoozed_until": moment}, f"is snoozed until {moment[:16].replace('T', ' ')} UTC.")


@cli.command()
def unsnooze(ctx: typer.Context, note: Meant, why: Why = "") -> None:
    """Let a note be surfaced again."""
    with opened(ctx) as services:
        target = services.find_target(" ".join(note))
        changed = services.tending.unsnooze(target.document, BY, why)
    said = "is surfaced again." if changed else "was not snoozed."
    _show(ctx, target, {"snoozed_until": None, "changed": changed}, said)


@cli.command()
def forget(
    ctx: typer.Context,
    note: Meant,
    preview: Annotated[bool, typer.Option("--preview", help="Say what is meant, change nothing.")] = False,
    prove: Annotated[bool, typer.Option("--prove", help="Look for it everywhere afterwards.")] = False,
    why: Why = "",
) -> None:
    """Forget a note for good, everywhere; nothing is changed where several could be meant. Its file stays."""
    with opened(ctx) as services:
        target = services.find_target(" ".join(note))
        if preview:
            _show_preview(ctx, target)
            return
        document = target.sure()
        done = services.forgetting([document], BY, why)
        probes = services.prove(done) if prove else None
    _show_forgotten(ctx, document, done, probes)
    if probes and any(probes.values()):
        raise typer.Exit(FOUND)
    if done.left:
        raise typer.Exit(LEFT)


def _show(ctx: typer.Context, target: Target, record: dict[str, Any], said: str) -> None:
    from clawmem.app.cli.rendering import show, show_json

    if wants_json(ctx):
        show_json({**_named(target.document), "found_by": target.how, **record})
    else:
        show(f"{target.document.display_path} ({target.document.title}) {said}")


def _show_preview(ctx: typer.Context, target: Target) -> None:
    from clawmem.app.cli.rendering import show, show_json, show_table

    if wants_json(ctx):
        matches = [{**_named(one.document), "score": round(one.score, 4)} for one in target.matches]
        show_json(
            {"action": "preview", "found_by": target.how, "sure": target.is_sure, "candidates": matches}
        )
        return
    show("This is meant:" if target.is_sure else "One of these may be meant:")
    shown = target.matches[: 1 if target.is_sure else None]
    show_table(
        ("score", "note", "title"),
        [(f"{m.score:.2f}", m.document.display_path, m.document.title) for m in shown],
    )


def _show_forgotten(
    ctx: typer.Context, document: Document, done: Forgotten, probes: dict[str, list[str]] | None
) -> None:
    from clawmem.app.cli.rendering import show, show_json

    if wants_json(ctx):
        record = {
            "action": "forgotten",
            "also_forgotten": [one.display_path for one in done.documents if one.id != document.id],
            "rebuilt": [one.display_path for one in done.rebuilt],
            "said_in": done.traces.said_in,
            "left": done.left,
        }
        show_json({**_named(document), **record, **({} if probes is None else {"probes": probes})})
        return
    show(f"{document.display_path} is forgotten.")
    if document.stamp is not None:
        show("Its file stays where it is, and is not taken in again.")
    for one in done.documents:
        if one.id != document.id:
            show(f"{one.display_path} ({one.title}) is forgotten with it.")
    for one in done.rebuilt:
        show(f"{one.display_path} was written again without it.")
    for path in done.traces.said_in:
        show(f"{path} says some of it as well.")
    for probe, found in (probes or {}).items():
        show(f"  {probe}: {'; '.join(found) if found else 'nothing'}")
    if done.left:
        show(
            f"Its bytes may still lie in the vault's free space: {done.left} Then run: clawmem lifecycle purge"
        )


def _named(document: Document) -> dict[str, object]:
    return {"file": document.display_path, "title": document.title}
