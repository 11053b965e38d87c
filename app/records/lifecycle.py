"""What becomes of documents as records: acts, and sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from clawmem.app.services.lifecycle.sweeping import Swept
    from clawmem.ports.acts import Entry
    from clawmem.ports.records import Document
    from clawmem.ports.vault import Vault


class Done(TypedDict):
    """An act: what was done to which document, by whom, when and why."""

    id: int
    act: str
    file: str | None
    by: str
    at: str
    why: str


class Went(TypedDict):
    """
    What was archived and what was forgotten for good, or would be; every document by its file.

    ``pin`` and ``snooze`` are what a preview proposes. ``left`` says why bytes of the forgotten may still lie in free
    space, empty when they do not.
    """

    dry_run: bool
    archived: list[str]
    purged: list[str]
    pin: list[str]
    snooze: list[str]
    left: str


def acts_of(vault: Vault, entries: Sequence[Entry]) -> list[Done]:
    """Acts, in their order."""
    known = vault.documents.many({entry.document_id for entry in entries})
    paths = {number: document.display_path for number, document in known.items()}
    return [
        {
            "id": entry.id,
            "act": str(entry.act),
            "file": paths.get(entry.document_id),
            "by": entry.by,
            "at": entry.at,
            "why": entry.why,
        }
        for entry in entries
    ]


def went_of(swept: Swept) -> Went:
    """A sweep."""
    return {
        "dry_run": swept.is_preview,
        "archived": paths_of(swept.archived),
        "purged": paths_of(swept.purged),
        "pin": paths_of(swept.proposals.pin),
        "snooze": paths_of(swept.proposals.snooze),
        "left": swept.left,
    }


def went_lines(swept: Swept) -> list[str]:
    """A sweep for people: what went, and in a preview what might be done besides."""
    from clawmem.app.cli.rendering import plural

    would = "would be " if swept.is_preview else ""
    lines: list[str] = []
    for what, documents in (("archived", swept.archived), ("forgotten for good", swept.purged)):
        went = f"{plural(len(documents), 'note')} {would}{what}"
        lines += [went, *(f"  {path}" for path in paths_of(documents))]
    lines += [f"wanted again and again, could be pinned: {path}" for path in paths_of(swept.proposals.pin)]
    return lines + [
        f"surfaced often and of no use, could be snoozed: {path}" for path in paths_of(swept.proposals.snooze)
    ]


def paths_of(documents: Iterable[Document]) -> list[str]:
    """Documents by their files."""
    return [document.display_path for document in documents]
