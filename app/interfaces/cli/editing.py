"""Notes in the text editor of the user."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clawmem.app.interfaces.cli.dialogues import Named, named_note
from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.interfaces.cli.session import command_group, opened, settings_of_usual, wants_json
from clawmem.app.operations.embedding import embed_new
from clawmem.app.operations.fields import DocumentReference, place_of
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.ports.records import Document

cli = command_group()


@cli.command()
def edit(ctx: typer.Context, note: Named) -> None:
    """Open a note in your editor, and index it when the editor ends. The editor is VISUAL or EDITOR."""
    outcome = edit_note(ctx, " ".join(note))
    if wants_json(ctx):
        show_json(outcome)
        return
    show(_outcome_line(outcome))
    for sentence in outcome["problems"]:
        typer.echo(f"clawmem: {sentence}", err=True)


def edit_first(ctx: typer.Context, documents: Sequence[DocumentReference]) -> None:
    """Edit the first of *documents* at its line, and write the outcome to stderr."""
    if not documents:
        typer.echo("clawmem: Nothing to open.", err=True)
        return
    first = documents[0]
    outcome = edit_note(ctx, f"{first.file}:{getattr(first, 'start_line', None) or 1}")
    for sentence in (_outcome_line(outcome), *outcome["problems"]):
        typer.echo(f"clawmem: {sentence}", err=True)


def edit_note(ctx: typer.Context, address: str) -> dict[str, Any]:
    """
    Open the file of the note at *address* in the editor, index it afterwards, and return the outcome.

    The vault is closed while the editor runs. A change is indexed also if the editor ends with a failure.

    Raises:
        InvalidInput: The note has no file.
        ConfigError: The editor cannot be started, or ended with a failure.
    """
    settings_of_usual(ctx, "edit")
    with opened(ctx, read_only=True, or_read=True) as services:
        found = named_note(ctx, services.lookup.get, [address])
        folder, editor = _folder_of(services, found.document), services.editor_of(os.environ)
    try:
        services.open_in_editor(editor, str(Path(folder.root) / found.document.path), found.start_line)
    finally:
        with opened(ctx) as services:
            outcome = _indexed(services, found.document, folder)
    return outcome


def _folder_of(services: Services, document: Document) -> Folder:
    """Return the folder with the file of *document*; raise `InvalidInput` if it has no file."""
    for folder in services.folders:
        if folder.name == document.collection and (Path(folder.root) / document.path).is_file():
            return folder
    raise InvalidInput(
        "NO_FILE",
        f"{document.display_path} has no file to edit: the vault alone has its text, or its folder is not mounted. "
        f"Read it with: clawmem get {document.display_path}",
    )


def _indexed(services: Services, document: Document, folder: Folder) -> dict[str, Any]:
    """Index the edited file of *document*, and return the outcome."""
    report = services.update(replace(folder, only=frozenset([document.path])))
    actions = {"indexed": report.updated, "removed": report.removed, "not indexed": report.problems}
    action = next((name for name, happened in actions.items() if happened), "unchanged")
    not_embedded = embed_new(services) if report.updated else ""
    now = services.vault.documents.get(document.id) or document
    problems = [*report.problems, *filter(None, [not_embedded])]
    return {"action": action, **place_of(services, now), "problems": problems}


def _outcome_line(outcome: Mapping[str, Any]) -> str:
    return f"{outcome['action'].capitalize()}: {outcome['file']}"
