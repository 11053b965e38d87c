"""The vault: its file and state, checks and repair, its indexes, lanes, enrichment, duplicates and next steps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.lazy import backend_named
from clawmem.app.bootstrap.opening import open_copy, open_services, require_unused, require_vault
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import CURATOR_REPORT, is_there, topics_folder
from clawmem.app.environment.private_files import (
    draft_folder,
    files_of_vault,
    make_folder,
    sweep_drafts,
    write_whole,
)
from clawmem.app.operations.fields import Address, Confirm, Limit
from clawmem.app.operations.indexing import PERSON, embed_after, embed_new, index_faults, read_folders
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import (
    Part,
    counts_text,
    fields_text,
    plural,
    records_table,
    size,
    table,
    value_text,
)
from clawmem.app.services.capture.briefing import Reflection
from clawmem.app.services.capture.briefing import reflect as reflection_of
from clawmem.app.services.documents.records import TitledFile, titled_file
from clawmem.app.services.indexing.collections import memory_advice
from clawmem.app.services.knowledge.enriching import EnrichReport
from clawmem.app.services.lifecycle.actions import CuratorReport
from clawmem.app.services.maintenance.doctor import OF_FILES, CheckResult, machine_findings, split_again
from clawmem.app.services.maintenance.phase_run import with_notes
from clawmem.app.services.maintenance.status import StatusReport
from clawmem.app.services.models import WITHOUT
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports import errors
from clawmem.ports.errors import ConfirmationMissing, NotFound, VaultError
from clawmem.ports.journal import Run, RunStatus
from clawmem.ports.models import Cost
from clawmem.ports.records import Role
from clawmem.ports.storage import SalvageReport, VaultInfo

# Tables in words of users. Rows of the others are computed again from texts and files.
_CONTENTS = {
    "documents": "notes, memories and diary entries, with their pins and snoozes",
    "acts": "entries of the list of acts",
    "forgotten_texts": "fingerprints of forgotten texts",
    "sessions": "sessions of agents",
    "replacements": "merged notes",
    "entities": "names of people and things",
    "triples": "facts",
    "recalls": "past questions",
}


class Examination(Result):
    """The findings of every check; ``way_out`` is the remedy."""

    ok: bool
    findings: list[CheckResult]


@operation(
    Effect.REPEATABLE,
    text=lambda result: [
        *(check.line for check in result.findings),
        *(["All is well."] if result.ok else []),
    ],
    route="/doctor",
    opens=Opening.CURRENT,
)
def doctor(services: Services) -> Examination:
    """
    Check the vault and its environment; report remedies.

    It changes two things: files of the vault, and the config file, are made private if other users can read them, and
    drafts of commands that were killed are deleted.
    """
    settings = services.settings
    places = [*files_of_vault(settings.vault), topics_folder(os.environ), settings.config_file]
    *machine, permissions = machine_findings(settings.vault, places)
    sweep_drafts(settings.vault)
    is_person = services.caller == PERSON  # a request to the server must not start programs
    agents = services.client_checks(os.environ, project=Path.cwd() if is_person else None, starts=is_person)
    archive = services.transcript_archive
    is_readable, facts = True, memory_advice(services.clients, settings)
    try:
        sizes = [file.stat().st_size for file in archive.files()]
        archived = f"{len(sizes)} archived, {size(sum(sizes))} of {archive.most_mb} MB; in {archive.folder}"
    except OSError as error:
        is_readable, archived = False, f"{error.filename} cannot be read. Check its permissions."
    known = [CheckResult("watcher", True, services.watch_state())]
    known.append(CheckResult("transcripts", is_readable, archived))
    known += [CheckResult("memories of agents", True, fact) for fact in facts]
    findings = [*machine, *services.doctor(), permissions, *agents, *known]
    return Examination(ok=all(check.ok for check in findings), findings=findings)


def _salvage_text(report: SalvageReport) -> Iterator[str]:
    if not report.damaged:
        yield "No damage found. Nothing was changed."
        return
    everything = "pins, the diary, captured memories, and the history"
    for what, rows in (("Kept", report.kept), ("Lost", report.lost)):
        counts = {words: rows[name] for name, words in _CONTENTS.items() if name in rows}
        texts = [f"{words} ({'unknown' if count is None else count})" for words, count in counts.items()]
        none = everything if what == "Lost" and not report.kept else "nothing"
        yield f"{what}: {'; '.join(texts) or none}"
    for what, files in (("Text lost, and in no file", report.notes), ("Text damaged", report.spoilt)):
        if files:
            yield f"{what}: {', '.join(files)}"
    yield f"Repaired: {report.vault}"
    yield f"Damaged file: {report.damaged}"


@operation(Effect.DESTROYS, text=_salvage_text, opens=Opening.NOTHING, command="doctor --repair")
def repair(services: Services, confirm: Confirm = None) -> SalvageReport:
    """
    Rebuild a damaged vault from every row that can be read, its indexes, and the files of the collections.

    The damaged file is stored next to the new vault. Forgotten notes stay forgotten. A sound vault is left as it is.
    """
    settings, vault = services.settings, str(services.settings.vault)
    require_vault(settings)
    require_unused(settings)
    plain = settings.model_copy(update={"collections": {}})
    with suppress(Exception):
        # SQLite checks constraints for a writer only, who must not open a broken file.
        for is_reader in (True, False):
            with open_services(plain, read_only=is_reader, create=False) as opened:
                if opened.verify():
                    break
        else:
            return SalvageReport({}, {}, [], [], vault, "")
    damaged = f"{vault}.damaged-{services.clock.now_ms()}"
    try:
        with draft_folder(settings.vault) as draft:
            if not confirm:
                line = f"Every row that can be read would move to a new vault; the old file would stay as {damaged}."
                with services.reading_damaged():
                    raise ConfirmationMissing([line], {})
            report = services.repair_vault(str(draft / "draft.sqlite"), damaged)
    except OSError as error:
        is_full = error.errno in errors.DISK_FULL
        raise (errors.VaultFull if is_full else errors.VaultReadOnly)(vault) from error
    with open_services(settings, create=False) as opened:
        repaired = opened.called_by(services.caller, services.progress)
        repaired.forgotten_places.agree()
        split_again(repaired.vault.documents, repaired.vault.transactions, repaired.publisher)
        read_folders(repaired, repaired.folders, force=True)
        for role in Role:
            repaired.indexes.rebuild(role)
        repaired.indexes.keep_up()
        embed_after(repaired)
        remarks = repaired.forgotten_places.warnings()
        if without := repaired.vault.embeddings.counts().pending:
            remarks.append(f"{plural(without, 'text')} without vectors. Run: clawmem embed")
        served = {"/".join(place) for place in repaired.vault.documents.places()}
    is_lost = not report.kept.get("documents") and ("documents" in report.lost or not report.kept)
    if is_lost and not served:
        again = "update" if settings.collections else "bootstrap PATH"
        fault = f"No note could be saved: {vault} is a vault without notes now, the old file is {damaged}."
        raise VaultError(vault, f"{fault} Put a backup in its place, or run: clawmem {again}")
    if is_lost:
        again = "Notes were read again from their folders, and forgotten ones stay forgotten."
        remarks.append(f"{again} To lose nothing next time, run: clawmem backup FILE")
    notes = [file for file in report.notes if file not in served]
    spoilt = [file for file in report.spoilt if file not in served]
    return replace(report, notes=notes, spoilt=spoilt, remarks=remarks)


class Differences(Result):
    """Differences between files, records and indexes; ``rebuilt`` indexes were damaged before the comparison."""

    differences: list[str]
    rebuilt: list[str]

    @property
    def exit_code(self) -> int:
        """Return 7 where anything differs."""
        return 7 if self.differences else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return what was rebuilt, and the remedy of differences."""
        remedy = [f"{plural(len(self.differences), 'difference')}."] if self.differences else []
        if any(line.endswith(OF_FILES) for line in self.differences):
            remedy = [f"{remedy[0]} For those of files run: clawmem update"]
        return [*(f"Damaged and rebuilt: the {role} index." for role in self.rebuilt), *remedy]


@operation(
    Effect.REPEATABLE,
    text=lambda result: [
        *(result.differences[:10] or ["Files, records and indexes agree."]),
        *(f"and {more:,} more; --json lists all" for more in [len(result.differences) - 10] if more > 0),
    ],
    route="/verify",
    command="doctor --verify",
    opens=Opening.CURRENT,
)
def verify(services: Services) -> Differences:
    """Compare files, records and indexes, after updating the indexes; exit code 7 on any difference."""
    return Differences(
        differences=[*index_faults(services), *services.verify()] or services.forgotten_places.warnings(),
        rebuilt=[str(role) for role in services.indexes.healed],
    )


@operation(
    Effect.REPEATABLE,
    text=lambda info: (
        f"Rebuilt the indexes ({info.backend}) of {info.location}: words by {info.lexical_method}, "
        f"vectors by {info.vector_method}"
    ),
    opens=Opening.ANY_BACKEND,
)
def rebuild(
    services: Services,
    backend: Annotated[str | None, "The backend of the indexes; by default the present one."] = None,
) -> VaultInfo:
    """Rebuild the indexes from the records, or move to another backend; the vault stays searchable meanwhile."""
    if backend is not None and backend_named(backend) and backend != services.indexes.backend:
        with services.progress(f"Moving to {backend}") as step:
            services.indexes.move(backend, step)
    else:
        for role in Role:
            with services.progress(f"Building the {role} index") as step:
                services.indexes.rebuild(role, step)
    return replace(services.vault.storage.info(), backend=services.indexes.backend)


class LaneStatus(Result):
    """The lanes: their workers, those that a server runs (``on``), the time until they are due, and costs of models."""

    workers: dict[str, str | None]
    on: list[str]
    due_in_seconds: dict[str, int]
    calls_today: int
    daily_calls: int
    trends: dict[str, int]
    costs: list[Cost]
    runs: list[Run]


class LaneReport(Result):
    """The runs of one attempt of a lane."""

    runs: list[Run]

    @property
    def exit_code(self) -> int:
        """Return 1 if a run failed."""
        return int(any(run.status is RunStatus.FAILED for run in self.runs))


def _runs_text(runs: Sequence[Run]) -> Iterator[Part]:
    """Yield a table of *runs*, then one of their decisions."""
    yield from records_table(
        runs,
        "started_at=when lane phase status reason selected=seen created=made rejected=refused metrics.dry_run "
        "metrics.stopped",
    )
    decisions = (decision for run in runs for decision in run.metrics.get("decisions", ()))
    named = [decision for decision in decisions if decision.get("notes")]
    yield from records_table(named, "verdict notes why score threshold method confidence by made")


@operation(
    Effect.READS,
    text=lambda result: [
        *fields_text(result.model_dump(mode="json", exclude={"costs", "runs"})),
        *records_table(result.costs, "model purpose calls failed prompt_tokens answer_tokens took_ms=ms"),
        *_runs_text(result.runs),
    ],
    command=(
        Command("maintain", fixed={"journal": False}),
        Command("maintain --journal", fixed={"journal": True}, about="Show decisions of the last runs."),
    ),
)
def lanes_status(
    services: Services,
    limit: Annotated[Limit, Option(("-n", "--limit"), about="Number of runs.")] = 10,
    lane: Annotated[LaneName | None, "Runs of one lane: light or heavy."] = None,
    journal: Annotated[bool, "The runs with their decisions."] = False,
) -> LaneStatus:
    """Show the lanes: workers, next runs, trends of merged notes, costs of models, and the last runs."""
    settings, vault, now_ms = services.settings.lanes, services.vault, services.clock.now_ms()
    leases = {name.value: vault.leases.current(name.lease, now_ms=now_ms) for name in LaneName}
    runs = vault.journal.runs(limit, lane or "")
    return LaneStatus(
        workers={name: lease.holder if lease else None for name, lease in leases.items()},
        on=[name.value for name in settings.hosted],
        due_in_seconds={name.value: round(services.lanes.left_ms(name) / 1000) for name in LaneName},
        calls_today=sum(cost.calls for cost in vault.ledger.totals(iso_utc(now_ms)[:10])),
        daily_calls=settings.daily_calls,
        trends=services.observations.trends(now_ms),
        costs=vault.ledger.totals(),
        runs=with_notes(vault.documents, runs) if journal else runs,
    )


@operation(
    Effect.ADDS,
    text=lambda result: _runs_text(result.runs),
    command=(
        Command("maintain WORK=light", fixed={"lane": "light"}),
        Command("maintain WORK=heavy", fixed={"lane": "heavy"}, about="Do large, quiet work."),
    ),
    only_reads=lambda request: request.dry_run,
)
def lanes_run(
    services: Services,
    lane: Annotated[LaneName, "light: small work often; heavy: large work at quiet times."],
    now: Annotated[bool, "Run outside of the quiet hours and while questions are asked."] = False,
    dry_run: Annotated[bool, "Show the effects of the rules; write nothing."] = False,
) -> LaneReport:
    """Run a lane once, unless another process works in it; a dry run works by rules alone, on a copy of the vault."""
    if not dry_run:
        return LaneReport(runs=with_notes(services.vault.documents, services.lanes.tick(lane, now=now)))
    with open_copy(services.settings) as copied:
        runs = with_notes(copied.vault.documents, copied.lanes.tick(lane, now=now))
    return LaneReport(runs=[replace(run, metrics={**run.metrics, "dry_run": True}) for run in runs])


@operation(Effect.REPEATABLE, columns="file title", items="restored", command="undo --merge")
def lanes_undo(services: Services, note: Address) -> list[TitledFile]:
    """Undo a merge: serve the original notes again, which are not merged again."""
    restored = services.consolidation.restore(services.lookup.find(note).id, services.caller)
    embed_new(services)
    if not restored:
        raise NotFound("merge", note, remark="For the merged notes run: clawmem maintain --journal")
    return [titled_file(document) for document in restored]


@operation(
    Effect.READS,
    text=lambda result: [
        f"{len(result.decisions)} decisions in {result.days} days",
        *records_table(result.phrases, "times text=phrase"),
        *records_table(result.antipatterns, "file title=tried_in_vain"),
        *records_table(result.together, "count one=used_together other"),
    ],
)
def reflect(
    services: Services,
    days: Annotated[int, Field(ge=1, le=36_500, description="Of how many days."), argument("DAYS")] = 14,
) -> Reflection:
    """Show repeated decisions, failed attempts, and notes used together."""
    return reflection_of(services.vault.documents, services.vault.usage, services.clock, days)


class DuplicateFile(Result):
    """A note, the note that is kept, and the share of words that both contain."""

    file: str
    kept: str
    share_of_words: float


@operation(
    Effect.REPEATABLE,
    columns="file kept share_of_words",
    empty="No unsure note repeats another one. To merge copies of captured notes, run: clawmem maintain light",
    items="archived",
    command="maintain WORK=consolidate",
)
def consolidate(
    services: Services,
    most: Annotated[int, "Uncertain notes to examine.", Field(ge=1, le=10_000), argument("MOST")] = 50,
    dry_run: Annotated[bool, "Only name them.", Option(("--dry-run",))] = False,
) -> list[DuplicateFile]:
    """Archive notes with a confidence below .4 that repeat another one of their collection; `undo` restores them."""
    duplicates = services.curator.duplicates(most)
    if not dry_run:
        why = "says the same as {} ({:.0%} of the words)"
        reasons = [(copy, why.format(first.display_path, overlap)) for copy, first, overlap in duplicates]
        services.lifecycle.archive(reasons, services.caller)
    return [
        DuplicateFile(file=document.display_path, kept=first.display_path, share_of_words=round(overlap, 4))
        for document, first, overlap in duplicates
    ]


@operation(
    Effect.REPEATABLE,
    text=lambda result: [*result.actions, f"Written: {result.written_to}"],
    command="maintain WORK=curate",
    any_vault=False,
)
def curate(services: Services) -> CuratorReport:
    """Examine the memory and write a report with next steps; the hook curator-nudge passes it to the next session."""
    problems = [check.line.removeprefix("FAIL  ") for check in services.doctor() if not check.ok]
    place = services.settings.vault.with_name(CURATOR_REPORT)
    report = services.curator.examine(services.settings.archive_policy, problems, str(place))
    write_whole(place, json.dumps(asdict(report), indent=1).encode())  # a hook may read it at this moment
    return report


@operation(
    Effect.REPEATABLE,
    text=lambda result: [*counts_text(result)] or "Nothing to do: no note has changed since it was enriched.",
    route="/enrich",
    command="maintain WORK=enrich",
)
def enrich(
    services: Services,
    limit: Annotated[int | None, "At most so many documents.", Field(ge=1), Option(("-n", "--limit"))] = None,
    all: Annotated[bool, "Also notes that another model described, and failed ones."] = False,
    no_model: Annotated[bool, "Use rules alone.", Option(("--no-model",))] = False,
) -> EnrichReport:
    """
    Add keywords, names and links to new and changed documents; a model also writes notes and facts.

    A run continues where the last one was stopped. Run it after embed: links need vectors.
    """
    with services.progress("Enriching") as step:
        return services.enrich(ask=None if no_model else services.ask)(limit, anew=all, progress=step)


class Vaults(Result):
    """The file of the vault, the config file, and the files of the named vaults; ``missing`` ones are not there."""

    vault: str
    config: str
    vaults: dict[str, str]
    missing: list[str]


def _status_rows(report: StatusReport, *, full: bool = False) -> Iterator[tuple[str, object]]:
    info, counts, notes, building = report.info, report.embeddings, report.notes, report.building
    yield "vault", f"{info.location} ({info.backend}, {size(info.size_bytes)})"
    yield "documents", report.documents or "none yet; run: clawmem bootstrap PATH"
    yield from ((f"  {collection.name}", collection.documents) for collection in report.collections)
    yield from (("  not read to its end", f"{name}; run: clawmem update") for name in report.unfinished)
    yield "types", value_text("", report.content_types) or "none"
    yield "newest", (report.newest or "none")[:16]
    yield "words", f"searched by {info.lexical_method}"
    vectors = f"{counts.stored} texts have one, {counts.pending} wait, {counts.failed} failed, {counts.orphaned} unused"
    yield "vectors", f"{vectors} ({info.vector_method})"
    if counts.stored > 200_000 and info.backend != "lancedb":
        yield "advice", "LanceDB answers faster with so many vectors; run: clawmem rebuild --backend lancedb"
    yield "model", report.model or "none yet; run: clawmem embed"
    if building:
        yield "next model", f"{building.fingerprint} is {building.share:.0%} made; run: clawmem embed"
    enriched = f"{notes.notes} documents, {notes.by_model} by a model, {notes.given_up} that it failed on"
    waiting = f", {notes.waiting} wait; run: clawmem maintain enrich" if notes.waiting else ""
    yield "enriched", f"{enriched}{waiting}"
    yield "relations", value_text("", report.relations).replace("_", " ") or "none"
    answers = f"{report.receipts} of them explained ({size(report.receipt_bytes)})"
    yield "questions", f"{report.recalls} recorded, {answers}"
    for provider in report.roles:
        yield str(provider.role), f"{provider.chosen}, because {provider.reason}"
        if failure := provider.last_failure:
            since = " It has answered since." if failure.answered_at else ""
            when = f"{failure.model}, {failure.failed_at[:16]}: {failure.reason}"
            yield "  last failure", f"{when}; {WITHOUT[failure.role]}.{since}"
    yield from (("next step", step) for step in report.next_steps)
    if full:
        yield "facts", report.facts
        yield "past review", f"{report.stale_documents} documents"
        yield "uses", f"{report.average_access_count} a document"
        yield "last sessions", ", ".join(session.id[:8] for session in report.recent_sessions) or "none"


@operation(Effect.READS, text=lambda info: [table(("what", "value"), _status_rows(info))], route="/status")
def status(services: Services) -> StatusReport:
    """Show the content of the vault and the state of its vectors."""
    return services.status()


@operation(
    Effect.READS,
    text=lambda report: [table(("what", "value"), _status_rows(report, full=True))],
    route="/index-stats",
    command="status --full",
)
def index_stats(services: Services) -> StatusReport:
    """Show the vault in numbers, and its last sessions."""
    return services.status()


@operation(Effect.REPEATABLE, command="vault init", opens=Opening.CREATED)
def init(services: Services) -> Vaults:
    """Create the vault and the config folder; keep existing ones."""
    make_folder(services.settings.config_file.parent)
    return list_vaults(services)


@operation(Effect.READS, text=lambda vaults: vaults.vault, command="vault path", opens=Opening.NOTHING)
def vault_path(services: Services) -> Vaults:
    """Print the path of the vault."""
    return list_vaults(services)


@operation(Effect.READS, command="vault list", opens=Opening.NOTHING)
def list_vaults(services: Services) -> Vaults:
    """List the named vaults with their files; opens none. The parameter vault of other tools takes their names."""
    settings = services.settings
    vaults = {name: str(file) for name, file in settings.vaults.items()}
    missing = [name for name, file in settings.vaults.items() if not is_there(file)]
    return Vaults(vault=str(settings.vault), config=str(settings.config_file), vaults=vaults, missing=missing)
