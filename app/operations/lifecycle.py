"""The life of notes: remembered, pinned, snoozed, archived, restored and forgotten for good; and the diary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import Address, Confirm, Docid, Limit, Names, OptionalAddress, Why, listed
from clawmem.app.operations.fields import named_collections as known_collections
from clawmem.app.operations.indexing import PERSON, embed_new
from clawmem.app.operations.operation import Command, Effect, Option, Result, argument, operation
from clawmem.app.operations.output import counts_text, plural, records_table, value_text
from clawmem.app.services.capture.memories import AGENT, LAST, NAME_CHARS, DiaryEntry
from clawmem.app.services.capture.remembering import SECRET_REMARK, SavedNote
from clawmem.app.services.capture.visibility import DAY
from clawmem.app.services.documents.listing import candidates_of
from clawmem.app.services.documents.records import (
    DocumentReference,
    TitledFile,
    files_of,
    place_of,
    titled_file,
)
from clawmem.app.services.lifecycle.actions import MOST, LifecycleStatus, RecordedAct, RestoreReport
from clawmem.app.services.lifecycle.forgetting import ForgetReport, derived_documents
from clawmem.app.services.portability import imported_documents
from clawmem.app.services.retrieval.request import read_request
from clawmem.app.services.surfacing.reminders import DAYS
from clawmem.domain.briefing.blocks import few
from clawmem.domain.capture.remembering import MOST_CHARACTERS
from clawmem.domain.documents.diary import TOPIC
from clawmem.domain.documents.names import read_address
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.domain.security.quoting import shown_title, title_to_read
from clawmem.domain.security.secrets import find_secrets
from clawmem.ports.errors import ConfigError, ConfirmationMissing, NotFound, NotServed
from clawmem.ports.journal import Act
from clawmem.ports.records import Document, InactiveReason, Origin

DEFAULT_SNOOZE = "30d"
TYPED = Option(metavar="TEXT...", is_argument=True, from_stdin=True, about="Text to remember; - reads stdin.")
UNTIL = Option(about="The day: 2026-03-31, tomorrow, friday, in 3 weeks, or 30d.")


class SweepReport(Result):
    """
    Documents that were archived and forgotten for good, or would be; ``problems`` say why bytes may remain.

    A preview proposes often used ones to ``pin``, and those that are surfaced and never used to ``snooze``. ``warnings``
    are about the policy.
    """

    dry_run: bool
    archived: list[str]
    purged: list[str]
    pin: Sequence[str] = ()
    snooze: Sequence[str] = ()
    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()

    @property
    def remarks(self) -> Sequence[str]:
        """Return how to undo or do the sweep, its problems and warnings."""
        undo = "To serve an archived note again, run: clawmem restore NOTE" if self.archived else ""
        preview = "Nothing was changed. To do it, leave out --dry-run, and set lifecycle: {dry_run: false}."
        due = (preview if self.dry_run else undo) if self.archived or self.purged else "No document is due."
        return [*filter(None, [due]), *self.problems, *self.warnings]


@operation(Effect.READS, name="lifecycle_status", route="/lifecycle/status", command="archive --status")
def status(services: Services) -> LifecycleStatus:
    """Count the documents that are served, pinned, snoozed, archived and forgotten."""
    return services.lifecycle.status(services.settings.archive_policy)


@operation(
    Effect.DESTROYS,
    route="/lifecycle/sweep",
    command=(
        Command("archive", fixed={"purge": False}, defaults={"dry_run": False}),
        Command("archive --purge", fixed={"purge": True}, defaults={"dry_run": False}),
    ),
)
def lifecycle_sweep(
    services: Services,
    dry_run: Annotated[bool, "List what would go, change nothing."] = True,
    purge: Annotated[bool, "Archive nothing, and clear the vault's free space."] = False,
) -> SweepReport:
    """Archive idle documents, and forget documents archived long ago (or only these), by the configured policy."""
    lifecycle, policy = services.lifecycle, services.settings.archive_policy
    if not (policy or purge):
        example = "lifecycle: {archive_after_days: 90, dry_run: false}"
        raise ConfigError(f"No lifecycle policy is configured. Write into the config file: {example}")
    policy = policy or ArchivePolicy(dry_run=dry_run)
    due, old = [] if purge else lifecycle.due(policy), lifecycle.due_for_good(policy)
    is_preview = dry_run or policy.dry_run
    report = SweepReport(dry_run=is_preview, archived=files_of(due), purged=files_of(old))
    report.warnings = services.policy_faults
    if is_preview:
        report.pin, report.snooze = map(files_of, lifecycle.proposals(MOST))
        old = []
    elif due:
        lifecycle.sweep(policy, services.caller)
    if not dry_run:
        left = services.forgetting(old, services.caller, "archived for long", Act.PURGE).left
        left = left or (services.forgetting.scrub() if purge else "")
        report.problems = [left] if left else []
    return report


class ArchivedNote(TitledFile):
    """A note that is archived; ``changed`` is false if it was archived before."""

    changed: bool = True


@operation(
    Effect.REPEATABLE,
    text=lambda note: (
        f"Archived{'' if note.changed else ' already'}: {note.file}. To serve it again, run: clawmem restore '{note.file}'"
    ),
    route="/documents/{query:path}/archive",
    command="archive",
)
def lifecycle_archive(services: Services, query: Address, why: Why = "") -> ArchivedNote:
    """Archive one note: it is found no more until it is restored or edited; its file stays."""
    try:
        target = services.lookup.find(query)
        services.lifecycle.archive([(target, why)], services.caller)
    except NotServed as error:
        target = error.document
        if target.inactive is not InactiveReason.ARCHIVED:
            raise
    return ArchivedNote(**titled_file(target).model_dump(), changed=target.inactive is None)


@operation(
    Effect.REPEATABLE,
    text=lambda result: (
        records_table(result.documents, "file title")
        or "".join(f"{note.file} ({note.title}) is served already." for note in result.served)
        or "No document was restored."
    ),
    route="/lifecycle/restore",
    command="restore",
)
def lifecycle_restore(
    services: Services,
    query: OptionalAddress = "",
    collection: Annotated[str, "Restore every archived document of it.", Option(("-c", "--collection"))] = "",
    all: Annotated[bool, "Restore every archived document."] = False,
) -> RestoreReport:
    """Serve archived documents again: one, those of a collection, or all."""
    documents = services.lifecycle.to_restore(query, collection, everything=all)
    if not documents:
        known_collections(services, collection)  # which refuses an unknown one
    report = services.lifecycle.restore(documents, services.caller)
    embed_new(services)
    return report


@operation(
    Effect.REPEATABLE,
    columns="id at act by file why",
    empty="No act on a note yet, such as pin, snooze or archive. To take back a saved note, run: clawmem forget NOTE",
    items="acts",
    route="/lifecycle/undo",
    only_reads=lambda request: request.act is None,
    command="undo",
)
def lifecycle_undo(
    services: Services,
    act: Annotated[int | None, "Number of the act to undo.", Field(ge=1, le=2**53), argument("ACT")] = None,
    limit: Limit = 20,
) -> list[RecordedAct]:
    """List who changed, archived, restored or forgot what, when and why; or undo one act, unless it forgot a note."""
    undone = [] if act is None else [services.lifecycle.undo(act, services.caller)]
    if undone:
        embed_new(services)
    return [*undone, *services.lifecycle.latest(1 if undone else limit)]


class Forgotten(Result):
    """
    A note, or the documents of a source, that were forgotten; ``changed`` is false if the note was forgotten before.

    Files remain, and are not indexed again. Documents derived from them are ``also_forgotten``. Others say some of the
    text: served ones (``said_in``), and those in ``retained_in``. Archived ``transcripts`` that said it were deleted.
    ``left`` says why bytes may remain in free space; ``probes`` are the findings of each probe, null without a proof.
    """

    name: str = Field(description="The file of the note, or the name of the source.")
    changed: bool = True
    documents: int = 1
    also_forgotten: Sequence[str] = ()
    said_in: Sequence[str] = ()
    retained_in: Sequence[str] = ()
    transcripts: Sequence[str] = ()
    left: str = ""
    probes: dict[str, list[str]] | None = None

    @property
    def exit_code(self) -> int:
        """Return 7 where a probe found a trace, and 1 where bytes remain."""
        return 7 if any((self.probes or {}).values()) else int(bool(self.left))

    @property
    def remarks(self) -> Sequence[str]:
        """Return why bytes may remain, with the remedy, and what the proof could not look for."""
        left = [self.left, "Later run: clawmem archive --purge"] if self.left else []
        blind = "No words of its own are known any more, so none were looked for in the bytes. Look yourself: grep -lia TEXT VAULT*"
        return [blind, *left] if self.probes and "bytes" not in self.probes else left


def _forgotten_text(result: Forgotten) -> Iterator[str]:
    yield f"{result.name} is {'' if result.changed else 'already '}forgotten. Files, bundles and backups keep its text."
    yield from counts_text(result.model_dump(include={"also_forgotten", "said_in", "retained_in"}))
    if result.transcripts:
        yield f"Archived transcripts that said it, deleted: {', '.join(result.transcripts)}"
    for probe, traces in (result.probes or {}).items():
        yield f"  {probe}: {'; '.join(traces) or 'nothing'}"


def _forgotten(name: str, documents: Sequence[Document], report: ForgetReport) -> Forgotten:
    wanted = {document.id for document in documents}
    return Forgotten(
        name=name,
        changed=any(document.inactive is not InactiveReason.FORGOTTEN for document in documents),
        documents=len(documents),
        also_forgotten=files_of(document for document in report.documents if document.id not in wanted),
        said_in=list(report.said_in),
        retained_in=[f"{document.display_path} ({document.inactive})" for document in report.retained_in],
        transcripts=report.transcripts,
        left=report.left,
    )


@operation(Effect.DESTROYS, text=_forgotten_text, route="/documents/{query:path}/forget", command="forget")
def memory_forget(
    services: Services,
    query: Docid,
    confirm: Confirm = None,
    why: Why = "",
    prove: Annotated[bool, "Look for its text everywhere afterwards.", Option(tool=None)] = False,
) -> Forgotten:
    """
    Forget a note for good, everywhere, only at the user's wish; its file stays. Repeat it after an interruption.

    Without a confirmation nothing is changed: the note is shown with its size and the memories derived from it.
    """
    try:
        note, digits = services.lookup.forgettable(query), read_address(query)[0].docid
    except NotFound as error:
        if error.candidates or isinstance(error, NotServed) or query.lstrip().startswith("#"):
            raise
        request = read_request(query[:MAX_QUERY], now_ms=services.clock.now_ms(), limit=MOST)
        near = [result.document for result in services.pipeline("search")(request).results]
        candidates = candidates_of(services.vault.documents, near)
        raise NotFound("document", query, candidates=candidates, remark=error.remark) from error
    is_confirmed = confirm is True and digits and note.first_hash.startswith(digits)
    if note.inactive is not InactiveReason.FORGOTTEN and not is_confirmed:
        derived = files_of(derived_documents(services.vault, [note.id]))
        twins = services.vault.documents.holding(note.hash) if note.body_length else []
        copies = files_of(twin for twin in twins if twin.inactive is None and twin.id != note.id)
        details = place_of(services.vault.documents, note) | {"derived": derived, "copies": copies}
        details |= {"authored_at": note.authored_at, "characters": note.body_length}
        raise ConfirmationMissing(
            [
                f"This would forget {note.display_path} ({details['docid']}): {shown_title(note).rstrip('.')}.",
                f"Written {note.authored_at[:10]}, {note.body_length:,} characters.",
                f"Memories derived from it: {few(derived) or 'none'}.",
                f"Files with the same text, which stay: {few(copies) or 'none'}.",
            ],
            details,
            remedy=f'To forget it, repeat with query: "{details["docid"]}" and confirm: true.',
            confirmed={"query": f"{details['docid']} {note.display_path}", "confirm": True},
        )
    report = services.forgetting([note], services.caller, why)
    embed_new(services)  # observations that were merged into it are served again
    name = query if note.inactive is InactiveReason.FORGOTTEN else note.display_path
    result = _forgotten(name, [note], report)
    if prove:
        result.probes = services.prove(report)
    return result


@operation(Effect.DESTROYS, text=_forgotten_text, command="mine --forget")
def source_forget(
    services: Services, source: Annotated[str, "Its name.", argument("SOURCE")], confirm: Confirm = None
) -> Forgotten:
    """Forget everything imported from this source, and prove it; a later import does not bring it back."""
    imported = imported_documents(services.vault.documents)
    if not (documents := [document for name, document in imported if name == source]):
        raise NotFound("source", source, remark="All sources: clawmem mine --sources")
    new = [document for document in documents if document.inactive is not InactiveReason.FORGOTTEN]
    if new and confirm is not True:
        characters = sum(document.body_length for document in new)
        counts = f"{plural(len(new), 'document')} from {source}, {characters:,} characters"
        details = {"source": source, "documents": len(new), "characters": characters}
        raise ConfirmationMissing([f"This would forget {counts}, and memories derived from them."], details)
    with services.progress("Forgetting") as step:
        report = services.forgetting(documents, services.caller, f"source {source}", progress=step)
    result = _forgotten(source, documents, report)
    with services.progress("Looking for traces"):
        result.probes = services.prove(report)
    return result


class Treatment(DocumentReference):
    """A note, and how it is treated now."""

    pinned: bool
    snoozed_until: str | None = None


def _treated(services: Services, target: Document) -> Treatment:
    documents = services.vault.documents
    note = documents.many([target.id])[target.id]
    return Treatment(**place_of(documents, note), pinned=note.is_pinned, snoozed_until=note.snoozed_until)


def _treatment_text(note: Treatment) -> str:
    snoozed = f"snoozed until {value_text('', note.snoozed_until)}" if note.snoozed_until else "not snoozed"
    return f"{note.file} ({title_to_read(note.title, note.origin)}) is {'' if note.pinned else 'not '}pinned, and {snoozed}."


@operation(
    Effect.REPEATABLE,
    text=_treatment_text,
    route="/documents/{query:path}/pin",
    command=(
        Command("pin", fixed={"unpin": False}),
        Command("pin --off", fixed={"unpin": True}, about="Take back a pin; the note's own stays."),
    ),
)
def memory_pin(
    services: Services, query: Address, unpin: Annotated[bool, "Take the pin back."] = False, why: Why = ""
) -> Treatment:
    """Rank a note before others that fit a question equally well; for notes that the user needs often."""
    target = services.lookup.find(query)
    services.lifecycle.pin(target, services.caller, why, pinned=not unpin)
    return _treated(services, target)


@operation(
    Effect.REPEATABLE,
    text=_treatment_text,
    route="/documents/{query:path}/snooze",
    route_defaults={"until": DEFAULT_SNOOZE},
    command=(
        Command("snooze", defaults={"until": DEFAULT_SNOOZE}),
        Command("snooze --off", fixed={"until": None}, about="Let a note be surfaced again."),
    ),
)
def memory_snooze(
    services: Services,
    query: Address,
    until: Annotated[str | None, "The day: 2026-03-31, friday, in 3 weeks, 30d. Null ends it.", UNTIL] = None,
    why: Why = "",
) -> Treatment:
    """Keep a note out of prompts until a day; searches still find it."""
    moment = None if until is None else services.lifecycle.read_until(until)
    target = services.lookup.find(query)
    services.lifecycle.snooze(target, moment, services.caller, why)
    return _treated(services, target)


def _saved(note: SavedNote) -> str:
    if note.action == "known":
        return f"Known already: {note.file}:{note.line}  {note.docid}"
    superseding = f", superseding {note.supersedes}" if note.supersedes else ""
    return f"Saved: {note.file}  {note.docid}{superseding}"


@operation(Effect.ADDS, text=_saved, route="/remember", command="remember", any_vault=False)
def memory_remember(
    services: Services,
    text: Annotated[str, "Text to remember, as Markdown.", TYPED],
    title: Annotated[str, "Its title; the first line of the text otherwise."] = "",
    tag: Annotated[Names, "Its tags."] = "",
    collection: Annotated[str, "Its collection, if there are several.", Option(("--in",))] = "",
    supersedes: Annotated[str, "The note that it replaces: path, #docid, title …"] = "",
    when: Annotated[str, "Show it with prompts about this subject, at most three times."] = "",
    until: Annotated[str, "The last day of that; 90 days from now otherwise."] = "",
    anyway: Annotated[bool, "Save it although a note states it already."] = False,
) -> SavedNote:
    """
    Save a text as a Markdown file in a folder of the user; it can be found at once.

    Nothing is saved if a note that is up to date states the same; the answer names that note. A secret in the text is
    reported, and saved as written. Correct a note by saving the new text with supersedes.
    """
    origin = Origin.USER if services.caller == PERSON else Origin.ASSISTANT
    last = services.lifecycle.read_until(until or f"{DAYS}d")[:DAY] if when or until else ""
    note = services.remember(
        text, title, listed(tag), collection, supersedes, origin=origin, anyway=anyway, when=when, until=last
    )
    if note.action == "saved" and (why := embed_new(services)):
        note.remarks.append(f"The note is found by words only: {why}")
    return note


@operation(
    Effect.ADDS, text=_saved, route="/diary", command=(Command("diary write", defaults={"agent": "user"}),)
)
def diary_write(
    services: Services,
    entry: Annotated[str, "Text to remember.", Field(min_length=1, max_length=MOST_CHARACTERS), TYPED],
    topic: Annotated[str, "Its topic.", Field(max_length=NAME_CHARS), Option(("-t", "--topic"))] = TOPIC,
    agent: Annotated[str, "Its writer.", Field(max_length=NAME_CHARS), Option(("-a", "--agent"))] = AGENT,
) -> SavedNote:
    """Add an entry to the diary, which is searched like any note; a secret in it is reported, and saved as written."""
    document = services.diary.write(entry, topic, agent)
    embed_new(services)
    remarks = [SECRET_REMARK] if find_secrets(entry) else []
    return SavedNote(**place_of(services.vault.documents, document), action="saved", remarks=remarks)


@operation(
    Effect.READS,
    columns="authored_at=written agent text",
    empty="The diary has no such entry.",
    items="entries",
    route="/diary",
)
def diary_read(
    services: Services,
    last_n: Limit = LAST,
    agent: Annotated[str, "Only of this writer; empty for all.", Option(("-a", "--agent"))] = "",
) -> list[DiaryEntry]:
    """Return the last entries of the diary, newest first."""
    return services.diary.read(last_n, agent, is_known=services.caller == PERSON)
