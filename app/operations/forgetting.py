"""Forgetting notes for good."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.fields import Confirm, Docid, DocumentReference, Why, place_of
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, age, plural
from clawmem.app.services.conversations.sources import documents_of_source, imported_sources, read_again
from clawmem.app.services.lifecycle.forgetting import ForgetReport
from clawmem.domain.documents.address import read_address
from clawmem.domain.documents.identity import normalise_docid
from clawmem.domain.security.quoting import shown_title
from clawmem.ports.errors import ConfirmationMissing, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.lifecycle.forgetting import ForgetPreview
    from clawmem.ports.records import Document


class ForgottenSource(Result):
    """A source that was forgotten: its documents, memories derived from them, and the findings of each probe."""

    source: str
    documents: int
    derived: int
    left: str = Field(default="", description="Why bytes may remain in free space; empty if none do.")
    probes: dict[str, list[str]]


def forget_source(
    services: Services, source: str, collection: str, *, confirm: bool | None
) -> ForgottenSource:
    """
    Forget the documents of *source* in *collection*, by default in every one; archived ones as well.

    Raises:
        ConfirmationMissing: ``confirm`` is not true.
        NotFound: there is no such source.
    """
    configured = services.settings.collections
    imported = documents_of_source(services.vault.documents, configured, source)
    documents = [document for document in imported if collection in ("", document.collection)]
    if not documents:
        listed = imported_sources(services.vault.documents, configured)
        known = {one.source for one in listed if collection in ("", one.collection)}
        remark = f"Only the collection {collection} was searched." if collection else ""
        raise NotFound("source", source, suggestions=sorted(known), remark=remark)
    if confirm is not True:
        raise _confirmation(source, documents)
    done = _forgotten_parts(services, documents, source)
    with services.progress("Looking for traces"):
        probes = services.prove(done)
    read_again(
        services.vault.captures, services.vault.transactions, {document.collection for document in documents}
    )
    return ForgottenSource(
        source=source,
        documents=len(documents),
        derived=len(done.documents) - len(documents),
        left=done.left,
        probes=probes,
    )


def _forgotten_parts(services: Services, documents: Sequence[Document], source: str) -> ForgetReport:
    """
    Forget *documents*; an interrupt keeps the finished parts.

    Raises:
        KeyboardInterrupt: Ctrl-C, with a note about what was done and the next step.
    """
    forgotten = 0
    with services.progress("Forgetting") as step:

        def count(done: int, total: int) -> None:
            nonlocal forgotten
            forgotten = done
            step(done, total)

        try:
            return services.forgetting.in_parts(documents, services.caller, f"source {source}", count)
        except KeyboardInterrupt as interruption:
            next_step = (
                "Run the same command again to continue."
                if forgotten < len(documents)
                else "Their bytes may still lie in the vault's free space. Run: clawmem lifecycle purge"
            )
            interruption.add_note(
                f"At least {forgotten:,} of {plural(len(documents), 'document')} from {source} are forgotten. {next_step}"
            )
            raise


def _confirmation(source: str, documents: Sequence[Document]) -> ConfirmationMissing:
    """Return the error that names what would be forgotten."""
    size, days = (
        sum(document.body_length for document in documents),
        [document.authored_at[:10] for document in documents],
    )
    choices = {
        "pinned": sum(document.is_pinned for document in documents),
        "not served": sum(document.inactive is not None for document in documents),
    }
    chosen = "".join(f", {count:,} of them {what}" for what, count in choices.items() if count)
    line = (
        f"{plural(len(documents), 'document')} from {source} in "
        f"{' and '.join(sorted({document.collection for document in documents}))}{chosen}, {size:,} characters, "
        f"written {min(days)} to {max(days)}, and every memory derived from that. It is for good, and a later import "
        "does not bring them back."
    )
    return ConfirmationMissing(
        f"Nothing was forgotten. This would forget {line}",
        {"source": source, "documents": len(documents), "characters": size},
        remedy="To forget it, repeat with confirm: true.",
        preview=[line],
        question="Forget this for good?",
        confirmed={"confirm": True},
    )


def forgotten_source_text(one: ForgottenSource) -> list[Part]:
    """Return the lines about a forgotten source."""
    derived = f", and {plural(one.derived, 'derived memory')}" if one.derived else ""
    lines: list[Part] = [f"Forgotten: {plural(one.documents, 'document')} from {one.source}{derived}."]
    lines.append("Bundles and backups that were made before still have them.")
    lines += [f"  {probe}: {'; '.join(found) or 'nothing'}" for probe, found in one.probes.items()]
    if one.left:
        lines.append(
            f"Bytes may still lie in the vault's free space: {one.left} Then run: clawmem lifecycle purge"
        )
    return lines


BYTES_REMAIN, TRACE_FOUND = 1, 7  # exit codes
MAX_NAMED = 3  # derived documents that a person is shown by name


class WouldForget(DocumentReference):
    """A note that would be forgotten, and the documents that were derived from it."""

    authored_at: str
    bytes: int
    derived: int
    derived_files: list[str]


class Forgotten(DocumentReference):
    """A forgotten note; if it was forgotten before, ``changed`` is false, and docid and title are empty."""

    action: str = "forgotten"
    changed: bool
    file_remains: bool = Field(description="Whether its file remains; it is not indexed again.")
    also_forgotten: list[str] = Field(default=[], description="Documents that were derived from it.")
    rebuilt: list[str] = Field(
        default=[], description="Derived documents that were written again without it."
    )
    said_in: list[str] = Field(default=[], description="Other documents that say some of its text.")
    retained_in: dict[str, str] = Field(
        default={}, description="Documents that say some of its text and are not served, and their states."
    )
    left: str = Field(default="", description="Why its bytes may remain in free space; empty if none do.")
    probes: dict[str, list[str]] | None = Field(
        default=None, description="Findings of each probe; null without a proof."
    )

    @property
    def exit_code(self) -> int:
        """Return 7 where a probe found a trace, and 1 where bytes remain."""
        if any((self.probes or {}).values()):
            return TRACE_FOUND
        return BYTES_REMAIN if self.left else 0


def _confirmed(services: Services, query: str, confirm: bool | None) -> Document:
    """
    Return the note to forget.

    Raises:
        ConfirmationMissing: The request has no docid, or ``confirm`` is not true.
        InvalidInput, NotFound: As `Lookup.forgettable`; also for the former place of a file that was moved.
    """
    note = services.lookup.forgettable(query)
    folder = None if confirm is False else _folder_without_file(services, note)
    if folder:
        services.update(folder)  # the note may have been moved, and would come back as a new one
        note = services.lookup.forgettable(query)
    if confirm is True and _names_docid(query, note):
        return note
    found = services.forgetting.preview(note)
    lines = preview_lines(found)
    raise ConfirmationMissing(
        f"Nothing was forgotten. This would forget {' '.join(lines)}",
        would_forget(services, found).model_dump(mode="json"),
        remedy=f"To forget it, repeat with docid #{found.docid} and confirm: true.",
        preview=lines,
        question="Forget it for good?",
        confirmed={"query": f"#{found.docid} {note.display_path}", "confirm": True},
    )


def _folder_without_file(services: Services, note: Document) -> Folder | None:
    """Return the folder of *note* if its file is not there any more, though the folder is."""
    if note.stamp is None or note.inactive is not None:
        return None
    away = (
        folder for folder in services.folders if folder.name == note.collection and Path(folder.root).is_dir()
    )
    return next((folder for folder in away if not Path(folder.root, note.path).is_file()), None)


def _names_docid(address: str, document: Document) -> bool:
    digits = read_address(address)[0].docid
    return bool(digits) and document.hash.startswith(normalise_docid(digits))


def would_forget(services: Services, found: ForgetPreview) -> WouldForget:
    """Return the preview of forgetting a note."""
    return WouldForget(
        **place_of(services, found.document),
        authored_at=found.document.authored_at,
        bytes=found.size,
        derived=len(found.derived),
        derived_files=[document.display_path for document in found.derived],
    )


def preview_lines(found: ForgetPreview) -> Sequence[str]:
    """Return the preview of forgetting a note as sentences."""
    document = found.document
    lines = [
        f"{document.display_path} (#{found.docid}): {shown_title(document).rstrip('.')}.",
        f"Written {age(found.age_days)} ({document.authored_at[:10]}), {found.size:,} bytes.",
    ]
    if not found.derived:
        return [*lines, "No memories were derived from it."]
    more = len(found.derived) - MAX_NAMED
    named = ", ".join(note.display_path for note in found.derived[:MAX_NAMED])
    were = "was" if len(found.derived) == 1 else "were"
    return [
        *lines,
        f"{plural(len(found.derived), 'memory')} {were} derived from it: {named}{f' and {more} more' if more > 0 else ''}.",
    ]


def forgotten_text(result: Forgotten) -> str:
    """Return a line for each forgotten document, and lines about remaining copies."""
    lines = [f"{result.file} is {'' if result.changed else 'already '}forgotten."]
    if result.changed and result.file_remains:
        lines.append("Its file stays where it is, and is not indexed again.")
    if result.changed:
        lines.append("Bundles and backups that were made before still have it.")
    lines += [f"{file} is forgotten with it." for file in result.also_forgotten]
    lines += [f"{file} was written again without it." for file in result.rebuilt]
    lines += [f"{file} says some of it as well." for file in result.said_in]
    lines += [
        f"{file} is {state}, and its text, which says some of it, is still in the vault."
        for file, state in result.retained_in.items()
    ]
    lines += [f"  {probe}: {'; '.join(found) or 'nothing'}" for probe, found in (result.probes or {}).items()]
    if result.left:
        lines.append(
            f"Its bytes may still lie in the vault's free space: {result.left} Then run: clawmem lifecycle purge"
        )
    return "\n".join(lines)


@operation(
    Effect.DESTROYS,
    text=forgotten_text,
    route="/documents/{query:path}/forget",
    commands=(Command("forget"),),
)
def memory_forget(
    services: Services,
    query: Docid,
    confirm: Confirm = None,
    why: Why = "",
    prove: Annotated[
        bool, Field(description="Look for its text everywhere afterwards."), Option(tool=None)
    ] = False,
) -> Forgotten:
    """
    Forget a note for good, everywhere, only at the user's wish; its file stays. Repeating it changes nothing.

    Without a confirmation nothing is changed: the note is shown with its age, its size and the memories derived from it.
    """
    gone = services.lookup.forgotten(query)
    if gone is not None:
        nameless = {**place_of(services, gone), "docid": "", "title": ""}
        probes = services.prove(ForgetReport((gone,))) if prove else None
        return Forgotten(**nameless, changed=False, file_remains=gone.stamp is not None, probes=probes)
    note = _confirmed(services, query, confirm)
    place = place_of(services, note)
    done = services.forgetting([note], services.caller, why)
    return Forgotten(
        **place,
        changed=True,
        file_remains=note.stamp is not None,
        also_forgotten=[document.display_path for document in done.documents if document.id != note.id],
        rebuilt=[document.display_path for document in done.rebuilt],
        said_in=list(done.traces.said_in),
        retained_in={document.display_path: str(document.inactive) for document in done.traces.kept_in},
        left=done.left,
        probes=services.prove(done) if prove else None,
    )
