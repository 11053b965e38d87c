"""Imports from other programs and vaults, and exports: conversations, memories, issues, copies and bundles."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from time import time
from typing import Annotated, Any, Literal

from pydantic import Field

from clawmem.app.bootstrap.lazy import imported_object
from clawmem.app.bootstrap.opening import open_copy, open_services, require_unused
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import below_home, is_there, real_path, session_places
from clawmem.app.environment.private_files import (
    VAULT_ENDINGS,
    draft_of,
    draft_of_folder,
    make_folder,
    transcript_folder,
    write_whole,
)
from clawmem.app.operations.fields import CollectionNames, named_collections
from clawmem.app.operations.indexing import EmbedOrNot, embed_after, index_faults
from clawmem.app.operations.operation import Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import counts_text
from clawmem.app.services.conversations.mining import MOST_ASKED, MiningOptions, MiningReport
from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.issues import IssueReport
from clawmem.app.services.maintenance.status import BACKUP_MARK
from clawmem.app.services.portability import (
    ImportedSource,
    ImportReport,
    imported_sources,
    is_earlier,
    memory_lines,
    note_files,
    write_bundle,
)
from clawmem.app.services.retrieval.request import first_ms, read_period
from clawmem.app.settings.config_file import fault_of_name, locked_config
from clawmem.app.settings.model import Settings, load_settings
from clawmem.domain.briefing.blocks import few
from clawmem.domain.conversations.units import COLLECTION, checked_source
from clawmem.domain.documents.names import OWN_COLLECTION
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.issues import COLLECTION as ISSUES
from clawmem.domain.security.redaction import redact
from clawmem.ports.errors import (
    BundleDamaged,
    FileNotCreated,
    InvalidInput,
    NotFound,
    SourceMissing,
    StoreUnreadable,
    VaultError,
)
from clawmem.ports.imports import ForeignStore
from clawmem.ports.records import InactiveReason, Role, one_line

NAMES = {"bundle": "clawmem-bundle.zip", "markdown": "clawmem-notes", "jsonl": "memories.jsonl"}
ENDINGS = {".md": "note", ".markdown": "note", ".zip": "bundle", ".jsonl": "jsonl"}
Form = Literal["bundle", "markdown", "jsonl"]
Force = Annotated[bool, Field(description="Replace an earlier one.")]
CHAT_NEEDS = (
    "A chat in text needs four turns marked 'User:' and 'Assistant:', or with times as in '[2025-05-01 10:00] Ann:', "
    "or six marked with names. If these are notes, run: clawmem collection add PATH"
)
JSON_NEEDS = 'Chats without text are left out. Convert others to [{"role": "user", "content": "..."}, ...].'
STORES: Mapping[str, ForeignStore] = imported_object("adapters.imports.stores:STORES")


def _conversation_places(paths: Iterable[str] | None, vault: Path) -> list[str]:
    """Return absolute *paths*; without any, those of the sessions here, and of the archive of *vault*."""
    usual = [*session_places(os.environ), *filter(Path.is_dir, [transcript_folder(vault)])]
    return [str(below_home(path)) for path in paths or usual]


def _checked(settings: Settings, request: Any, caller: str) -> Settings:
    """Return *settings*; refuse a wrong call before it creates a vault."""
    fault, places = fault_of_name(request.collection), _conversation_places(request.paths, settings.vault)
    if request.collection in settings.collections:
        fault = f"{request.collection} is a collection of files. Choose another name with -c, such as chats."
    elif period := read_period(request.since, "", now_ms := int(time() * 1000)):
        future = (period.authored_from or "") > iso_utc(now_ms + DAY_MS)
        fault = f"{request.since!r} is no day up to today. Write YYYY-MM-DD." if future else fault
    if fault or not places:
        fault = fault or "No agent has recorded sessions here. Name an export: clawmem mine PATH"
        raise InvalidInput("INVALID_INPUT", fault)
    if not any(map(os.path.lexists, places)):
        raise SourceMissing(places[0], "it does not exist")
    return settings


def _mined_text(report: MiningReport) -> Iterator[str]:
    done = asdict(report)
    yield from counts_text({"dry run": report.dry_run, **done["sources"], "unchanged files": report.skipped})
    for what, lines in {"Faults": report.faults, "Files without a conversation": report.foreign}.items():
        yield from [f"{what}: {len(lines):,}", *map(one_line, lines[:10])] if lines else ()
    if report.foreign:
        is_json = all(file.endswith((".json", ".jsonl")) for file in report.foreign)
        yield JSON_NEEDS if is_json else CHAT_NEEDS
    elif not report.sources and not report.skipped:
        yield "No conversations were found."
    yield from counts_text({"Facts": done["synthesis"]})
    if report.embed:
        yield str(report.embed)


@operation(Effect.REPEATABLE, text=_mined_text, command="mine", opens=Opening.CREATED, settings=_checked)
def mine(
    services: Services,
    paths: Annotated[list[str] | None, "Exports, folders; else sessions here.", argument("PATH...")] = None,
    collection: Annotated[str, "Collection of the documents.", Option(("-c", "--collection"))] = COLLECTION,
    source: Annotated[str, "Name of the source; that of the format otherwise."] = "",
    since: Annotated[str, "Import only exchanges from this day on."] = "",
    dry_run: Annotated[bool, "Count what would be imported."] = False,
    embed: EmbedOrNot = None,
    synthesize: Annotated[bool, "Then draw decisions, preferences, problems, milestones."] = False,
    synthesis_max_docs: Annotated[int, Field(ge=1, le=10_000), "Conversations in one run."] = MOST_ASKED,
) -> MiningReport:
    """
    Import conversations: chat exports (ChatGPT, Claude.ai, Slack), sessions of agents, and chats as text.

    Formats are recognised by content, also in ZIP files. A repetition adds and changes only new exchanges.
    """
    source = checked_source(source) if source else ""
    options = MiningOptions(collection, source, first_ms(since, services.clock), dry_run)
    with services.progress("Importing") as step:
        report = services.mining(_conversation_places(paths, services.settings.vault), options, step)
    if dry_run:
        if collection not in (COLLECTION, *services.vault.documents.collections()):
            report.remarks.append(f"The collection {collection} would be new.")
        return report
    if synthesize:
        with services.progress("Drawing facts") as step:
            report.synthesis = services.synthesize_facts(collection, synthesis_max_docs, step)
    report.embed = embed_after(services, [collection], wanted=embed)
    report.remarks += index_faults(services)
    return report


@operation(
    Effect.READS,
    columns="source collection documents first=from last=to imported_at",
    empty="Nothing was imported yet. Run: clawmem mine PATH, or clawmem import TOOL",
    items="sources",
    route="/sources",
    command="mine --sources",
)
def sources(services: Services) -> list[ImportedSource]:
    """List the programs whose conversations or memories were imported, with the numbers of their documents."""
    return imported_sources(services.vault.documents)


@operation(Effect.REPEATABLE, text=counts_text, command="import", opens=Opening.CREATED)
def import_memories(
    services: Services,
    tool: Annotated[str, f"{', '.join(STORES)}.", argument("TOOL")] = "",
    path: Annotated[Path | None, "Its store; by default where the tool has it.", argument("PATH")] = None,
    dry_run: Annotated[bool, "Report, and import nothing."] = False,
) -> ImportReport:
    """
    Import the memories of another tool, whose store is only read; a repetition imports what is new or changed.

    Original times stay, secrets are replaced, and imported texts are quoted and not trusted.
    """
    if tool not in STORES:
        remark = f"Tools: {', '.join(STORES)}. For chats, run: clawmem mine PATH, for notes: clawmem bootstrap PATH"
        if not tool:
            raise InvalidInput("INVALID_INPUT", f"Name the tool whose memories to import. {remark}")
        raise NotFound("tool", tool, suggestions=get_close_matches(tool.lower(), STORES), remark=remark)
    store = STORES[tool]
    usual = [services.settings.home / name for name in store.usual]
    if not (path or usual):
        raise StoreUnreadable(tool, "its usual place", "it has none")
    place = below_home(path).absolute() if path else next(filter(Path.exists, usual), usual[0])
    report = services.memory_import(caller=services.caller)(tool, store.read(str(place)), dry_run=dry_run)
    report.place = str(place)
    report.embed = None if dry_run else embed_after(services, [OWN_COLLECTION])
    return report


@operation(Effect.REPEATABLE, text=counts_text, route="/beads/sync", command="beads", opens=Opening.CREATED)
def beads_sync(
    services: Services,
    project_path: Annotated[str, "Folder of the project, or one below it.", argument("PROJECT")] = ".",
    allow_empty: Annotated[bool, "Remove all issues of a project without any.", Option(tool=None)] = False,
) -> IssueReport:
    """
    Make documents of the issues of a Beads project, with relations by dependency; find them with --where status=open.

    It asks `bd`, or reads the files in .beads where there is no `bd`. The watcher repeats it after changes in .beads.
    """
    report = services.issue_sync(str(below_home(project_path)), allow_empty=allow_empty)
    return replace(report, embed=embed_after(services, [ISSUES]))


class Export(Result):
    """A new file or folder, and the number of its documents; ``remarks`` name those whose files were deleted, or left out."""

    file: str
    documents: int
    remarks: list[str] = Field(default=[], exclude=True)


class RestoredVault(Result):
    """A vault that was made from a bundle, and the new config file, if any; ``forgotten`` notes are still forgotten."""

    vault: str
    documents: int
    forgotten: int
    config: str = ""


@contextmanager
def _new_file(services: Services, target: Path, form: str, *, force: bool) -> Iterator[Path]:
    """Yield the draft of the new file *target*, or of a folder; replace nothing but an earlier one."""
    place, is_folder, settings = real_path(target), form == "markdown", services.settings
    if target.name == "-":
        raise InvalidInput("INVALID_INPUT", "Standard output cannot be written. Name a new file.")
    if not is_folder and (target.is_dir() or not target.parent.is_dir()):
        reason = f"There is no folder {target.parent}. Create it: mkdir -p {shlex.quote(str(target.parent))}"
        reason = f"{target} is a folder. Name a file in it." if target.is_dir() else reason
        raise InvalidInput("INVALID_PATH", reason)
    is_own = load_settings(lenient=True).owns(place) or settings.owns(place)
    is_own |= any(is_there(Path(f"{place}{ending}")) for ending in VAULT_ENDINGS)
    stems = {str(place).removesuffix(ending) for ending in VAULT_ENDINGS} - {str(place)}
    is_own |= any(Path(stem).is_file() for stem in stems)
    for name, folder in settings.roots.items():
        root = real_path(folder)
        is_own |= is_folder and (place.is_relative_to(root) or root.is_relative_to(place / name))
    named = ENDINGS.get(target.suffix.lower(), form)
    if is_own or named != form:
        reason = "belongs to clawmem or a vault, or holds your notes. Choose another place."
        remedy = f"or export with --format {named}" if named in NAMES else "such as .sqlite"
        reason = f"has the name of a {named}. Choose another ending, {remedy}." if named != form else reason
        raise InvalidInput("INVALID_INPUT", f"{target} {reason}")

    def refuse_existing() -> None:
        is_taken = target.is_file() or (target.is_symlink() and not target.exists())
        if is_taken and not (force and is_earlier(target, form)):
            remedy = "delete it yourself: it is no earlier one of clawmem" if force else "add --force"
            raise InvalidInput("FILE_EXISTS", f"{target} exists already. Choose another file, or {remedy}.")

    refuse_existing()
    with (
        _written(target),
        draft_of_folder(target, replaces=force) if is_folder else draft_of(target) as draft,
    ):
        yield draft
        refuse_existing()  # another command may have written it meanwhile
    if form in ("backup", "bundle"):
        with suppress(OSError):  # a read-only folder has no mark for `status`
            write_whole(Path(f"{settings.vault}{BACKUP_MARK}"), f"{target}\n".encode())


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Raise FileNotCreated if *target* cannot be written in the block."""
    try:
        yield
    except OSError as error:
        raise FileNotCreated(str(target), (error.strerror or type(error).__name__).lower()) from error


@operation(Effect.READS, in_own_process=True)  # a relative path is that of the command
def backup(
    services: Services, file: Annotated[Path, "The new file.", argument("FILE")], force: Force = False
) -> Export:
    """
    Copy the vault to one file while programs use it.

    The copy is consistent, checked, and a vault itself: use it with --vault FILE, or in the place of a lost vault.
    """
    target = below_home(file).absolute()
    with _new_file(services, target, "backup", force=force) as draft:
        return Export(file=str(target), documents=services.back_up(str(draft)))


@operation(Effect.READS, in_own_process=True)
def export(
    services: Services,
    output: Annotated[Path | None, "The new file, or folder for markdown.", argument("FILE")] = None,
    form: Annotated[Form, "bundle, markdown or jsonl.", Option(("--format",))] = "bundle",
    collection: CollectionNames = "",
    force: Force = False,
) -> Export:
    """
    Write notes and memories to a file that leaves clawmem. Equal content gives equal bytes.

    A bundle (the default) is everything in one ZIP file, for `clawmem import bundle`; markdown is a folder of notes; jsonl
    has each document with its facts and relations on one line, for `clawmem import jsonl`.
    """
    names, vault = named_collections(services, collection), services.vault
    if form == "bundle" and names:
        reason = "A bundle is the whole vault. Export a part with --format markdown or --format jsonl."
        raise InvalidInput("INVALID_INPUT", reason)
    chosen = [note for note in every_served(vault.documents) if not names or note.collection in names]
    target = below_home(output or NAMES[form]).absolute()
    documents, remarks, removed = 0, list[str](), list[str]()
    roots = {folder.name: folder.root for folder in services.folders if Path(folder.root).is_dir()}
    with _new_file(services, target, form, force=force) as draft:
        if form == "bundle":
            config = services.settings.config_file
            text = redact(config.read_text("utf-8")) if config.is_file() else ""
            with (
                open_copy(services.settings) as copied,
                copied.vault_records() as records,
                closing(copied.new_bundle(draft)) as writer,
            ):
                documents, removed = write_bundle(writer, copied.vault.documents, records, settings=text)
        elif form == "jsonl":
            newer = current_successors(vault.documents, vault.successions, [note.id for note in chosen])
            stores = vault.documents, vault.properties, vault.triples, vault.relations
            lines = dict(memory_lines(*stores, newer, chosen, services.withheld()))
            draft.write_bytes("".join(f"{line}\n" for line in lines.values()).encode("utf-8", "replace"))
            documents = len(lines)
            bare = [note.display_path for note in chosen if note.display_path not in lines]
            remarks += [f"{len(bare):,} without text left out: {few(bare)}"] if bare else []
        else:
            for _, file in note_files(vault.documents, chosen, services.files, roots):
                place = draft / file.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.data)
                documents += 1
    commits = {folder.name for folder in services.folders if folder.has_commits}
    for note in chosen:
        is_of_folder = note.stamp and note.collection in roots.keys() - commits
        if is_of_folder and not os.path.lexists(Path(roots[note.collection]) / note.path):
            removed.append(note.display_path)
    left_in = "The texts of deleted files are in it: {}. To leave them out, forget them first."
    remarks += [left_in.format(few(removed))] if removed else []
    return Export(file=str(target), documents=documents, remarks=remarks)


def _alone(settings: Settings, vault: Path) -> Settings:
    """Return the settings of *vault* without folders, and with the indexes that a new vault has."""
    return settings.model_copy(update={"vault": vault, "backend": None, "collections": {}})


def _refuse_content(services: Services) -> None:
    """Raise `VaultError` if the vault has documents, served or not, cannot be written, or a server has it open."""
    vault = services.settings.vault
    require_unused(services.settings)
    if is_there(vault):
        with open_services(_alone(services.settings, vault), read_only=True) as opened:
            documents = opened.vault.documents
            if documents.latest(limit=1) or documents.latest(limit=1, active=False):
                remedy = "Nothing was changed. Name another file: clawmem --vault FILE import bundle BUNDLE"
                reason = f"{vault} has documents, and a bundle never replaces notes. {remedy}"
                raise VaultError(str(vault), reason, code="VAULT_NOT_EMPTY")


@operation(Effect.ADDS, command="import TOOL=bundle", opens=Opening.NOTHING)
def restore(services: Services, bundle: Annotated[Path, "A bundle.", argument("BUNDLE")]) -> RestoredVault:
    """Make a vault from a bundle, with the same ids and the same answers; a vault that has notes is never replaced."""
    settings = services.settings
    vault, config = settings.vault, settings.config_file
    _refuse_content(services)
    with closing(services.bundle(below_home(bundle).absolute())) as reader, _written(vault):
        make_folder(vault.parent)
        with draft_of(vault) as draft:
            text = services.restore_bundle(reader, draft)
            with open_services(_alone(settings, draft), create=False) as opened:
                for role in Role:
                    opened.indexes.rebuild(role)
                served = sum(opened.vault.documents.collections().values())
                fault = f"its manifest does not count its {served} documents"
                faults = [] if reader.manifest.get("documents") == served else [fault]
                if defects := [*opened.vault.storage.check(), *faults]:
                    raise BundleDamaged(reader.location, "; ".join(defects))
            _refuse_content(services)  # another process may have added notes
            services.discard_vault()
    with locked_config(config):
        is_configured = config.exists() or not text.strip()
        if not is_configured:
            write_whole(config, text.encode())
            settings = load_settings(vault=vault)
    with open_services(_alone(settings, vault), create=False) as opened:
        opened.forgotten_places.agree()
        opened.indexes.keep_up()
        opened.indexes.move(settings.backend or opened.indexes.backend)
        away = opened.vault.documents.latest(active=False)
        return RestoredVault(
            vault=str(vault),
            documents=sum(opened.vault.documents.collections().values()),
            forgotten=sum(note.inactive is InactiveReason.FORGOTTEN for note in away),
            config="" if is_configured else str(config),
        )
