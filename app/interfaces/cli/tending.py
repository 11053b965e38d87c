"""The command that forgets a note after confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.addresses import Named, Why, may_ask, named_note
from clawmem.app.interfaces.cli.session import opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.services.lifecycle.forget_preview import ForgetPreview
    from clawmem.app.services.lifecycle.forgetting import ForgetReport
    from clawmem.ports.records import Document

cli = typer.Typer(rich_markup_mode=None)

BY = "cli"
LEFT, FOUND = 1, 7  # exit codes: the bytes could not be cleared yet; --prove found a trace
DECLINED = 1


@cli.callback()
def _verbs() -> None:
    """Make the command line a group even with one command."""


@cli.command()
def forget(
    ctx: typer.Context,
    note: Named,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Forget without asking; for programs.")] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Show what is meant, change nothing.")] = False,
    prove: Annotated[bool, typer.Option("--prove", help="Look for it everywhere afterwards.")] = False,
    why: Why = "",
) -> None:
    """
    Forget a note for good, everywhere, after asking; its file stays.

    The note is shown with its age, its size and the memories derived from it. Nothing is changed unless NOTE is an
    exact address of one note. Forgetting a note that is already forgotten changes nothing and succeeds.
    """
    from clawmem.app.services.lifecycle.forget_preview import already_forgotten, preview_forget
    from clawmem.app.services.lifecycle.forgetting import ForgetReport

    with opened(ctx) as services:
        gone = already_forgotten(services.lookup, " ".join(note))
        if gone is not None:
            probes = services.prove(ForgetReport((gone,))) if prove else None
            _show_forgotten(ctx, gone, ForgetReport(()), probes)
        else:
            document = named_note(ctx, services.lookup.forgettable, note)
            found = preview_forget(services.vault, services.clock, document)
            if preview:
                _show_preview(ctx, found)
                return
            _confirm(ctx, found, yes=yes)
            done = services.forgetting([document], BY, why)
            probes = services.prove(done) if prove else None
            _show_forgotten(ctx, document, done, probes)
    if probes and any(probes.values()):
        raise typer.Exit(FOUND)
    if gone is None and done.left:
        raise typer.Exit(LEFT)


def _confirm(ctx: typer.Context, found: ForgetPreview, *, yes: bool) -> None:
    """
    Ask for confirmation to forget the note.

    Raises:
        ConfirmationMissing: The user cannot be asked.
        typer.Exit: The answer is no.
    """
    from clawmem.app.interfaces.cli.rendering import show
    from clawmem.app.records.forgetting import unconfirmed

    if yes:
        return
    if not may_ask(ctx):
        raise unconfirmed(found, "add --yes")
    _show_preview(ctx, found)
    try:
        agreed = typer.confirm("Forget it for good?", default=False)
    except typer.Abort:  # Ctrl-C or the end of the input
        agreed = False
        show("")
    if not agreed:
        show("Nothing was forgotten.")
        raise typer.Exit(DECLINED)


def _show_preview(ctx: typer.Context, found: ForgetPreview) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.records.forgetting import forget_lines, would_forget

    if wants_json(ctx):
        show_json({"action": "preview", **would_forget(found)})
        return
    for line in forget_lines(found):
        show(line)


def _show_forgotten(
    ctx: typer.Context, document: Document, done: ForgetReport, probes: dict[str, list[str]] | None
) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.records.provenance import titled_file
    from clawmem.domain.security.quoting import shown_title

    changed = bool(done.documents)
    if wants_json(ctx):
        record = {
            "action": "forgotten",
            "changed": changed,
            "also_forgotten": [one.display_path for one in done.documents if one.id != document.id],
            "rebuilt": [one.display_path for one in done.rebuilt],
            "said_in": done.traces.said_in,
            "left": done.left,
        }
        show_json({**titled_file(document), **record, **({} if probes is None else {"probes": probes})})
        return
    show(f"{document.display_path} {'is forgotten.' if changed else 'is already forgotten.'}")
    if changed and document.stamp is not None:
        show("Its file stays where it is, and is not taken in again.")
    for one in done.documents:
        if one.id != document.id:
            show(f"{one.display_path} ({shown_title(one)}) is forgotten with it.")
    for one in done.rebuilt:
        show(f"{one.display_path} was written again without it.")
    for path in done.traces.said_in:
        show(f"{path} says some of it as well.")
    for one in done.traces.kept_in:
        show(
            f"{one.display_path} is {one.inactive}, and its text, which says some of it, is still in the vault."
        )
    for probe, found in (probes or {}).items():
        show(f"  {probe}: {'; '.join(found) if found else 'nothing'}")
    if done.left:
        show(
            f"Its bytes may still lie in the vault's free space: {done.left} Then run: clawmem lifecycle purge"
        )
