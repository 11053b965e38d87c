"""The folders that are remembered: their collections, the reading of their files, and the vectors of their texts."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from pydantic import Field

from clawmem.app.bootstrap import opening
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import below_home, is_there, real_path
from clawmem.app.operations.fields import CollectionNames, listed
from clawmem.app.operations.operation import Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.indexing.collections import (
    Collection,
    Trust,
    collections_of,
    fault_of_imports,
    memory_advice,
    record_trust,
    served_files,
    unknown_collection,
    withdraw_collection,
)
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.file_status import FileStatus
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import PassReport
from clawmem.app.settings.config_file import (
    existing_folder,
    fault_of_name,
    read_config,
    remove_collection,
    set_value,
)
from clawmem.app.settings.model import CollectionSettings, Settings, load_settings, of_vault, set_apart
from clawmem.domain.briefing.blocks import few
from clawmem.domain.documents.eligibility import check_pattern, collection_name
from clawmem.domain.security.origin import TRUST
from clawmem.ports.errors import ConfirmationMissing, EmbeddingError, InvalidInput, ModelError, NotFound

COUNTED = ("added", "updated", "unchanged", "removed")
QUICK_MS = 60_000  # of embedding without a request
FOLDER = argument("FOLDER", parser=lambda text: below_home(text).absolute())
PERSON = "cli"  # the interface whose user may name any folder

Force = Annotated[bool, Field(description="Start over."), Option(("-f", "--force"), tool=None)]
AllowEmpty = Annotated[bool, "Also remove what an emptied folder had.", Option(("--allow-empty",), tool=None)]
Name = Annotated[str, Field(description="Its name."), Option(metavar="NAME", is_argument=True)]
Confirm = Annotated[bool | None, "Do it all the same; false only shows what would be done."]
EmbedOrNot = Annotated[
    bool | None,
    Field(description="Then make the missing vectors, or never; by default for at most a minute."),
    Option(("--embed/--no-embed",), tool=None),
]


class Reading(Result):
    """Passes over folders, and their sums; ``pending`` texts wait for vectors."""

    collections: list[PassReport]
    added: int
    updated: int
    unchanged: int
    removed: int
    pending: int
    embed: EmbedReport | None = None
    remarks: list[str] = Field(default=[], description="Sentences about the vault and its indexes.")
    offer: str = Field(default="", exclude=True, description="A line for a person at a terminal.")

    @property
    def exit_code(self) -> int:
        """Return 1 where a collection was skipped, a file or folder could not be read, or the model failed."""
        is_whole = not any(report.unread for report in self.collections)
        return 0 if is_whole and (self.embed is None or self.embed.is_whole) else 1


def index_faults(services: Services) -> list[str]:
    """Update the indexes from the records; return a sentence for each index that still lags."""
    if not services.settings.read_only:
        with services.progress("Indexing") as step:
            services.indexes.keep_up(step)
    lagging, text = services.indexes.lagging, "The {} index lags, what is new is found all the same: {}"
    return [text.format(role, reason) for role, reason in lagging.items()]


def embed_after(
    services: Services, collections: Iterable[str] = (), *, wanted: bool | None = None
) -> EmbedReport | None:
    """
    Embed the texts without vectors after documents of *collections* changed, if *wanted* or the settings say so.

    If neither says anything, a model of this machine does it for at most a minute. A model server may charge for the
    texts, and another model than that of the vault takes long.
    """
    if wanted is None and collections:
        wanted = services.settings.embeds(collections)
    waiting, clock = services.vault.embeddings.counts().pending, services.clock
    if wanted is False or (wanted is None and (services.settings.embed_server or not waiting)):
        return None
    end_ms = clock.now_ms() + QUICK_MS if wanted is None else float("inf")
    try:
        if wanted is None and not services.embed.serves:
            return None
        with services.progress("Embedding") as step:
            return services.embed(progress=step, go_on=lambda done, total: clock.now_ms() < end_ms)
    except (EmbeddingError, ModelError) as error:
        return EmbedReport(stopped=True, error=str(error)) if wanted else None


def embed_new(services: Services) -> str:
    """Embed notes that are new or served again; return the next step for those that have no vectors."""
    report = embed_after(services, wanted=services.settings.embeds(services.settings.collections) or None)
    fault = f"{report.error.rstrip('.')}. " if report and report.error else ""
    return f"{fault}Next: clawmem embed" if services.vault.embeddings.counts().pending else ""


@operation(Effect.REPEATABLE, text=str, route="/embed")
def embed(services: Services, force: Force = False) -> EmbedReport:
    """Embed new and changed text, so that it is found by meaning; with force all of it, beside the old vectors."""
    with services.progress("Embedding") as step:
        report = services.embed(force=force, progress=step)
    if report.stopped:
        raise EmbeddingError(
            f"Vectors: {report.embedded} made, then it ended: {(report.error or '').rstrip('.')}. What was made is kept. "
            "To go on, run: clawmem embed"
        )
    report.remarks = index_faults(services)
    return report


def read_folders(
    services: Services, folders: Iterable[Folder], *, force: bool = False, allow_empty: bool = False
) -> list[PassReport]:
    """Run one pass over each folder."""
    reports = []
    for folder in folders:
        with services.progress(f"Reading {folder.name}") as step:
            reports.append(services.update(folder, force=force, allow_empty=allow_empty, progress=step))
    return reports


def reading_of(services: Services, passes: list[PassReport], embedded: EmbedReport | None) -> Reading:
    """Return the *passes* with their sums and the state of the vault; a pin that moved to another folder is not lost."""
    for report in passes:
        pinned = services.vault.documents.many(report.lost_pins).values()
        moved = {report.lost_pins[note.id] for note in pinned if note.inactive is None}
        report.problems = [problem for problem in report.problems if problem not in moved]
    return Reading(
        collections=passes,
        **{name: sum(getattr(report, name) for report in passes) for name in COUNTED},
        pending=services.vault.embeddings.counts().pending,
        embed=embedded,
        remarks=[*services.forgotten_places.warnings(), *services.leftovers, *index_faults(services)],
    )


def reading_text(result: Reading) -> Iterator[str]:
    """Yield lines with the results of the passes and the next step."""
    for report in result.collections:
        yield str(report)
        if excluded := report.excluded if report.has_other_exclusions else {}:
            rules = few([f"{count} by {rule}" for rule, count in excluded.items()], 5)
            yield f"Excluded files and folders: {rules}. For the reason, run: clawmem doctor FILE"
        if unread := [rule.rstrip(")") for rule in excluded if rule.startswith("the pattern ")]:
            names = (unread[0].rpartition(" (")[0], *unread)  # the pattern, whose own endings stay
            suffixes = ",".join(PurePath(name).suffix.strip(".{}") for name in names)
            endings = [*dict.fromkeys(filter(str.isalnum, suffixes.split(",")))]
            glob = f"{{{','.join(endings)}}}" if endings[1:] else endings[0]
            place = f"{shlex.quote(report.root)} --name {report.collection}"
            yield f"To read them all, run: clawmem collection add {place} --pattern '**/*.{glob}'"
        yield from (f"- {problem}" for problem in report.problems)
    if result.embed:
        yield str(result.embed)
    if result.pending and (result.embed is None or result.embed.paused):
        yield f"{result.pending} texts wait for vectors. Next: clawmem embed"


@operation(Effect.REPEATABLE, text=reading_text, route="/reindex", command="update", opens=Opening.CREATED)
def reindex(
    services: Services,
    collection: Annotated[CollectionNames, Option(("-c", "--collection"), tool=None)] = "",
    pull: Annotated[bool, "Run each update command first.", Option(("--pull",), tool=None)] = False,
    force: Annotated[bool, "Read also the files that look unchanged.", Option(("--all",), tool=None)] = False,
    embed: EmbedOrNot = None,
    allow_empty: AllowEmpty = False,
) -> Reading:
    """
    Read new and changed files of every collection, and make missing vectors for at most a minute.

    With a model server vectors are made only on request or where the config file says autoEmbed.
    """
    if pull and services.caller != PERSON:
        raise InvalidInput("INVALID_INPUT", "Commands of the config file run on the command line alone.")
    known = {folder.name: folder for folder in services.folders}
    if services.is_new and not known:
        raise opening.missing_vault(services.settings.vault, services.settings.named)
    names = listed(collection) or [*known]
    if strangers := [name for name in names if name not in known]:
        raise NotFound("collection", strangers[0], suggestions=[*known])
    services.forgotten_places.agree()  # also without collections
    passes = []
    for name in names:
        command, place = services.settings.collections[name].update, services.settings.collections[name].path
        if pull and command and (fault := services.run_command(command, place)):
            passes.append(PassReport(name, unread=1, problems=[f"skipped: {fault}"]))
        else:
            passes += read_folders(services, [known[name]], force=force, allow_empty=allow_empty)
    reading = reading_of(services, passes, embed_after(services, names, wanted=embed))
    if not known:
        remedy = opening.creating_command(services.settings.vault, services.settings.named)
        reading.remarks.append(f"No collection is configured. Run: {remedy}")
    return reading


@operation(Effect.READS, command="doctor", in_own_process=True, opens=Opening.IF_PRESENT)
def why_not(
    services: Services,
    path: Annotated[str, "Its path; or its collection and path, such as notes/a.md.", argument("FILE")],
) -> FileStatus:
    """Explain whether a file is indexed, and why not: by which rule of which file, and what to do about it."""
    return services.explain_file(path)


@operation(
    Effect.READS,
    name="collections",
    columns="name documents trust pattern path",
    empty="No collections yet. Run: clawmem collection add PATH",
    items="collections",
    route="/collections",
    command="collection list",
    opens=Opening.IF_PRESENT,
)
def list_all(services: Services) -> list[Collection]:
    """List the collections with their folders and numbers of documents."""
    return services.collections if services.is_open else collections_of(services.settings)


@operation(
    Effect.REPEATABLE,
    text=lambda added: (
        f"Collection {added.name}: {added.path} ({added.pattern or 'commits'}). Next: clawmem update"
    ),
    opens=Opening.IF_PRESENT,
)
def collection_add(
    services: Services,
    path: Annotated[Path | None, "A folder or repository.", argument("PATH")] = None,
    name: Annotated[str | None, "Its name; made from the folder's otherwise."] = None,
    kind: Annotated[Literal["files", "git"], "Its files, or with git its commit messages."] = "files",
    client: Annotated[str, "An agent, instead of PATH: the memories that it writes itself."] = "",
    pattern: Annotated[str | None, "Glob of the files that are read; by default **/*.md."] = None,
    exclude: Annotated[list[str] | None, "Files that are not read, as in .gitignore; repeatable."] = None,
    project: Annotated[str, "The project of its notes that name none in their front matter."] = "",
    confirm: Confirm = None,
) -> Collection:
    """
    Add a folder as a collection; 'clawmem update' then reads it. A home folder needs a confirmation.

    A collection of that name keeps each setting that is not named, and continues in the new folder if its own is gone.
    """
    settings, usual = services.settings, "**/*.md"
    opening.require_folder(settings)
    if client and not path:
        memories = services.clients.memories()
        agent = next((agent for agent in memories if client in (agent, agent.partition("-")[0])), "")
        if not agent:
            raise NotFound("agent with memories of its own", client, suggestions=[*memories])
        path, name = Path(memories[agent].folder), name or f"{agent}-memory"
        usual, exclude = memories[agent].pattern, [*memories[agent].exclude, *(exclude or ())]
    elif path is None or client:
        raise InvalidInput("INVALID_INPUT", "Name either a folder, or with --client an agent.")
    folder = existing_folder(path)
    if name is None:
        name = collection_name(folder.name or "root") + ("-commits" if kind == "git" else "")
    known = settings.collections.get(name)
    before: dict[str, Any] = known.model_dump(mode="json") if known else {}
    pattern = before.get("pattern", usual) if pattern is None else pattern
    check_pattern(pattern)
    documents = services.vault.documents if services.is_open else None
    fault = settings.fault_of_collection(name, folder, pattern, kind)
    if fault := fault or fault_of_imports(name, documents, "--name"):
        raise InvalidInput("INVALID_INPUT", fault)
    scan = services.files.scan
    if kind == "git" and (problem := scan(f"{folder}/.git", enter=bool, wanted=lambda path: False).problem):
        raise InvalidInput("NOT_A_REPOSITORY", problem)
    is_broad = kind == "files" and real_path(settings.home).is_relative_to(folder)
    if (is_broad and confirm is not True) or confirm is False:
        lines = [f"Collection {name}: {folder} ({pattern if kind == 'files' else 'commits'}) would be added."]
        if is_broad:
            lines.append(
                "It is or contains your home folder: every Markdown file in it becomes searchable and may be put into "
                "prompts, those of other programs included. A narrower folder is usually meant."
            )
        raise ConfirmationMissing(lines, {"name": name, "path": str(folder)})
    is_private = services.is_open and services.withheld.covers(name)
    entry = {"path": str(folder), "pattern": pattern, "project": project, "private": is_private}
    entry["exclude"] = [*dict.fromkeys([*before.get("exclude", ()), *(exclude or ())])]
    entry |= {"kind": kind if kind == "git" else "", "trust": "assistant" if client and not before else ""}
    entry = {key: value for key, value in entry.items() if value}
    set_value(settings.config_file, ("collections", name), entry, is_new=not before)
    remarks = ["Its notes stay private (see its entry in the config file)."] * (is_private and not before)
    remarks += (
        f"Its {key} was {old or 'empty'} and is {entry[key]} now."
        for key, old in before.items()
        if entry.get(key, old) != old
    )
    remarks += (
        f"The folder is inside the collection {other!r}: its notes move from there to {name!r} at the next update."
        for other, configured in settings.collections.items()
        if configured.kind == kind == "files" and real_path(configured.path) in folder.parents
    )
    return Collection(name, 0, str(folder), pattern if kind == "files" else None, remarks=tuple(remarks))


@operation(
    Effect.REPEATABLE,
    text=lambda reading: [
        *reading_text(reading),
        'Next: clawmem query "what you want to know"',
        *filter(None, [reading.offer]),
    ],
    opens=Opening.NOTHING,
)
def bootstrap(
    services: Services,
    path: Annotated[Path, "A folder of Markdown.", argument("PATH")],
    name: Annotated[str | None, "Its name; made from the folder's otherwise."] = None,
    skip_embed: Annotated[bool, "Make no vectors.", Option(("--skip-embed", "--no-embed"))] = False,
    confirm: Confirm = None,
) -> Reading:
    """Add and index a folder in one step: collection add, update and embed. Safe to repeat."""
    settings, folder = services.settings, existing_folder(path)
    folders = {each: known.path for each, known in settings.collections.items() if known.kind == "files"}
    names = [key for key, root in folders.items() if real_path(root) == folder and name in (None, key)]
    added = names[0] if names else ""
    if is_new := not added or confirm is False:
        was_configured = is_there(settings.config_file)
        # One that is open raises if the file is no vault, before it is configured.
        with opening.open_services(settings) if is_there(settings.vault) else nullcontext(services) as known:
            added = collection_add(known.called_by(services.caller), folder, name, confirm=confirm).name
        configured = CollectionSettings(**read_config(settings.config_file)["collections"][added])
        settings = settings.model_copy(update={"collections": {**settings.collections, added: configured}})
    try:
        with opening.open_services(settings, create=True) as opened:
            reading = reindex(opened.called_by(services.caller, services.progress), embed=not skip_embed)
            if not opened.vault.documents.collections().get(added):
                report = next(report for report in reading.collections if report.collection == added)
                rules = few([f"{count} by {rule}" for rule, count in report.excluded.items()], 5)
                remedy = (
                    f"For other files run: clawmem collection add {shlex.quote(str(folder))} --pattern 'GLOB', "
                    "then clawmem update; for chats: clawmem mine PATH"
                )
                reason = " ".join(report.problems[:3]) or f"Excluded: {rules or 'no text'}. {remedy}"
                pattern = settings.collections[added].pattern
                fault = f"No readable file of {folder} matches {pattern}. {reason}"
                raise InvalidInput("NOTHING_INDEXED", fault)
            reading.remarks += memory_advice(services.clients, settings)
            if advice := opened.language_advice():
                reading.remarks.append(f"Languages: {advice}")
            elif services.caller == PERSON and sys.stdin.isatty() and sys.stdout.isatty():
                reading.offer = services.model_selection.offer
    except BaseException:  # an interruption, too
        if is_new:
            opening.withdraw_empty(settings, added, was_configured=was_configured)
        raise
    return reading


@operation(
    Effect.DESTROYS,
    text=lambda each: f"Removed {each.name} with {plural(each.documents, 'document')}; its files stay.",
    opens=Opening.IF_PRESENT,
)
def collection_remove(services: Services, name: Name, confirm: Confirm = None) -> Collection:
    """
    Remove a collection: its files stay, its documents are no longer found, and its trust is forgotten.

    If its folder is gone, the vault has the only copy of the documents, and a confirmation is needed.
    """
    settings = services.settings
    folder = settings.collections.get(name)
    documents = services.vault.documents if services.is_open else None
    if not folder and not (documents and served_files(documents, name)):
        raise unknown_collection(name, documents)
    served = documents.collections().get(name, 0) if documents else 0
    number, is_only_copy = plural(served, "document"), folder and served and not folder.path.is_dir()
    if (is_only_copy and confirm is not True) or confirm is False:
        line = f"Collection {name} would be removed; {number} would no longer be found. Its files stay."
        if folder and is_only_copy:
            line = f"{folder.path} does not exist: the vault has the only copy of the {number} of {name}."
            line += " To keep them, first run: clawmem export"
        raise ConfirmationMissing([line], {"name": name, "documents": served})
    if folder:
        remove_collection(settings.config_file, name)
    if documents:
        served = withdraw_collection(documents, services.vault.transactions, services.publisher, name)
    return Collection(name, served, trust=folder.trust if folder else "user")


@operation(Effect.REPEATABLE, opens=Opening.IF_PRESENT)
def trust_set(
    services: Services,
    name: Annotated[str, "Its name.", argument("COLLECTION")],
    trust: Annotated[Trust, "user, assistant, shared or outside.", argument("LEVEL")],
) -> Collection:
    """
    Set the trust in a collection: user, assistant, shared or outside; return how many of its documents have it then.

    Notes of a collection that is shared or from outside are quoted in prompts, and parts of them that give orders
    to an assistant are left out. A note can lower its own trust by a tag such as origin:imported, and never raise it.
    """
    settings, served = services.settings, 0
    if name not in settings.collections:
        raise unknown_collection(name, services.vault.documents if services.is_open else None)
    set_value(settings.config_file, ("collections", name, "trust"), trust)
    if services.is_open:
        documents, publisher, origin = services.vault.documents, services.publisher, TRUST[trust]
        notes = documents.sources(name).values()
        changed = record_trust(documents, services.vault.transactions, publisher, notes, origin)
        if changed and trust == "user":  # what its notes supersede counts again
            folders = [replace(folder, origin=origin) for folder in services.folders if folder.name == name]
            read_folders(services, folders, force=True)
        notes = documents.sources(name).values()
        served = sum(note.inactive is None and note.origin is origin for note in notes)
    return Collection(name, served, str(settings.collections[name].path), trust=trust)


def named_vault(settings: Settings, request: Any, caller: str) -> Settings:
    """Return the settings of the vault into which a folder is read, also of a new one of the command line."""
    name = request.vault
    if name not in settings.vaults and caller == PERSON:
        if fault := fault_of_name(name, "vault"):
            raise InvalidInput("INVALID_INPUT", fault)
        file = (settings.vault.parent / f"{name}.sqlite").absolute()
        settings = settings.model_copy(update={"vaults": {**settings.vaults, name: file}})
        opening.require_new(of_vault(settings, name), settings.config_file)
    return of_vault(settings, name)


@operation(Effect.REPEATABLE, text=reading_text, opens=Opening.CREATED, settings=named_vault)
def vault_sync(
    services: Services,
    vault: Annotated[str, "Name of the vault, see list_vaults; a missing one is created.", argument("NAME")],
    content_root: Annotated[Path, "An absolute folder of notes.", FOLDER],
    pattern: Annotated[str, "Glob of the files that are read."] = "**/*.md",
    collection_name: Annotated[str | None, "Its collection; else NAME.", Option(("--collection",))] = None,
    embed: EmbedOrNot = None,
    allow_empty: AllowEmpty = False,
) -> Reading:
    """
    Read a folder into a named vault, and remove documents whose files are gone; another folder than before is refused.

    Programs may read folders below those of `collections:` and `sync_folders:` in the config file. A new vault of the
    command line is a file next to the usual vault, and its name is written to the config file.
    """
    collection, settings = collection_name or vault, services.settings
    allowed = None if services.caller == PERSON else settings.folders_for_programs
    try:
        with services.progress(f"Reading {content_root}") as step:
            place = str(content_root), collection, pattern
            report = services.sync(*place, allowed=allowed, allow_empty=allow_empty, progress=step)
    finally:  # a repetition goes on after an interruption
        is_used = services.caller == PERSON and services.vault.documents.collections()
        if is_used and vault not in (usual := load_settings()).vaults:
            set_value(usual.config_file, ("vaults", vault), str(settings.vault))
            set_apart(settings)
    reading = reading_of(services, [report], embed_after(services, [collection], wanted=embed))
    if services.is_new:
        reading.remarks.append(f"Made the vault {vault} in {settings.vault}.")
    return reading
