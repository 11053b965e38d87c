"""The lifecycle of notes: archived, restored, forgotten for good, pinned and snoozed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import Address, Confirm, Docid, Limit, OptionalAddress, Why
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Text, age, few, plural
from clawmem.app.services.conversations.sources import documents_of_source, imported_sources
from clawmem.app.services.documents.records import (
    DocumentReference,
    TitledFile,
    files_of,
    place_of,
    titled_file,
)
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.lifecycle.actions import LifecycleStatus, RecordedAct
from clawmem.app.services.lifecycle.forgetting import ForgetReport
from clawmem.app.services.lifecycle.proof import SAME_TEXT
from clawmem.domain.documents.address import read_address
from clawmem.domain.documents.identity import normalise_docid
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.security.quoting import shown_title, title_to_read
from clawmem.ports.errors import ConfigError, ConfirmationMissing, NotFound
from clawmem.ports.journal import Act
from clawmem.ports.records import Document

ACT_LIMIT = 20
LONG_ARCHIVED = "archived for long"  # reason of purges
BYTES_REMAIN, TRACE_FOUND = 1, 7  # exit codes
ONLY_PREVIEW = (
    "Nothing was changed: the lifecycle policy of the config file only previews. "
    "To let it archive and forget, add to it: dry_run: false"
)

DryRun = Annotated[bool, Field(description="List what would go, change nothing.")]


# -- archived and restored ------------------------------------------------------------------------------


class SweepReport(Result):
    """Documents that were archived and forgotten for good, or would be."""

    dry_run: bool
    archived: list[str]
    purged: list[str]
    pin: list[str] = Field(
        default=[], description="Documents that a preview proposes to pin: they are used often."
    )
    snooze: list[str] = Field(
        default=[], description="Documents that it proposes to snooze: often surfaced, never used."
    )
    left: str = Field(
        default="", description="Why bytes of forgotten notes may remain in free space; empty if none do."
    )
    note: str = Field(default="", description="Why nothing was changed although it was asked for.")

    @property
    def exit_code(self) -> int:
        """Return 1 where bytes of forgotten notes remain."""
        return BYTES_REMAIN if self.left else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return what remains of forgotten notes, and why nothing was changed."""
        left = f"Forgotten bytes may still lie in the vault's free space: {self.left}" if self.left else ""
        return [*filter(None, (left, self.note))]


class RestoredDocuments(Result):
    """Documents that are served again; ``problems`` are sentences about those that stay archived."""

    count: int
    documents: list[TitledFile]
    problems: list[str]


def _policy(services: Services, *, is_preview: bool) -> ArchivePolicy:
    """Return the configured policy; without one a preview uses the default policy."""
    if policy := services.settings.archive_policy:
        return policy
    if is_preview:
        return ArchivePolicy()
    raise ConfigError(
        "No lifecycle policy is configured. Say in the config file, for example: "
        "lifecycle: {archive_after_days: 90, dry_run: false}"
    )


def sweep_text(result: SweepReport) -> Iterator[str]:
    """Yield the documents of a sweep, by what becomes of them."""
    would = "would be " if result.dry_run else ""
    for what, files in (("archived", result.archived), ("forgotten for good", result.purged)):
        yield f"{plural(len(files), 'note')} {would}{what}"
        yield from (f"  {file}" for file in files)
    yield from (f"wanted again and again, could be pinned: {file}" for file in result.pin)
    yield from (f"surfaced often and of no use, could be snoozed: {file}" for file in result.snooze)


def _restored_text(result: RestoredDocuments) -> Text:
    lines = [f"{note.file}  {title_to_read(note.title, note.origin)}" for note in result.documents]
    return lines or ("" if result.problems else "Nothing of that is archived.")


@operation(
    Effect.READS,
    name="lifecycle_status",
    route="/lifecycle/status",
    commands=(Command("archive", "--status"),),
)
def status(services: Services) -> LifecycleStatus:
    """Count the documents that are served, pinned, snoozed, archived and forgotten."""
    return services.lifecycle.status(services.settings.archive_policy)


@operation(
    Effect.DESTROYS,
    text=sweep_text,
    route="/lifecycle/sweep",
    commands=(Command("archive", defaults={"dry_run": False}),),
)
def lifecycle_sweep(services: Services, dry_run: DryRun = True) -> SweepReport:
    """Archive idle documents and forget documents archived long ago, by the configured policy."""
    policy = _policy(services, is_preview=dry_run)
    lifecycle = services.lifecycle
    purged = lifecycle.due_for_good(policy)
    if dry_run or policy.only_previews:
        proposals = lifecycle.proposals()
        return SweepReport(
            dry_run=True,
            archived=files_of(lifecycle.due(policy)),
            purged=files_of(purged),
            pin=files_of(proposals.pin),
            snooze=files_of(proposals.snooze),
            note="" if dry_run else ONLY_PREVIEW,
        )
    archived = lifecycle.sweep(policy, services.caller)
    left = services.forgetting(purged, services.caller, LONG_ARCHIVED, Act.PURGE).left
    return SweepReport(dry_run=False, archived=files_of(archived), purged=files_of(purged), left=left)


@operation(
    Effect.DESTROYS,
    text=sweep_text,
    route="/lifecycle/purge",
    commands=(Command("archive", "--purge", defaults={"dry_run": False}),),
    is_tool=False,
)
def lifecycle_purge(services: Services, dry_run: DryRun = True) -> SweepReport:
    """Forget for good the documents archived longer than the policy keeps them, and clear the vault's free space."""
    policy = _policy(services, is_preview=dry_run)
    due = services.lifecycle.due_for_good(policy)
    is_preview = dry_run or policy.only_previews
    left = ""
    if not dry_run:
        gone = [] if policy.only_previews else due
        left = services.forgetting(gone, services.caller, LONG_ARCHIVED, Act.PURGE).left
        left = left or services.forgetting.scrub()
    note = ONLY_PREVIEW if policy.only_previews and not dry_run else ""
    return SweepReport(dry_run=is_preview, archived=[], purged=files_of(due), left=left, note=note)


@operation(
    Effect.READS,
    columns="file title",
    empty="Nothing archived holds these words.",
    items="documents",
    route="/lifecycle/search",
    commands=(Command("archive", "--search"),),
    is_tool=False,
)
def lifecycle_search(
    services: Services,
    words: Annotated[
        str,
        Field(min_length=1, description="Words of the note."),
        Option(metavar="WORDS...", is_argument=True),
    ],
    limit: Limit = ACT_LIMIT,
) -> list[TitledFile]:
    """Find archived documents by their words."""
    return [titled_file(document) for document in services.lifecycle.archived(words, limit=limit)]


@operation(Effect.REPEATABLE, text=_restored_text, route="/lifecycle/restore", commands=(Command("restore"),))
def lifecycle_restore(
    services: Services,
    query: OptionalAddress = "",
    collection: Annotated[
        str, Field(description="Restore every archived document of it."), Option(("-c", "--collection"))
    ] = "",
    all: Annotated[bool, Field(description="Restore every archived document.")] = False,
) -> RestoredDocuments:
    """Serve archived documents again: one, those of a collection, or all."""
    lifecycle = services.lifecycle
    report = lifecycle.restore(lifecycle.to_restore(query, collection, everything=all), services.caller)
    documents = [titled_file(document) for document in report.restored]
    return RestoredDocuments(count=len(documents), documents=documents, problems=report.sentences())


@operation(
    Effect.READS,
    columns="id at act by file why",
    empty="Nothing was done to any note yet.",
    items="acts",
    route="/lifecycle/log",
    commands=(Command("undo"),),
    is_tool=False,
)
def lifecycle_log(services: Services, limit: Limit = ACT_LIMIT) -> list[RecordedAct]:
    """List who pinned, snoozed, archived, restored or forgot what, when and why; the last act first."""
    return services.lifecycle.latest(limit)


@operation(
    Effect.REPEATABLE,
    text=lambda result: f"{result.act} of {result.file} is taken back.",
    route="/lifecycle/undo",
    commands=(Command("undo"),),
    is_tool=False,
)
def lifecycle_undo(
    services: Services,
    act: Annotated[
        int,
        Field(ge=1, le=2**53, description="Its number, as undo lists it."),
        Option(metavar="ACT", is_argument=True),
    ],
) -> RecordedAct:
    """Undo an act; forgotten documents cannot be restored."""
    return services.lifecycle.undo(act, services.caller)


# -- forgotten ------------------------------------------------------------------------------------------


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
    rebuilt: list[str] = Field(default=[], description="Derived documents, written again without it.")
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
        InvalidInput, NotFound: As `Lookup.forgettable`.
    """
    note = services.lookup.forgettable(query)
    if confirm is not False and (folder := _folder_without_file(services, note)):
        services.update(folder)  # the note may have been moved, and would come back as a new one
        note = services.vault.documents.get(note.id) or note
    digits = read_address(query)[0].docid
    if confirm is True and digits and note.hash.startswith(normalise_docid(digits)):
        return note
    preview = services.forgetting.preview(note)
    derived = preview.derived
    were = "was" if len(derived) == 1 else "were"
    memories = f"{plural(len(derived), 'memory')} {were} derived from it: {few(files_of(derived))}."
    lines = [
        f"{note.display_path} (#{preview.docid}): {shown_title(note).rstrip('.')}.",
        f"Written {age(preview.age_days)} ({note.authored_at[:10]}), {preview.size:,} bytes.",
        memories if derived else "No memories were derived from it.",
    ]
    would_forget = WouldForget(
        **place_of(services.vault.documents, note),
        authored_at=note.authored_at,
        bytes=preview.size,
        derived=len(derived),
        derived_files=files_of(derived),
    )
    raise ConfirmationMissing(
        f"Nothing was forgotten. This would forget {' '.join(lines)}",
        would_forget.model_dump(mode="json"),
        remedy=f"To forget it, repeat with docid #{preview.docid} and confirm: true.",
        preview=lines,
        question="Forget it for good?",
        confirmed={"query": f"#{preview.docid} {note.display_path}", "confirm": True},
    )


def _folder_without_file(services: Services, note: Document) -> Folder | None:
    """Return the folder of *note* if its file is not there any more, though the folder is."""
    if note.stamp is None or note.inactive is not None:
        return None
    for folder in services.folders:
        root = Path(folder.root)
        if folder.name == note.collection and root.is_dir() and not (root / note.path).is_file():
            return folder
    return None


def _forgotten_text(result: Forgotten) -> Iterator[str]:
    yield f"{result.file} is {'' if result.changed else 'already '}forgotten."
    if result.changed:
        if result.file_remains:
            yield "Its file stays where it is, and is not indexed again."
        yield "Bundles and backups that were made before still have it."
    yield from (f"{file} is forgotten with it." for file in result.also_forgotten)
    yield from (f"{file} was written again without it." for file in result.rebuilt)
    yield from (f"{file} says some of it as well." for file in result.said_in)
    for file, state in result.retained_in.items():
        yield f"{file} is {state}, and its text, which says some of it, is still in the vault."
    yield from proof_lines(result.probes or {}, result.left)


def proof_lines(probes: Mapping[str, Sequence[str]], left: str) -> Iterator[str]:
    """Yield what each probe found of forgotten documents, and whether their bytes remain."""
    yield from (f"  {probe}: {'; '.join(traces) or 'nothing'}" for probe, traces in probes.items())
    if left:
        yield f"Bytes may still lie in the vault's free space: {left} Then run: clawmem archive --purge"


@operation(
    Effect.DESTROYS,
    text=_forgotten_text,
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
    if gone := services.lookup.forgotten(query):
        nameless = {**place_of(services.vault.documents, gone), "docid": "", "title": ""}
        probes = services.prove(ForgetReport((gone,))) if prove else None
        return Forgotten(**nameless, changed=False, file_remains=gone.stamp is not None, probes=probes)
    note = _confirmed(services, query, confirm)
    place = place_of(services.vault.documents, note)
    done = services.forgetting([note], services.caller, why)
    return Forgotten(
        **place,
        changed=True,
        file_remains=note.stamp is not None,
        also_forgotten=files_of(document for document in done.documents if document.id != note.id),
        rebuilt=files_of(done.rebuilt),
        said_in=list(done.traces.said_in),
        retained_in={document.display_path: str(document.inactive) for document in done.traces.kept_in},
        left=done.left,
        probes=services.prove(done) if prove else None,
    )


class ForgottenSource(Result):
    """A source that was forgotten: its documents, memories derived from them, and the findings of each probe."""

    source: str
    documents: int
    derived: int
    left: str = Field(default="", description="Why bytes may remain in free space; empty if none do.")
    probes: dict[str, list[str]]

    @property
    def exit_code(self) -> int:
        """Return 7 where a probe found a trace, 1 where bytes remain; another document with the text is no trace."""
        found = any(paths for probe, paths in self.probes.items() if probe != SAME_TEXT)
        return TRACE_FOUND if found else BYTES_REMAIN if self.left else 0


def forget_source(
    services: Services, source: str, collection: str, *, confirm: bool | None
) -> ForgottenSource:
    """
    Forget the documents of *source* in *collection*, by default in every one; archived ones as well.

    Raises:
        ConfirmationMissing: ``confirm`` is not true.
        NotFound: there is no such source.
    """
    configured, stores = services.settings.collections, services.vault
    imported = documents_of_source(stores.documents, configured, source)
    documents = [document for document in imported if collection in ("", document.collection)]
    if not documents:
        sources = imported_sources(stores.documents, configured)
        known = {known.source for known in sources if collection in ("", known.collection)}
        remark = f"Only the collection {collection} was searched." if collection else ""
        raise NotFound("source", source, suggestions=sorted(known), remark=remark)
    if confirm is not True:
        size = sum(document.body_length for document in documents)
        days = sorted(document.authored_at[:10] for document in documents)
        states = {
            "pinned": sum(document.is_pinned for document in documents),
            "not served": sum(document.inactive is not None for document in documents),
        }
        counted = "".join(f", {count:,} of them {state}" for state, count in states.items() if count)
        line = (
            f"{plural(len(documents), 'document')} from {source} in "
            f"{' and '.join(sorted({document.collection for document in documents}))}{counted}, {size:,} characters, "
            f"written {days[0]} to {days[-1]}, and every memory derived from that. It is for good, and a later import "
            "does not bring them back."
        )
        raise ConfirmationMissing(
            f"Nothing was forgotten. This would forget {line}",
            {"source": source, "documents": len(documents), "characters": size},
            remedy="To forget it, repeat with confirm: true.",
            preview=[line],
            question="Forget this for good?",
            confirmed={"confirm": True},
        )
    with services.progress("Forgetting") as step:
        try:
            done = services.forgetting(documents, services.caller, f"source {source}", progress=step)
        except KeyboardInterrupt as interruption:
            interruption.add_note("Not finished. Run the same command again, then: clawmem archive --purge")
            raise
    with services.progress("Looking for traces"):
        probes = services.prove(done)
    return ForgottenSource(
        source=source,
        documents=len(documents),
        derived=len(done.documents) - len(documents),
        left=done.left,
        probes=probes,
    )


def forgotten_source_text(result: ForgottenSource) -> Iterator[str]:
    """Yield the lines about a forgotten source."""
    derived = f", and {plural(result.derived, 'derived memory')}" if result.derived else ""
    yield f"Forgotten: {plural(result.documents, 'document')} from {result.source}{derived}."
    yield "Bundles and backups that were made before still have them."
    yield from proof_lines(result.probes, result.left)


# -- pinned and snoozed ----------------------------------------------------------------------------------


DEFAULT_SNOOZE = "30d"


class Treatment(DocumentReference):
    """A note and how it is treated now; ``changed`` is false where it was so before."""

    action: str
    changed: bool
    pinned: bool
    snoozed_until: str | None = None


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
    return Treatment(
        **place_of(services.vault.documents, target),
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
    return Treatment(
        **place_of(services.vault.documents, target),
        action="unsnoozed" if moment is None else "snoozed",
        changed=changed,
        pinned=target.is_pinned,
        snoozed_until=moment,
    )
