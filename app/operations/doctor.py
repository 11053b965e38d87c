"""Checks of the vault and its environment, the repair of a damaged vault, and its indexes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, PrivateAttr

from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import is_there, topics_folder
from clawmem.app.environment.private_files import draft_folder, files_of_vault, sweep_drafts
from clawmem.app.operations.embedding import embed_quickly, lag_sentences, lagging_indexes, pending_texts
from clawmem.app.operations.indexing import PERSON, read_folders
from clawmem.app.operations.operation import Command, Effect, Opening, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.maintenance.doctor import (
    machine_findings,
    skipped_files,
    spelled_out,
    split_again,
)
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.verify import GONE, OF_FILES
from clawmem.ports.errors import ConfirmationMissing, VaultError, VaultReadOnly
from clawmem.ports.records import Role

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class Examination(Result):
    """The findings of every check; ``way_out`` is the remedy."""

    ok: bool
    findings: list[CheckResult]

    @property
    def exit_code(self) -> int:
        """Return 1 if a check found something."""
        return 0 if self.ok else 1


def _doctor_text(result: Examination) -> Iterator[str]:
    yield from (check.line for check in result.findings)
    wrong = sum(not check.ok for check in result.findings)
    yield f"{wrong} of {len(result.findings)} checks found something." if wrong else "All is well."


@operation(Effect.REPEATABLE, text=_doctor_text, route="/doctor", is_tool=False, opens=Opening.CURRENT)
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
    findings = [*machine, *services.doctor(), permissions, *agents]
    return Examination(ok=all(check.ok for check in findings), findings=findings)


# Contents of the tables in words of users. Rows of other tables are computed again from texts and files.
_CONTENTS = {
    "documents": "records of notes, memories and diary entries",
    "acts": "acts such as pins, snoozes and forgetting",
    "forgotten_texts": "fingerprints of forgotten texts",
    "sessions": "sessions of agents",
    "sightings": "sources of captured memories",
    "replacements": "merged notes",
    "derivations": "sources of derived memories",
    "entities": "names",
    "triples": "facts",
    "notes": "keywords of notes",
    "relations": "relations between notes",
    "recalls": "past questions",
    "maintenance_runs": "maintenance runs",
    "model_costs": "costs of models",
}


class Repaired(Result):
    """
    The rows that were kept and lost by table, null if their number is unknown.

    ``notes`` are documents whose text is lost and in no file, ``spoilt`` those whose text is partly damaged. ``vault`` is
    the new file, ``damaged`` the old one.
    """

    kept: dict[str, int]
    lost: dict[str, int | None]
    notes: list[str]
    spoilt: list[str]
    vault: str
    damaged: str

    _remarks: Sequence[str] = PrivateAttr(default=())

    @property
    def remarks(self) -> Sequence[str]:
        """Return the warnings about the record of forgotten notes, and the number of texts without vectors."""
        return self._remarks

    def lines(self) -> Iterator[str]:
        """Yield what was kept and lost as sentences; without ``damaged`` file, what would be."""
        lost = "Lost" if self.damaged else "Would be lost"
        yield f"Kept: {_counted(self.kept) or 'nothing'}"
        if not self.kept:
            yield f"{lost}: pins, the diary, captured memories, and the history of questions and changes"
            yield "Notes are read from your files again."
            return
        if contents := _counted(self.lost):
            yield f"{lost}: {contents}"
        if self.notes:
            condition = "in no file" if self.damaged else "unless a file has it"
            yield f"Text lost, {condition} ({len(self.notes)}): {', '.join(self.notes)}"
        if self.spoilt:
            yield f"Text damaged, kept in the archive ({len(self.spoilt)}): {', '.join(self.spoilt)}"
        if not (contents or self.notes or self.spoilt):
            yield "Nothing was lost." if self.damaged else "Nothing would be lost."


def _counted(rows: Mapping[str, int | None]) -> str:
    counts = {words: rows[table] for table, words in _CONTENTS.items() if table in rows}
    return ", ".join(
        f"{words} ({'an unknown number' if count is None else count})" for words, count in counts.items()
    )


def _text(result: Repaired) -> Iterator[str]:
    yield from result.lines()
    yield f"Repaired: {result.vault}"
    yield f"Damaged file: {result.damaged}"


@operation(
    Effect.DESTROYS,
    text=_text,
    is_tool=False,
    opens=Opening.NOTHING,
    commands=(Command("doctor", "--repair"),),
)
def repair(
    services: Services,
    confirm: Annotated[
        bool | None,
        Field(description="Must be true. Anything else changes nothing and describes what would be lost."),
    ] = None,
) -> Repaired:
    """
    Rebuild a damaged vault from every row that can be read.

    The damaged file is stored next to the new vault. Forgotten notes stay forgotten. Every index is rebuilt, and the
    files of the collections are read again. The command first lists what would be lost, and asks.
    """
    settings = services.settings
    vault = str(settings.vault)
    if not is_there(settings.vault):
        raise VaultError(vault, f"There is no vault at {vault}. Run: clawmem bootstrap PATH")
    if settings.read_only:
        raise VaultReadOnly(vault)
    if is_running(settings.vault):
        raise VaultError(
            vault, f"A server has {vault} open. Run: clawmem serve --stop, then clawmem doctor --repair"
        )
    damaged = f"{vault}.damaged-{services.clock.now_ms()}" if confirm else ""
    try:
        with draft_folder(settings.vault) as draft:
            report = services.repair_vault(str(draft / "draft.sqlite"), damaged or None)
    except PermissionError as error:
        raise VaultReadOnly(vault) from error
    result = Repaired(**report._asdict(), vault=vault, damaged=damaged)
    if not confirm:
        lines = [*result.lines()]
        sentences = " ".join(f"{line.rstrip('.')}." for line in lines)
        raise ConfirmationMissing(
            f"Nothing was repaired. {sentences}",
            result.model_dump(include={"lost", "notes", "spoilt"}),
            remedy="To repair the vault, repeat with confirm: true.",
            preview=lines,
            question="Repair the vault?",
            confirmed={"confirm": True},
        )
    with open_services(settings, create=False) as opened:
        repaired = opened.called_by(services.caller, services.progress)
        repaired.forgotten_places.agree()
        split_again(repaired.vault.documents, repaired.vault.transactions, repaired.publisher)
        read_folders(repaired, repaired.folders, force=True)
        for role in Role:
            repaired.indexes.rebuild(role)
        repaired.indexes.keep_up()
        embed_quickly(repaired)
        result._remarks = repaired.forgotten_places.warnings()
        if without := pending_texts(repaired):
            waiting = f"{plural(without, 'text')} without vectors. Run: clawmem embed"
            result._remarks = [*result._remarks, waiting]
        served = {"/".join(place) for place in repaired.vault.documents.places()}
    result.notes = [place for place in result.notes if place not in served]
    result.spoilt = [place for place in result.spoilt if place not in served]
    return result


DIFFERENCES = 7
MOST_SHOWN = 30  # differences that the text lists; JSON has all


class Differences(Result):
    """
    Differences between files, records and indexes.

    ``skipped`` are files that cannot be read, ``rebuilt`` indexes that were damaged and rebuilt before the comparison.
    """

    differences: list[str]
    skipped: list[str]
    rebuilt: list[str] = Field(default=[], description="Damaged indexes that were rebuilt.")

    @property
    def exit_code(self) -> int:
        """Return 7 where anything differs."""
        return DIFFERENCES if self.differences else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return how many differences there are, what repairs those that name no command, and the skipped files."""
        remarks = [spelled_out(self.skipped)] if self.skipped else []
        if self.rebuilt:
            were = "index was" if len(self.rebuilt) == 1 else "indexes were"
            remarks.append(f"{len(self.rebuilt)} {were} damaged and rebuilt: {', '.join(self.rebuilt)}.")
        if self.differences:
            number = plural(len(self.differences), "difference")
            remarks.append(f"{number} between files, records and indexes.")
        if any(difference.endswith(OF_FILES) for difference in self.differences):
            remarks[-1] += " To read the changed files, run: clawmem update"
        if any(difference.endswith(GONE) for difference in self.differences):
            remarks[-1] += "  (with --allow-empty for a folder that was emptied on purpose)"
        return remarks


class Rebuilt(Result):
    """The indexes that were rebuilt, the backends before and now, and how words and vectors are searched."""

    rebuilt: list[str]
    before: str
    backend: str
    lexical: str
    vectors: str

    @property
    def text(self) -> str:
        """The result as a sentence."""
        if self.before != self.backend:
            return (
                f"From {self.before} to {self.backend}: words by {self.lexical}, vectors by {self.vectors}."
            )
        return f"Rebuilt: {', '.join(self.rebuilt)} ({self.lexical}; {self.vectors})."


def _verify_text(result: Differences) -> str:
    shown, more = result.differences[:MOST_SHOWN], len(result.differences) - MOST_SHOWN
    rest = [f"and {more} more; --json lists all"] if more > 0 else []
    return "\n".join([*shown, *rest]) or "Files, records and indexes agree."


@operation(
    Effect.REPEATABLE,
    text=_verify_text,
    route="/verify",
    commands=(
        Command(
            "doctor", "--verify", about="Compare files, records and indexes; exit code 7 on any difference."
        ),
    ),
    is_tool=False,
    opens=Opening.CURRENT,
)
def verify(services: Services) -> Differences:
    """Compare files, records and indexes, after updating the indexes."""
    lag = lag_sentences(lagging_indexes(services))
    files = services.files
    skipped = [
        file for folder in services.folders for file in skipped_files(services.vault.documents, files, folder)
    ]
    rebuilt = [str(role) for role in services.indexes.healed]
    found = [*lag, *services.verify()] or services.forgotten_places.warnings()
    return Differences(differences=found, skipped=skipped, rebuilt=rebuilt)


@operation(Effect.REPEATABLE, text=lambda result: result.text, is_tool=False, opens=Opening.ANY_BACKEND)
def rebuild(
    services: Services,
    index: Annotated[
        Literal["all", "lexical", "vectors"], Field(description="The index: lexical, vectors or all.")
    ] = "all",
    backend: Annotated[
        str | None, Field(description="The backend that shall keep the indexes; by default the present one.")
    ] = None,
) -> Rebuilt:
    """
    Rebuild the indexes from the records, and replace the old ones.

    With another backend they move to it, and a move that was interrupted goes on; the vault stays searchable meanwhile.
    """
    before = services.indexes.backend
    roles = [role for role in Role if index in ("all", role)]
    if backend is not None:
        backend_named(backend)
    if backend not in (None, before):
        with services.progress(f"Moving to {backend}") as step:
            services.indexes.move(backend, step)
    else:
        for role in roles:
            with services.progress(f"Building the {role} index") as step:
                services.indexes.rebuild(role, step)
    info = services.vault.storage.info()
    return Rebuilt(
        rebuilt=list(map(str, roles)),
        before=before,
        backend=services.indexes.backend,
        lexical=info.lexical_method,
        vectors=info.vector_method,
    )
