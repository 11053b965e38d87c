"""The lifecycle of notes: pinned, snoozed, archived, restored, forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.fields import ADDRESS, Limit, TitledFile, titled_file
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.lifecycle.archiving import SweepOutcome, lifecycle_status, read_policy
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.security.quoting import title_to_read
from clawmem.ports.errors import ConfigError
from clawmem.ports.journal import Act, ActEntry

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.records import Document

ACT_LIMIT = 20
BYTES_REMAIN = 1  # exit code: bytes of forgotten notes are left, or a note could not be restored
ONLY_PREVIEW = (
    "Nothing was changed: the lifecycle policy of the config file only previews. "
    "To let it archive and forget, add to it: dry_run: false"
)

DryRun = Annotated[bool, Field(description="List what would go, change nothing."), Option(("--dry-run",))]


class Status(Result):
    """Counts of documents; the pinned, snoozed and never accessed ones are served."""

    active: int
    archived: int
    forgotten: int
    pinned: int
    snoozed: int
    never_accessed: int = Field(description="Neither found by a question nor used in an answer.")
    oldest_access: str | None = Field(default=None, description="The earliest last access of a document.")
    recalls: int = Field(description="Recorded questions.")
    surfaced: int = Field(description="Put beside prompts, as far back as that is recorded.")
    pin_candidates: int = Field(description="Of them wanted again and again; see lifecycle_sweep.")
    snooze_candidates: int = Field(description="Of them surfaced often without any use.")
    policy: ArchivePolicy | None = Field(default=None, description="The configured policy, if there is one.")


class SweepReport(Result):
    """Documents that were archived and forgotten for good, or would be."""

    dry_run: bool
    archived: list[str]
    purged: list[str]
    pin: list[str] = Field(
        description="Documents that a preview proposes to pin, because they are used often."
    )
    snooze: list[str] = Field(
        description="Documents that it proposes to snooze, because they are surfaced often without being used."
    )
    left: str = Field(description="Why bytes of forgotten notes may remain in free space; empty if none do.")
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


class ArchivedDocuments(Result):
    """Documents; ``problems`` are sentences about those that stay archived."""

    count: int
    documents: list[TitledFile]
    problems: list[str] = Field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """Return 1 where a document stays archived."""
        return BYTES_REMAIN if self.problems else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return why documents stay archived."""
        return self.problems


class RecordedAct(Result):
    """An act: a change of a document, with its author, time and reason."""

    id: int
    act: str
    file: str | None
    by: str
    at: str
    why: str


class Acts(Result):
    """Acts, the last one first."""

    count: int
    acts: list[RecordedAct]


def _policy(services: Services, *, is_preview: bool) -> ArchivePolicy:
    """Return the configured policy; without one a preview uses the default policy."""
    policy = read_policy(services.settings.lifecycle)
    if policy is None:
        if is_preview:
            return ArchivePolicy()
        raise ConfigError(
            "No lifecycle policy is configured. Say in the config file, for example: "
            "lifecycle: {archive_after_days: 90, dry_run: false}"
        )
    return policy


def report_of(swept: SweepOutcome, note: str = "") -> SweepReport:
    return SweepReport(
        dry_run=swept.is_preview,
        archived=_paths(swept.archived),
        purged=_paths(swept.purged),
        pin=_paths(swept.proposals.pin),
        snooze=_paths(swept.proposals.snooze),
        left=swept.left,
        note=note,
    )


def _paths(documents: Iterable[Document]) -> list[str]:
    return [document.display_path for document in documents]


def _documents(documents: list[Document], problems: Iterable[str] = ()) -> ArchivedDocuments:
    listed = [titled_file(document) for document in documents]
    return ArchivedDocuments(count=len(listed), documents=listed, problems=list(problems))


def _acts(services: Services, entries: Iterable[ActEntry]) -> list[RecordedAct]:
    several = list(entries)
    known = services.vault.documents.many({act.document_id for act in several})
    paths = {number: document.display_path for number, document in known.items()}
    return [
        RecordedAct(
            id=act.id, act=str(act.act), file=paths.get(act.document_id), by=act.by, at=act.at, why=act.why
        )
        for act in several
    ]


def _status_text(result: Status) -> str:
    could = f"{result.pin_candidates} could be pinned, {result.snooze_candidates} snoozed"
    return "\n".join(
        [
            f"{result.active} served, of them {result.pinned} pinned, {result.snoozed} snoozed",
            f"{result.never_accessed} never accessed; oldest access {result.oldest_access or 'none'}",
            f"{result.archived} archived, {result.forgotten} forgotten; {result.recalls} recorded questions",
            f"{result.surfaced} shown in context blocks, of them {could}",
            _policy_text(result.policy),
        ]
    )


def _policy_text(policy: ArchivePolicy | None) -> str:
    if policy is None:
        return "no policy: nothing is archived unasked"
    purged = "never" if policy.purge_after_days is None else f"{policy.purge_after_days:g} days later"
    only = ", only previewed" if policy.only_previews else ""
    return f"policy: archived after {policy.after_days:g} idle days, forgotten {purged}{only}"


def sweep_text(result: SweepReport) -> str:
    would = "would be " if result.dry_run else ""
    lines: list[str] = []
    for what, files in (("archived", result.archived), ("forgotten for good", result.purged)):
        lines += [f"{plural(len(files), 'note')} {would}{what}", *(f"  {file}" for file in files)]
    lines += [f"wanted again and again, could be pinned: {file}" for file in result.pin]
    lines += [f"surfaced often and of no use, could be snoozed: {file}" for file in result.snooze]
    return "\n".join(lines)


def _documents_text(nothing: str, result: ArchivedDocuments) -> str:
    lines = [
        f"{document['file']}  {title_to_read(document['title'], document['origin'])}"
        for document in result.documents
    ]
    return "\n".join(lines) or ("" if result.problems else nothing)


def _acts_text(result: Acts) -> str:
    lines = [
        "  ".join(
            filter(None, (str(act.id), act.at[:16].replace("T", " "), act.act, act.by, act.file, act.why))
        )
        for act in result.acts
    ]
    return "\n".join(lines) or "Nothing was done to any note yet."


@operation(Effect.READS, name="lifecycle_status", text=_status_text, route="/lifecycle/status")
def status(services: Services) -> Status:
    """Count the documents that are served, pinned, snoozed, archived and forgotten."""
    policy = read_policy(services.settings.lifecycle)
    counted = lifecycle_status(services.vault.documents, services.vault.telemetry, services.clock, policy)
    return Status(**{name: getattr(counted, name) for name in Status.model_fields})


@operation(
    Effect.DESTROYS,
    text=sweep_text,
    route="/lifecycle/sweep",
    commands=(Command("lifecycle sweep", defaults={"dry_run": False}),),
)
def lifecycle_sweep(services: Services, dry_run: DryRun = True) -> SweepReport:
    """Archive idle documents and forget documents archived long ago, by the configured policy."""
    policy = _policy(services, is_preview=dry_run)
    if dry_run or policy.only_previews:
        return report_of(services.sweep.preview(policy), note="" if dry_run else ONLY_PREVIEW)
    return report_of(services.sweep(policy, services.caller))


@operation(
    Effect.DESTROYS,
    text=sweep_text,
    route="/lifecycle/purge",
    commands=(Command("lifecycle purge", defaults={"dry_run": False}),),
    is_tool=False,
)
def lifecycle_purge(services: Services, dry_run: DryRun = True) -> SweepReport:
    """Forget for good the documents archived longer than the policy keeps them, and clear the vault's free space."""
    policy = _policy(services, is_preview=dry_run)
    due = services.archiving.due_for_good(policy)
    if dry_run:
        return report_of(SweepOutcome(True, [], due))
    gone = [] if policy.only_previews else due
    left = services.forgetting(gone, services.caller, "archived for long", Act.PURGE).left
    left = left or services.forgetting.scrub()
    preview = policy.only_previews
    return report_of(SweepOutcome(preview, [], due, left=left), note=ONLY_PREVIEW if preview else "")


@operation(
    Effect.READS,
    text=partial(_documents_text, "Nothing archived holds these words."),
    route="/lifecycle/search",
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
) -> ArchivedDocuments:
    """Find archived documents by their words."""
    return _documents(services.archiving.archived(words, limit=limit))


@operation(
    Effect.REPEATABLE,
    text=partial(_documents_text, "Nothing of that is archived."),
    route="/lifecycle/restore",
)
def lifecycle_restore(
    services: Services,
    query: Annotated[
        str, Field(description=ADDRESS), Option(metavar="[NOTE...]", is_argument=True, is_address=True)
    ] = "",
    collection: Annotated[
        str, Field(description="Restore every archived document of it."), Option(("-c", "--collection"))
    ] = "",
    all: Annotated[bool, Field(description="Restore every archived document."), Option(("--all",))] = False,
) -> ArchivedDocuments:
    """Serve archived documents again: one, those of a collection, or all."""
    chosen = services.archiving.to_restore(query, collection, everything=all)
    report = services.restore(chosen, services.caller)
    return _documents(report.restored, report.sentences())


@operation(Effect.READS, text=_acts_text, route="/lifecycle/log", is_tool=False)
def lifecycle_log(services: Services, limit: Limit = ACT_LIMIT) -> Acts:
    """List who pinned, snoozed, archived, restored or forgot what, when and why; the last act first."""
    acts = _acts(services, services.vault.acts.latest(limit))
    return Acts(count=len(acts), acts=acts)


@operation(
    Effect.REPEATABLE,
    text=lambda result: f"{result.act} of {result.file} is taken back.",
    route="/lifecycle/undo",
    is_tool=False,
)
def lifecycle_undo(
    services: Services,
    act: Annotated[
        int,
        Field(ge=1, le=2**53, description="Its number, as in lifecycle log."),
        Option(metavar="ACT", is_argument=True),
    ],
) -> RecordedAct:
    """Undo an act; forgotten documents cannot be restored."""
    [undone] = _acts(services, [services.tending.undo(act, services.caller)])
    return undone
